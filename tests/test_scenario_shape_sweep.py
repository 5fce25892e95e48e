"""The shape sweep: its arithmetic, what it speaks of, and that every program computes what it should."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from foretrace.prediction import fits
from foretrace.project import Project
from foretrace.scenario import Scenario, Work

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("shape_sweep").scenario


def work(scenario: Scenario, name: str) -> Work:
    found = next(variant for variant in scenario.variants if variant.name == name).work
    assert found is not None
    return found


def test_a_product_and_a_sum_are_counted_apart(scenario: Scenario) -> None:
    product, total = work(scenario, "matmul_add-256-eager").parts
    assert (product.flops, product.bytes) == (2 * 16_777_216, 6 * 65_536)
    assert (total.flops, total.bytes) == (65_536, 6 * 65_536)


def test_one_row_of_the_linear_layer_is_mostly_its_weight(scenario: Scenario) -> None:
    found = work(scenario, "linear-1-eager")
    assert found.flops == 2 * 4096 * 4096 + 4096
    assert found.bytes == 2 * (4096 + 4096 * 4096 + 4096 + 4096)


def test_compiling_the_mlp_saves_two_passes_over_a_hidden_tensor(scenario: Scenario) -> None:
    eager, compiled = (work(scenario, f"geglu_mlp-64-{mode}") for mode in ("eager", "compile"))
    assert eager.bytes - compiled.bytes == 2 * (2 * 64 * 3072)
    assert sum(part.flops for part in eager.parts if part.family == "gemm") == 3 * 2 * 64 * 768 * 3072
    assert [part.name for part in eager.parts] == ["gate", "gelu", "up", "mul", "down"]
    assert [part.name for part in compiled.parts] == ["gate", "up", "gelu_mul", "down"]


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for variant in scenario.variants:
        assert any(said.where and fits(variant.params, said.where) for said in scenario.predictions), variant.name


def test_every_prediction_speaks_of_a_variant(scenario: Scenario) -> None:
    for said in scenario.predictions:
        assert any(fits(variant.params, said.where) for variant in scenario.variants), said


def test_the_claims_are_the_open_questions_about_shapes(scenario: Scenario) -> None:
    assert [claim.id for claim in scenario.claims] == ["S-02", "S-05"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("mode", ["eager", "compile"])
@pytest.mark.parametrize("program", ["matmul_add", "linear", "geglu_mlp"])
def test_every_program_computes_what_its_name_says(scenario: Scenario, program: str, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    if mode == "compile" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    from scenarios.shape_sweep.workload import PROGRAMS, build

    rows = 3
    params = {"program": program, "rows": rows, "mode": mode}
    torch.manual_seed(0)
    step = build(msgspec.structs.replace(scenario.variants[0], params=params), "cpu")
    torch.manual_seed(0)
    shapes = PROGRAMS[program][1](rows)
    x, *weights = (torch.randn(shape, dtype=torch.bfloat16) for shape in shapes)
    x, weights = x.double(), [(weight / weight.shape[-1] ** 0.5).double() for weight in weights]
    if program == "matmul_add":
        expected = x @ weights[0] + weights[1]
    elif program == "linear":
        expected = x @ weights[0].T + weights[1]
    else:
        gate, up, down = weights
        expected = (torch.nn.functional.gelu(x @ gate.T) * (x @ up.T)) @ down.T
    with torch.no_grad():
        found = step()
    assert found.shape == expected.shape
    assert float((found.double() - expected).norm() / expected.norm()) < 2**-6
