"""What is known of real traces of an H200: the figures that the reference corpus states for them."""

from __future__ import annotations

import csv
import functools
import os
from pathlib import Path

import pytest
from measured import environment, outcome

from foretrace import analysis, kineto
from foretrace.facts import Facts, Step
from foretrace.record import Ceilings

CORPUS = os.environ.get("FORETRACE_CORPUS")
TRACES = Path(CORPUS or "", "traces", "h200")
pytestmark = pytest.mark.skipif(CORPUS is None, reason="FORETRACE_CORPUS names no folder of reference traces")


@functools.cache
def known(name: str, *, label: str = "matmul_add", steps: int = 3) -> Facts:
    return analysis.facts(
        [kineto.read(TRACES / f"{name}.json.gz")],
        outcome=outcome(steps=steps, samples={"step_us": [200.0, 200.0], "dispatch_us": [50.0, 50.0]}),
        label=label,
        environment=environment(),
        ceilings=Ceilings(tflops={}, copy_gbps=None, how=""),
    )


def expected() -> list[dict[str, str]]:
    if CORPUS is None:
        return []
    with (TRACES / "EXPECTED.tsv").open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def counts(step: Step) -> str:
    return "+".join(str(count) for count in (step.activities.kernel, step.activities.memcpy, step.activities.memset))


@pytest.mark.parametrize("row", expected(), ids=lambda row: row["file"].removesuffix(".json.gz"))
def test_every_step_launched_what_the_corpus_says(row):
    facts = known(row["file"].removesuffix(".json.gz"), steps=int(row["steps"]))
    outside = facts.outside
    assert " ".join(map(counts, facts.steps)) == row["per_step"]
    assert f"{outside.kernel}+{outside.memcpy}+{outside.memset}" == row["outside_steps"]
    assert "activities" not in facts.withheld
    assert sum(kernel.share for kernel in facts.kernels) == pytest.approx(1)
    if outside == type(outside)():
        kernels = sum(kernel.total_us for kernel in facts.kernels if kernel.activity == "kernel")
        assert kernels == pytest.approx(float(row["kernel_time_us"]), abs=0.01)


def test_the_compiled_step_is_a_copy_a_memset_and_one_gemm_under_addmm():
    facts = known("01_4096_bf16_warm_compile_default")
    assert {str(step.activities) for step in facts.steps} == {"1 kernel + 1 memcpy + 1 memset"}
    gemm = next(kernel for kernel in facts.kernels if kernel.activity == "kernel")
    assert (gemm.family, gemm.op, gemm.launch_call) == ("gemm", "aten::addmm", "cuLaunchKernelEx")
    assert gemm.calls_before == ("cudaMemcpyAsync", "cudaMemsetAsync")
    assert facts.quantities["graph_hashes"].median == 1
    assert "TorchDynamo Cache Lookup" in [link.name for link in facts.chain]


def test_a_cold_process_enters_its_first_step_slowly_and_a_warm_one_does_not_as_much():
    cold, warm = known("01_64_bf16_cold_eager"), known("01_64_bf16_warm_eager")
    assert cold.steps[0].entry_gap_us == pytest.approx(44.682)
    assert cold.quantities["first_step_ratio"].median > warm.quantities["first_step_ratio"].median
    assert cold.quantities["cpu_over_gpu"].median > 50


def test_without_wait_the_first_step_holds_one_buffer_request_of_three_milliseconds():
    facts = known("01_64_bf16_warm_eager_nowait20", steps=20)
    assert facts.quantities["buffer_requests"].median == 1
    assert facts.quantities["buffer_request_us"].median == pytest.approx(3351.254)
    (request,) = [call for call in facts.calls if call.kind == "overhead"]
    assert request.per_step == (1, *[0] * 19)
    assert facts.quantities["first_step_ratio"].median > 20


def test_the_three_dimensional_product_goes_to_bmm_with_as_many_cuda_calls():
    flat, deep = known("01_64_bf16_warm_eager"), known("01_64_bf16_bmm_eager")
    names = {call.name for call in deep.calls}
    assert "aten::bmm" in names
    assert "aten::mm" not in names
    assert deep.quantities["runtime_calls"].median == flat.quantities["runtime_calls"].median == 2


@pytest.mark.parametrize(
    ("backend", "occupancy", "limit"), [("flash", 0.125, "registers"), ("cudnn", 0.1875, "registers")]
)
def test_attention_occupancy_follows_from_its_resources(backend, occupancy, limit):
    facts = known(f"04_sdpa_{backend}", label="sdpa_fwd")
    kernel = next(kernel for kernel in facts.kernels if kernel.activity == "kernel")
    assert kernel.occupancy == occupancy
    assert limit in kernel.occupancy_limit


def test_kernels_of_a_graph_share_its_launch_and_those_before_it_do_not():
    facts = known("01_4096_bf16_warm_compile_reduce-overhead")
    launched_by = {kernel.launch_call for kernel in facts.kernels}
    assert launched_by == {"cudaGraphLaunch", "cudaLaunchKernel"}
    graphs = next(check for check in facts.checks if check.name == "CUDA graphs")
    assert not graphs.passed


def test_a_crowded_trace_of_a_training_run_is_still_drawn():
    shown = analysis.timeline(kineto.read(TRACES / "gpt_train_stack_rank0.json.gz"), label="step", steps=2)
    assert max(len(lane.spans) for lane in shown.lanes) <= 400
    assert "drawn as" in shown.caption
