"""The fusion sweep: its arithmetic, what it speaks of, and that a chain compiles to what it computes."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from foretrace.prediction import fits
from foretrace.project import Project
from foretrace.scenario import Scenario, Work

ROOT = Path(__file__).parents[1]
TENSOR = 8192 * 4096 * 2  # bytes


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("fusion_sweep").scenario


def work(scenario: Scenario, name: str) -> Work:
    found = next(variant for variant in scenario.variants if variant.name == name).work
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("chain", "eager", "compiled"),
    [
        ("bias_relu", 4, 2),
        ("add_rms_norm", 3 + 2, 2 + 2),
        ("scaled_masked_softmax", 2 + 3 + 2, 3),
        ("dropout_add_layer_norm", 2.5 + 3 + 2, 3),
        ("linear_gelu_add", 2.5 + 2 + 3, 2.5 + 3),
    ],
)
def test_a_chain_moves_each_tensor_once_for_each_kernel(
    scenario: Scenario, chain: str, eager: float, compiled: float
) -> None:
    assert work(scenario, f"{chain}-8192-eager").bytes == eager * TENSOR
    assert work(scenario, f"{chain}-8192-compile").bytes == compiled * TENSOR


def test_wide_rows_move_as_much_as_many_rows(scenario: Scenario) -> None:
    assert work(scenario, "rms_norm_wide-256-eager") == work(scenario, "rms_norm-8192-eager")


def test_a_product_is_most_of_the_arithmetic_of_its_chain(scenario: Scenario) -> None:
    assert work(scenario, "linear_gelu_add-8192-eager").flops == 2 * 8192 * 4096**2 + 3 * 8192 * 4096


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for variant in scenario.variants:
        assert any(said.where and fits(variant.params, said.where) for said in scenario.predictions), variant.name


def test_every_prediction_speaks_of_a_variant(scenario: Scenario) -> None:
    for said in scenario.predictions:
        assert any(fits(variant.params, said.where) for variant in scenario.variants), said


def test_the_claim_is_the_open_question_about_fusion(scenario: Scenario) -> None:
    assert [claim.id for claim in scenario.claims] == ["S-04"]


def chains() -> list[str]:
    return list(
        dict.fromkeys(str(each.params["chain"]) for each in Project(ROOT).load("fusion_sweep").scenario.variants)
    )


def run(scenario: Scenario, chain: str, mode: str) -> list[object]:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    from scenarios.fusion_sweep.workload import build

    params = {"chain": chain, "rows": 2, "mode": mode}
    torch.manual_seed(0)
    step = build(msgspec.structs.replace(scenario.variants[0], params=params), "cpu")
    with torch.no_grad():
        found = step()
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("chain", [name for name in chains() if not name.startswith("dropout")])
def test_a_compiled_chain_computes_what_eager_computes(scenario: Scenario, chain: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    if not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    for eager, compiled in zip(run(scenario, chain, "eager"), run(scenario, chain, "compile"), strict=True):
        assert float((compiled.double() - eager.double()).norm() / eager.double().norm()) < 2**-6
    torch.compiler.reset()


def test_the_chains_are_what_their_names_say(scenario: Scenario) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    from torch.nn import functional

    torch.manual_seed(0)
    x, other, weight = (torch.randn(shape, dtype=torch.bfloat16).double() for shape in ((2, 4096), (2, 4096), (4096,)))
    total, normed = run(scenario, "add_rms_norm", "eager")
    torch.testing.assert_close(total.double(), x + other, rtol=2**-7, atol=2**-7)
    expected = (x + other) / (x + other).square().mean(-1, keepdim=True).sqrt() * weight
    torch.testing.assert_close(normed.double(), expected, rtol=2**-5, atol=2**-5)
    (masked,) = run(scenario, "scaled_masked_softmax", "eager")
    torch.testing.assert_close(masked.double(), functional.softmax(x / 8 + other, dim=-1), rtol=2**-4, atol=2**-10)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("mode", ["eager", "compile"])
def test_dropout_drops_a_tenth_and_scales_the_rest(scenario: Scenario, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    if mode == "compile" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    torch.manual_seed(0)
    x = torch.randn(2, 4096, dtype=torch.bfloat16)
    (found,) = run(scenario, "dropout", mode)
    kept = found != 0
    assert 0.87 < float(kept.double().mean()) < 0.93
    torch.testing.assert_close(found[kept].double(), x[kept].double() / 0.9, rtol=2**-6, atol=0)
