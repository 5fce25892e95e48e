"""The GEGLU scenario: its arithmetic, what it speaks of, and that its variants compute one function."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from foretrace.errors import CannotMeasure
from foretrace.prediction import fits
from foretrace.project import Project
from foretrace.scenario import Scenario, Work

ROOT = Path(__file__).parents[1]
INNER = 8192 * 3072


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("geglu_mlp").scenario


def work(scenario: Scenario, mode: str) -> Work:
    name = f"64x128x768x3072-{mode}"
    (found,) = (variant.work for variant in scenario.variants if variant.name == name)
    assert found is not None
    return found


def test_each_product_has_the_published_number_of_operations(scenario: Scenario) -> None:
    products = {part.name: part for part in work(scenario, "eager").parts if part.family == "gemm"}
    assert list(products) == ["gate", "up", "down"]
    for part in products.values():
        assert part.flops == 38_654_705_664
        assert part.bytes == 2 * (8192 * 768 + 768 * 3072 + INNER)


def test_fusing_spares_one_writing_and_one_reading_of_an_intermediate(scenario: Scenario) -> None:
    eager, fused = work(scenario, "eager"), work(scenario, "compile")
    assert (eager.bytes - fused.bytes) == 2 * 2 * INNER
    assert eager.flops == fused.flops
    assert [part.name for part in eager.parts] == ["gate", "up", "gelu", "mul", "down"]
    assert [part.name for part in fused.parts] == ["gate", "up", "geglu", "down"]
    assert work(scenario, "liger") == work(scenario, "reduce_overhead") == fused


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for variant in scenario.variants:
        # a `where` is asked for: without one a prediction speaks of all, and a statement of several parts has none
        assert any(said.where and fits(variant.params, said.where) for said in scenario.predictions), variant.name


def test_the_claims_are_those_of_the_source(scenario: Scenario) -> None:
    assert [claim.id for claim in scenario.claims] == ["P2-02", *(f"P2-{n:02}" for n in range(5, 12)), "S-01"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("mode", ["eager", "compile", "reduce-overhead", "liger"])
def test_every_form_is_the_same_mlp(scenario: Scenario, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    device = "cuda" if mode == "liger" else "cpu"
    if mode == "liger":
        pytest.importorskip("liger_kernel", reason="this form needs liger-kernel")
        if not torch.cuda.is_available():
            pytest.skip("a Triton kernel needs a CUDA device")
    elif mode != "eager" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    from scenarios.geglu_mlp.workload import build

    params = {"shape": "2x16x32x64", "mode": mode}
    torch.manual_seed(0)
    step = build(msgspec.structs.replace(scenario.variants[0], params=params), device)
    torch.manual_seed(0)
    x = torch.randn((2, 16, 32), device=device, dtype=torch.bfloat16).double()
    layers = ((32, 64), (32, 64), (64, 32))
    gate, up, down = (
        torch.nn.Linear(*size, bias=False, device=device, dtype=torch.bfloat16).double() for size in layers
    )
    with torch.no_grad():
        expected = down(torch.nn.functional.gelu(gate(x), approximate="tanh") * up(x))
        found = step()
    torch.testing.assert_close(found.double(), expected, rtol=2**-6, atol=2**-9)


def test_a_machine_without_the_hand_written_kernel_says_so(scenario: Scenario) -> None:
    pytest.importorskip("torch", reason="computing needs torch")
    from scenarios.geglu_mlp.workload import build

    tiny = msgspec.structs.replace(scenario.variants[0], params={"shape": "1x2x8x16", "mode": "liger"})
    with pytest.raises(CannotMeasure, match="Triton"):
        build(tiny, "cpu")
