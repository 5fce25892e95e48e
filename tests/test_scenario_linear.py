"""The linear scenario: its arithmetic, what it speaks of, and that its variants compute one function."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from foretrace.prediction import fits
from foretrace.project import Project
from foretrace.scenario import Scenario, Variant

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("linear").scenario


def named(scenario: Scenario, name: str) -> Variant:
    return next(variant for variant in scenario.variants if variant.name == name)


def test_the_work_is_that_of_the_product_and_of_the_row_that_is_added(scenario: Scenario) -> None:
    plain, biased = (named(scenario, f"1024x32x64-{bias}-eager").work for bias in ("no_bias", "bias"))
    assert plain is not None
    assert biased is not None
    assert (plain.flops, plain.bytes) == (4_194_304, 2 * (1024 * 32 + 32 * 64 + 1024 * 64))
    assert (biased.flops - plain.flops, biased.bytes - plain.bytes) == (1024 * 64, 2 * 64)
    assert [(part.name, part.family) for part in biased.parts] == [("gemm", "gemm")]


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for variant in scenario.variants:
        # a `where` is asked for: without one a prediction speaks of all, and a statement of several parts has none
        assert any(said.where and fits(variant.params, said.where) for said in scenario.predictions), variant.name


def test_the_claims_are_those_of_the_source(scenario: Scenario) -> None:
    assert [claim.id for claim in scenario.claims] == ["P2-01", "P2-02", "P2-03", "P2-04", "S-01"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("bias", ["bias", "no_bias"])
@pytest.mark.parametrize("mode", ["eager", "compile"])
def test_every_form_is_a_linear_layer(scenario: Scenario, bias: str, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    if mode == "compile" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    from scenarios.linear.workload import build

    shape = (48, 32, 24)
    params = {"shape": "48x32x24", "bias": bias, "mode": mode}
    torch.manual_seed(0)
    step = build(msgspec.structs.replace(scenario.variants[0], params=params), "cpu")
    torch.manual_seed(0)
    x, weight, row = (torch.randn(size, dtype=torch.bfloat16) for size in (shape[:2], shape[2:0:-1], shape[2:]))
    expected = x.double() @ weight.double().T + (row.double() if bias == "bias" else 0)
    with torch.no_grad():
        found = step()
    torch.testing.assert_close(found.double(), expected, rtol=2**-7, atol=2**-4)
