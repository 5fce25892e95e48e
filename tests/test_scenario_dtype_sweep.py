"""The dtype sweep: its arithmetic, what it speaks of, and which formats it refuses where."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from foretrace.errors import CannotMeasure
from foretrace.prediction import fits
from foretrace.project import Project
from foretrace.scenario import Scenario, Variant, Work

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("dtype_sweep").scenario


def work(scenario: Scenario, name: str) -> Work:
    found = next(variant for variant in scenario.variants if variant.name == name).work
    assert found is not None
    return found


def variant(scenario: Scenario, dtype: str, shape: int | str) -> Variant:
    return msgspec.structs.replace(scenario.variants[0], params={"dtype": dtype, "shape": shape})


def test_a_format_changes_the_bytes_and_the_ceiling_and_not_the_operations(scenario: Scenario) -> None:
    made = {dtype: work(scenario, f"{dtype}-512") for dtype in ("bf16", "fp32", "tf32", "fp8")}
    assert {each.flops for each in made.values()} == {2 * 512**3}
    assert {dtype: each.bytes / 512**2 for dtype, each in made.items()} == {"bf16": 6, "fp32": 12, "tf32": 12, "fp8": 4}
    assert all(each.dtype == dtype for dtype, each in made.items())


def test_a_skinny_product_is_mostly_its_weight(scenario: Scenario) -> None:
    found = work(scenario, "fp8-16x8192")
    assert found.flops == 2 * 16 * 8192 * 8192
    assert found.bytes == 16 * 8192 + 8192 * 8192 + 2 * 16 * 8192


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for each in scenario.variants:
        assert any(said.where and fits(each.params, said.where) for said in scenario.predictions), each.name


def test_every_prediction_speaks_of_a_variant(scenario: Scenario) -> None:
    for said in scenario.predictions:
        assert any(fits(each.params, said.where) for each in scenario.variants), said


def test_the_claim_is_the_open_question_about_dtypes(scenario: Scenario) -> None:
    assert [claim.id for claim in scenario.claims] == ["S-03"]


@pytest.mark.parametrize(("dtype", "error"), [("bf16", 2**-7), ("fp16", 2**-10), ("fp32", 2**-20)])
@pytest.mark.parametrize(("shape", "sizes"), [(48, (48, 48)), ("16x48", (16, 48))])
def test_a_product_is_as_exact_as_its_format(
    scenario: Scenario, dtype: str, error: float, shape: int | str, sizes: tuple[int, int]
) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    from scenarios.dtype_sweep.workload import DTYPES, build

    torch.manual_seed(0)
    step = build(variant(scenario, dtype, shape), "cpu")
    torch.manual_seed(0)
    left, right = (torch.randn(size, sizes[1]).to(DTYPES[dtype]).double() for size in sizes)
    expected = left @ right.T
    with torch.no_grad():
        found = step()
    assert found.dtype == DTYPES[dtype]
    assert float((found.double() - expected).norm() / expected.norm()) < error


@pytest.mark.parametrize("dtype", ["tf32", "fp8"])
def test_a_cpu_measures_no_format_of_tensor_cores(scenario: Scenario, dtype: str) -> None:
    pytest.importorskip("torch", reason="computing needs torch")
    from scenarios.dtype_sweep.workload import build

    with pytest.raises(CannotMeasure, match=f"{dtype} is a format of tensor cores, and a CPU has none"):
        build(variant(scenario, dtype, 16), "cpu")


@pytest.mark.parametrize(
    ("capability", "refused"), [((7, 5), {"bf16", "tf32", "fp8"}), ((8, 0), {"fp8"}), ((8, 9), set()), ((9, 0), set())]
)
def test_a_device_is_asked_for_nothing_that_it_cannot_multiply(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], refused: set[str]
) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    from scenarios.dtype_sweep.workload import DTYPES, require

    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    found = set()
    for dtype in DTYPES:
        try:
            require(dtype, "cuda")
        except CannotMeasure:
            found.add(dtype)
    assert found == refused
