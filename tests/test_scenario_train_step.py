"""The training step: its arithmetic, what it speaks of, and that every optimizer and mode trains the same block."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from foretrace.prediction import AllOf, fits
from foretrace.project import Project

if TYPE_CHECKING:
    from foretrace.prediction import Kind
    from foretrace.scenario import Scenario, Work

ROOT = Path(__file__).parents[1]
LEARNED = 12_596_224  # 12·1024² weights, 9 rows of biases and 4 of norms


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Project(ROOT).load("train_step").scenario


def work(scenario: Scenario, name: str) -> Work:
    found = next(variant.work for variant in scenario.variants if variant.name == name)
    assert found is not None
    return found


def parts(scenario: Scenario) -> list[Kind]:
    """Every statement of the predictions."""
    return [part for said in scenario.predictions for part in (said.parts if isinstance(said, AllOf) else (said,))]


def test_the_operations_are_six_for_each_weight_and_token_and_those_of_the_attention(scenario: Scenario) -> None:
    found = work(scenario, "1024-eager-fused")
    assert sum(part.flops for part in found.parts) == 6 * (12 * 1024**2) * 8192 == 618_475_290_624
    scores = 8 * 16 * 1024**2 * 64  # sequences, heads, pairs of tokens, numbers in a head
    assert (
        found.flops - 618_475_290_624 == (2 + 5) * 2 * scores / 2
    )  # two products forward, five backward, half of each


def test_the_bytes_are_those_of_products_attention_and_optimizer(scenario: Scenario) -> None:
    found = work(scenario, "1024-eager-fused")
    products = {part.name: part.bytes for part in found.parts if part.family == "gemm"}
    assert len(products) == 12
    assert products["out"] == products["out dgrad"] == products["out wgrad"] == 2 * (2 * 8192 * 1024 + 1024**2)
    assert products["up wgrad"] == 2 * (8192 * 1024 + 8192 * 4096 + 4 * 1024**2)
    assert found.bytes == sum(products.values()) + 12 * 2 * 8192 * 1024 + 7 * 2 * LEARNED


def test_an_optimizer_moves_what_its_passes_move(scenario: Scenario) -> None:
    def moved(way: str) -> list[float]:
        return [part.bytes for part in work(scenario, f"1024-eager-{way}").parts if part.family == "optimizer"]

    assert moved("for_loop") == []
    assert moved("fused") == [2 * 4 * 12, 7 * 2 * LEARNED]
    assert (len(moved("foreach")), sum(moved("foreach"))) == (8, 20 * 2 * LEARNED)


def test_compiling_leaves_the_least_work_as_it_is_and_the_order_of_the_products_open(scenario: Scenario) -> None:
    eager, compiled = work(scenario, "1024-eager-foreach"), work(scenario, "1024-compile-foreach")
    assert (compiled.flops, compiled.bytes) == (eager.flops, eager.bytes)
    assert {part.family for part in compiled.parts} == {"optimizer"}


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


def test_the_block_learns_what_was_counted() -> None:
    pytest.importorskip("torch", reason="counting needs torch")
    from scenarios.train_step.workload import Block

    learned = [parameter.numel() for parameter in Block(1024).parameters()]
    assert (len(learned), sum(learned)) == (12, LEARNED)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize(
    ("mode", "optimizer"),
    [("eager", "for-loop"), ("eager", "foreach"), ("eager", "fused"), ("compile", "foreach")],
)
def test_every_form_fits_the_block_to_its_target_alike(scenario: Scenario, mode: str, optimizer: str) -> None:
    torch = pytest.importorskip("torch", reason="training needs torch")
    if mode == "compile" and not shutil.which("g++"):
        pytest.skip("compiling for the CPU needs g++")
    from scenarios.train_step.workload import build

    params = {"width": 64, "mode": mode, "optimizer": optimizer}
    torch.manual_seed(0)
    with torch.no_grad():
        step = build(msgspec.structs.replace(scenario.variants[0], params=params), "cpu")
        losses = [float(step()) for _ in range(20)]
    assert losses[-1] < losses[0]
    assert losses == pytest.approx(reference(20), rel=2**-5)  # bf16 has eight bits, and rounds every update


def reference(steps: int) -> list[float]:
    """The losses of the same block in float64 with AdamW from its formula."""
    import torch

    from scenarios.train_step.workload import Block

    torch.manual_seed(0)
    block = Block(64).to(torch.bfloat16)
    x, target = (torch.randn((2, 64, 64), dtype=torch.bfloat16).double() for _ in range(2))
    block = block.double()
    moments = [(torch.zeros_like(learned), torch.zeros_like(learned)) for learned in block.parameters()]
    losses = []
    for count in range(1, steps + 1):
        loss = (block(x) - target).square().mean()
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, list(block.parameters()))
        with torch.no_grad():
            for learned, gradient, (first, second) in zip(block.parameters(), gradients, moments, strict=True):
                learned.mul_(1 - 1e-3 * 1e-2)
                first.add_((1 - 0.9) * (gradient - first))
                second.add_((1 - 0.999) * (gradient**2 - second))
                corrected = (second / (1 - 0.999**count)).sqrt() + 1e-8
                learned.sub_(1e-3 / (1 - 0.9**count) * first / corrected)
    return losses
