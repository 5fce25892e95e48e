"""The attention scenario: its arithmetic, what it speaks of, and that its variants compute one function."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from foretrace.errors import CannotMeasure
from foretrace.prediction import fits
from foretrace.project import Project
from foretrace.scenario import Scenario, Work

ROOT = Path(__file__).parents[1]
SCORES = 8 * 16 * 1024 * 1024
VECTORS = 8 * 16 * 1024 * 64


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("attention").scenario


@contextmanager
def switches_restored() -> Iterator[None]:
    """The process' choice of backends, put back when a test has ended."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        yield


def work(scenario: Scenario, name: str) -> Work:
    (found,) = (variant.work for variant in scenario.variants if variant.name == name)
    assert found is not None
    return found


def test_a_fused_form_moves_its_inputs_and_its_output_once(scenario: Scenario) -> None:
    fused = work(scenario, "1024-flash-eager")
    assert fused.flops == 4 * SCORES * 64 == 34_359_738_368
    assert fused.bytes == 4 * 2 * VECTORS == 67_108_864
    assert [part.family for part in fused.parts] == ["attention"]


def test_written_by_hand_every_kernel_passes_over_the_scores(scenario: Scenario) -> None:
    rest = 2 * 4 * VECTORS + 1024 * 1024  # q, k, v, the output; the mask
    passes = {"naive-eager": 10, "inplace-eager": 8, "inplace-compile": 4}
    for form, times in passes.items():
        assert work(scenario, f"1024-{form}").bytes == times * 2 * SCORES + rest
    families = [part.family for part in work(scenario, "1024-naive-eager").parts]
    assert families == ["gemm", "pointwise", "memcpy", "pointwise", "softmax", "gemm"]


def test_the_math_backend_is_held_against_fp32(scenario: Scenario) -> None:
    math = work(scenario, "1024-math-eager")
    assert math.dtype == "fp32"
    assert math.bytes == 9.5 * 4 * SCORES + 56 * VECTORS
    assert sum(part.flops for part in math.parts) == 4 * SCORES * 64


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for variant in scenario.variants:
        # a `where` is asked for: without one a prediction speaks of all, and a statement of several parts has none
        assert any(said.where and fits(variant.params, said.where) for said in scenario.predictions), variant.name


def test_the_claims_are_those_of_the_source(scenario: Scenario) -> None:
    assert [claim.id for claim in scenario.claims] == [*(f"P3-{n:02}" for n in range(1, 13)), "S-01"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize(
    ("form", "mode"),
    [
        ("naive", "eager"),
        ("inplace", "eager"),
        ("inplace", "compile"),
        ("math", "eager"),
        ("flash", "eager"),
        ("auto", "eager"),
    ],
)
def test_every_form_is_the_same_attention(scenario: Scenario, form: str, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    if mode == "compile" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    from scenarios.attention.workload import build

    params = {"seq": 48, "form": form, "mode": mode}
    torch.manual_seed(0)
    with torch.no_grad(), switches_restored():
        found = build(msgspec.structs.replace(scenario.variants[0], params=params), "cpu")()
    torch.manual_seed(0)
    q, k, v = (torch.randn((8, 16, 48, 64), dtype=torch.bfloat16).double() for _ in range(3))
    later = torch.arange(48)[:, None] < torch.arange(48)
    expected = (q @ k.transpose(-2, -1) / 8).masked_fill(later, float("-inf")).softmax(-1) @ v
    torch.testing.assert_close(found.double(), expected, rtol=2**-5, atol=2**-5)


@pytest.mark.parametrize("form", ["efficient", "cudnn"])
def test_a_backend_that_is_not_there_is_named(scenario: Scenario, form: str) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    from scenarios.attention.workload import build

    variant = msgspec.structs.replace(scenario.variants[0], params={"seq": 8, "form": form, "mode": "eager"})
    with torch.no_grad(), switches_restored(), pytest.raises(CannotMeasure, match=f"the {form} backend"):
        build(variant, "cpu")
