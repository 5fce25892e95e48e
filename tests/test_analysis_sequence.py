"""The order of a step's GPU work, which declared part each piece of it is, and what that makes of its duration."""

from __future__ import annotations

import pytest
from builders import Json, kernel, launch, memset, step, trace
from measured import known

from foretrace.analysis.sequence import sequence
from foretrace.analysis.window import observe
from foretrace.scenario import Part, Work

GEMM, ADD = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "triton_poi_fused_add_0"
GATE, UP = (Part(name=name, family="gemm", flops=4e9, bytes=8e6) for name in ("gate", "up"))
SUM = Part(name="sum", family="pointwise", flops=1e6, bytes=6e6, dtype="fp32")


def ran(number: int, *names: str, us: float = 10) -> list[Json]:
    """A step that launches kernels of these names, one after the other."""
    at, first = 1000.0 * number, 100 * number
    return [
        step(number, at=at, us=900),
        *(launch(at=at + place, us=1, correlation=first + place) for place in range(len(names))),
        *(kernel(name, at=at + 50 + 20 * place, us=us, correlation=first + place) for place, name in enumerate(names)),
    ]


def test_the_first_part_of_a_family_is_its_first_kernel():
    found = known(*ran(1, GEMM, ADD, GEMM), *ran(2, GEMM, ADD, GEMM), work=Work.of(GATE, UP, SUM))
    assert [piece.part for piece in found.sequence] == ["gate", "sum", "up"]
    assert [piece.family for piece in found.sequence] == ["gemm", "pointwise", "gemm"]
    assert [piece.dtype for piece in found.sequence] == ["bf16", "fp32", "bf16"]
    gate = found.sequence[0]
    assert gate.duration.median == 10
    assert gate.tflops is not None
    assert gate.gbps is not None
    assert (gate.tflops.median, gate.gbps.median) == (pytest.approx(400), pytest.approx(800))


def test_a_family_of_another_number_of_kernels_is_not_told_apart():
    found = known(*ran(1, GEMM, ADD), work=Work.of(GATE, UP, SUM))
    assert [piece.part for piece in found.sequence] == ["", "sum"]
    assert found.sequence[0].tflops is None


def test_steps_that_differ_have_no_sequence():
    assert known(*ran(1, GEMM, ADD), *ran(2, GEMM)).sequence == ()
    assert known(*ran(1, GEMM, ADD), *ran(2, ADD, GEMM)).sequence == ()
    assert known(step(1, at=0, us=10)).sequence == ()


def test_the_order_is_that_in_which_the_gpu_runs_it():
    late_first = known(
        step(1, at=0, us=900),
        launch(at=1, us=1, correlation=1),
        launch(at=3, us=1, correlation=2),
        kernel("late", at=100, us=5, correlation=1),
        memset(at=50, us=1, correlation=2),
    )
    assert [(piece.activity, piece.label) for piece in late_first.sequence] == [
        ("memset", "memset"),
        ("kernel", "late"),
    ]


def test_durations_are_those_of_every_round_that_ran_the_same():
    rounds = [trace(*ran(1, GEMM, us=us)) for us in (10, 12, 20)]
    other = trace(*ran(1, GEMM, GEMM, us=99))
    found = sequence([observe(each, "step") for each in (*rounds, other)], None)
    assert [(piece.duration.median, piece.duration.maximum) for piece in found] == [(12, 20)]


def test_a_step_of_very_many_pieces_has_no_sequence():
    found = known(
        step(1, at=0, us=9000),
        *(
            event
            for place in range(401)
            for event in (
                launch(at=place, us=0.5, correlation=place),
                kernel(at=500 + place, us=0.5, correlation=place),
            )
        ),
    )
    assert found.steps[0].activities.kernel == 401
    assert found.sequence == ()


def test_no_rate_is_made_of_no_duration():
    found = known(*ran(1, GEMM, us=0), work=Work.of(GATE))
    assert (found.sequence[0].part, found.sequence[0].tflops) == ("gate", None)
