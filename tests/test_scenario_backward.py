"""The backward scenario: its arithmetic, what it speaks of, and that its variants compute one function's gradients."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from foretrace.prediction import AllOf, fits
from foretrace.project import Project
from foretrace.scenario import Sealed

if TYPE_CHECKING:
    from torch import Tensor

    from foretrace.prediction import Kind
    from foretrace.scenario import Scenario, Variant, Work

ROOT = Path(__file__).parents[1]
HIDDEN = 2 * 8192 * 3072  # bytes of one tensor between the layers of the MLP
MADE = (
    ("down wgrad", "down dgrad"), ("up gradient", "gelu gradient"),
    ("up wgrad", "up dgrad"), ("gate wgrad", "gate dgrad"),
)  # fmt: skip
"""Pairs of the MLP's parts in the order in which MmBackward0 and MulBackward0 make them."""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("backward").scenario


def named(scenario: Scenario, name: str) -> Variant:
    return next(variant for variant in scenario.variants if variant.name == name)


def work(scenario: Scenario, name: str) -> Work:
    found = named(scenario, name).work
    assert found is not None
    return found


def test_a_linear_layer_multiplies_once_forward_and_three_times_with_its_backward_pass(scenario: Scenario) -> None:
    forward, both = work(scenario, "linear-8192-forward-eager"), work(scenario, "linear-8192-forward_backward-eager")
    assert forward.flops == 2 * 8192 * 4096**2 == 274_877_906_944
    assert forward.bytes == 2 * (8192 * 4096 + 4096 * 4096 + 8192 * 4096)
    assert [(part.name, part.family) for part in both.parts] == [
        ("forward", "gemm"), ("dgrad", "gemm"), ("wgrad", "gemm"), ("bias gradient", "reduction"),
    ]  # fmt: skip
    assert both.flops == 3 * forward.flops
    assert both.bytes == 3 * forward.bytes + 2 * 4096 * (8192 + 1)


def test_the_mlp_has_nine_products_of_the_same_size_and_six_passes_between_them(scenario: Scenario) -> None:
    both = work(scenario, "geglu_mlp-8192-forward_backward-eager")
    products = [part for part in both.parts if part.family == "gemm"]
    assert [part.flops for part in products] == [2 * 8192 * 768 * 3072] * 9
    assert {part.bytes for part in products} == {2 * (8192 * 768 + 768 * 3072 + 8192 * 3072)}
    passes = {part.name: part.bytes for part in both.parts if part.family == "pointwise"}
    assert passes == {
        "gelu": 2 * HIDDEN, "mul": 3 * HIDDEN, "gelu gradient": 3 * HIDDEN, "up gradient": 3 * HIDDEN,
        "gate gradient": 3 * HIDDEN, "input gradient": 3 * 2 * 8192 * 768,
    }  # fmt: skip


@pytest.mark.parametrize(("phase", "moved"), [("forward", 3), ("forward_backward", 8)])
def test_compiling_keeps_the_products_and_moves_less_between_them(scenario: Scenario, phase: str, moved: int) -> None:
    eager, compiled = (work(scenario, f"geglu_mlp-8192-{phase}-{mode}") for mode in ("eager", "compile"))
    assert compiled.flops == eager.flops
    products = sum(part.bytes for part in eager.parts if part.family == "gemm")
    assert compiled.bytes == products + moved * HIDDEN < eager.bytes


def test_every_variant_is_spoken_of(scenario: Scenario) -> None:
    for variant in scenario.variants:
        assert any(part.where and fits(variant.params, part.where) for part in parts(scenario)), variant.name


def test_every_prediction_speaks_of_a_variant_and_every_part_of_one_that_is_declared(scenario: Scenario) -> None:
    for part in parts(scenario):
        spoken = [variant for variant in scenario.variants if fits(variant.params, part.where)]
        assert spoken, part
        wanted = {getattr(part, "part", None), *getattr(part, "parts", ())} - {None}
        for variant in spoken:
            assert wanted <= {each.name for each in variant.work.parts if variant.work}, part


def parts(scenario: Scenario) -> list[Kind]:
    """Every statement of the predictions."""
    return [part for said in scenario.predictions for part in (said.parts if isinstance(said, AllOf) else (said,))]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("program", ["linear", "geglu_mlp"])
