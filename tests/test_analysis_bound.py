"""What limits a step: the finding, and the figures that carry it."""

from __future__ import annotations

import pytest
from builders import kernel, launch, op, step
from measured import ceilings, known

from foretrace.scenario import Work

COMPUTE = Work(flops=8e9, bytes=1e6)  # 10 µs of arithmetic, 0.25 µs of traffic
TRAFFIC = Work(flops=8e6, bytes=4e7)  # 10 µs of traffic
LITTLE = Work(flops=8e8, bytes=4e6)  # 1 µs of each


def bound(*, busy: float, step_us: float, name: str = "gemm", **more):
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, us=1, correlation=1),
        kernel(name, at=10, us=busy, correlation=1),
        samples={"step_us": [step_us] * 3, "dispatch_us": [step_us * 0.9] * 3},
        **more,
    )
    return facts.bound.limiter, facts.bound.evidence


def test_a_gpu_that_mostly_waits_is_overhead_whatever_the_work():
    limiter, evidence = bound(busy=2, step_us=20, work=COMPUTE)
    assert limiter == "overhead"
    assert "GPU busy 10.0 % of the 20.0 µs step" in evidence
    assert "18.0 µs to dispatch" in evidence


def test_between_idle_and_busy_nothing_is_claimed():
    assert bound(busy=13, step_us=20, work=COMPUTE)[0] == "undecided"


def test_a_cpu_that_dispatches_all_the_time_sets_the_pace_of_a_gpu_that_is_half_busy():
    def of(dispatch_us, busy=13):
        return known(
            step(1, at=0, us=100),
            launch(at=1, us=1, correlation=1),
            kernel("gemm", at=10, us=busy, correlation=1),
            samples={"step_us": [20] * 3, "dispatch_us": dispatch_us},
            work=COMPUTE,
        ).bound

    assert of([19.5] * 3).limiter == "overhead"
    assert "GPU busy 65.0 % of the 20.0 µs step, and the CPU dispatches for 97.5 % of it" in of([19.5] * 3).evidence
    assert of([18, 19.5, 19.5]).limiter == "undecided"
    assert of([19.5] * 3, busy=18).limiter == "compute"


@pytest.mark.parametrize("busy", [9, 17])  # of 20 µs: below a half, and above four fifths, at the median
def test_a_share_whose_spread_reaches_over_a_border_decides_nothing(busy):
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, us=1, correlation=1),
        kernel("gemm", at=10, us=busy, correlation=1),
        samples={"step_us": [17, 20, 22], "dispatch_us": [18] * 3},
        work=COMPUTE,
    )
    assert facts.bound.limiter == "undecided"
    assert "…" in facts.bound.evidence


def test_a_floor_above_the_time_that_it_should_explain_explains_nothing():
    limiter, evidence = bound(busy=5, step_us=5.5, work=TRAFFIC)
    assert limiter == "undecided"
    assert "10.0 µs at the measured 4,000 GB/s, longer than it was busy" in evidence


@pytest.mark.parametrize(
    ("work", "limiter", "said"), [(COMPUTE, "compute", "800 TFLOP/s"), (TRAFFIC, "memory", "4,000 GB/s")]
)
def test_a_busy_gpu_is_limited_by_what_explains_its_time(work, limiter, said):
    found, evidence = bound(busy=15, step_us=16, work=work)
    assert found == limiter
    assert said in evidence
    assert "10.0 µs" in evidence


def test_a_busy_gpu_whose_time_nothing_explains_is_undecided_with_both_figures():
    limiter, evidence = bound(busy=15, step_us=16, work=LITTLE)
    assert limiter == "undecided"
    assert "TFLOP/s" in evidence
    assert "GB/s" in evidence


def test_without_declared_work_or_without_a_ceiling_it_is_undecided():
    assert "not declared" in bound(busy=15, step_us=16)[1]
    limiter, evidence = bound(busy=15, step_us=16, work=COMPUTE, roofs=ceilings(bf16=None))
    assert limiter == "undecided"
    assert "no ceiling for bf16" in evidence


def test_mostly_collectives_is_communication():
    limiter, evidence = bound(
        busy=15, step_us=16, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)"
    )
    assert limiter == "communication"
    assert "100 %" in evidence


def test_a_cpu_that_mostly_waits_for_an_idling_gpu_is_sync():
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, us=1, correlation=1),
        op("aten::item", at=5, us=80),
        launch("cudaStreamSynchronize", at=10, us=70),
        kernel(at=20, us=5, correlation=1),
        samples={"step_us": [50.0, 50.0]},
    )
    assert facts.bound.limiter == "sync"
    assert "70.0 %" in facts.bound.evidence
    assert "cudaStreamSynchronize" in facts.bound.evidence


def test_without_a_step_time_it_is_undecided():
    facts = known(step(1, at=0, us=100), launch(at=1, correlation=1), kernel(at=9, us=90, correlation=1))
    assert facts.bound.limiter == "undecided"
    assert "step time" in facts.bound.evidence


def test_without_gpu_activity_it_is_withheld_and_not_called_idle():
    facts = known(step(1, at=0, us=100), launch(at=1, correlation=1), samples={"step_us": [50.0]})
    assert facts.bound.limiter == "undecided"
    assert facts.withheld["bound"] == facts.bound.evidence
    assert "not recorded" in facts.bound.evidence