@pytest.mark.parametrize("mode", ["eager", "compile"])
def test_every_form_gives_the_output_and_the_gradients_of_the_function(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, program: str, mode: str
) -> None:
    torch = pytest.importorskip("torch", reason="computing needs torch")
    if mode == "compile" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    from scenarios.backward import workload

    shapes = {"linear": ((24, 32), (24,)), "geglu_mlp": ((48, 32), (48, 32), (32, 48))}[program]
    monkeypatch.setitem(workload.SHAPES, program, shapes)
    params = {"program": program, "tokens": 16, "mode": mode}
    built = [
        msgspec.structs.replace(scenario.variants[0], params=params | {"phase": phase})
        for phase in ("forward", "forward-backward")
    ]
    with torch.no_grad():
        torch.manual_seed(0)
        output = workload.build(built[0], "cpu")()
        torch.manual_seed(0)
        step = workload.build(built[1], "cpu")
        first, gradients = step(), step()

    torch.manual_seed(0)
    *weights, x = (torch.randn(shape, dtype=torch.bfloat16) for shape in (*shapes, (16, 32)))
    weights = [weight * weight.shape[-1] ** -0.5 for weight in weights]
    upstream = torch.randn((16, shapes[-1][0]), dtype=torch.bfloat16).double()
    leaves = [tensor.double().requires_grad_() for tensor in (x, *weights)]
    expected = reference(program, *leaves)
    expected.backward(upstream)
    torch.testing.assert_close(output.double(), expected.detach(), rtol=2**-5, atol=2**-4)
    for found, again, leaf in zip(gradients, first, leaves, strict=True):
        torch.testing.assert_close(found.double(), leaf.grad, rtol=2**-4, atol=2**-3)
        torch.testing.assert_close(found, again, rtol=0, atol=0)  # nothing is added to the step before's


def reference(program: str, x: Tensor, *weights: Tensor) -> Tensor:
    """The program in float64, from its formula."""
    from torch.nn.functional import gelu

    if program == "linear":
        return x @ weights[0].T + weights[1]
    gate, up, down = weights
    return (gelu(x @ gate.T, approximate="tanh") * (x @ up.T)) @ down.T


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize(
    ("node", "made"), [("MmBackward0", ["weight", "input"]), ("AddmmBackward0", ["input", "weight"])]
)
def test_mm_backward_makes_the_weights_gradient_before_the_inputs_and_addmm_backward_after_it(
    node: str, made: list[str]
) -> None:
    torch = pytest.importorskip("torch", reason="differentiating needs torch")
    x, weight = torch.randn(16, 32, requires_grad=True), torch.randn(48, 32, requires_grad=True)
    bias = torch.randn(48, requires_grad=True) if node == "AddmmBackward0" else None
    output = torch.nn.functional.linear(x, weight, bias)
    operands = {((16, 48), (48, 32)): "input", ((48, 16), (16, 32)): "weight"}  # of g·W and gᵀ·x, where g has 16 × 48
    assert [operands[shapes] for shapes in called("aten::mm", node, output)] == made


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
def test_mul_backward_makes_the_second_factors_gradient_before_the_firsts() -> None:
    torch = pytest.importorskip("torch", reason="differentiating needs torch")
    first, second = torch.randn(16, 48, requires_grad=True), torch.randn(1, 48, requires_grad=True)
    factors = {((16, 48), (16, 48)): "second", ((16, 48), (1, 48)): "first"}  # the gradient by the other factor
    assert [factors[shapes] for shapes in called("aten::mul", "MulBackward0", first * second)] == ["second", "first"]


def called(operator: str, node: str, output: Tensor) -> list[tuple[tuple[int, ...], ...]]:
    """The shapes that an operator is given directly inside a node of the backward pass, call by call."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        torch.autograd.backward(output, torch.ones_like(output))
    events = sorted(recorded.events(), key=lambda event: event.time_range.start)
    inside = [event for event in events if event.name == operator and getattr(event.cpu_parent, "name", "") == node]
    return [tuple(tuple(shape) for shape in event.input_shapes) for event in inside]


def test_the_page_tells_of_swapped_names_as_long_as_its_record_has_them() -> None:
    declaration = ROOT / "docs" / "runs" / "reference" / "backward" / "declaration.json"
    sealed = msgspec.json.decode(declaration.read_bytes(), type=Sealed)
    named = [part.name for part in work(sealed.scenario, "geglu_mlp-8192-forward_backward-eager").parts]
    swapped = [named.index(made_first) > named.index(made_second) for made_first, made_second in MADE]
    page = (ROOT / "scenarios" / "backward" / "page.md.j2").read_text()
    assert ('id="swapped-names"' in page) == any(swapped)
