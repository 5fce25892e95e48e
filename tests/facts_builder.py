"""Tiny literal facts with defaults: say only what a test is about.

facts({"mode": "eager"}, steps=[2, 2, 2], kernels=[kernel("gemm", per_step=(1, 1, 1))], step_us=(9.8, 10.0, 10.1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foretrace.facts import Activities, Bound, Call, Facts, Kernel, Limiter, Params, Piece, Step
from foretrace.stats import Rounds, across, exact

if TYPE_CHECKING:
    from collections.abc import Sequence


def facts(
    params: Params | None = None,
    *,
    steps: Sequence[int | Activities] = (2, 2, 2),
    bound: Limiter = "overhead",
    withheld: dict[str, str] | None = None,
    kernels: Sequence[Kernel] = (),
    calls: Sequence[Call] = (),
    sequence: Sequence[Piece] = (),
    **quantities: float | Sequence[float] | Sequence[Sequence[float]],
) -> Facts:
    """Facts of one variant.

    Args:
        params: its parameters.
        steps: what each recorded step launched; a number counts kernels.
        bound: what limits it.
        withheld: quantity = why it is not given.
        kernels: its GPU work.
        calls: its operators and CUDA calls.
        sequence: what each step ran on the GPU, in order.
        quantities: a number is exact, a sequence is samples, a sequence of sequences is rounds.
    """
    samples = {name: _rounds(value) for name, value in quantities.items() if not isinstance(value, int | float)}
    families = dict.fromkeys(row.family for row in kernels)
    operators = [each for each in calls if each.kind == "op"]
    known = {name: exact(value) for name, value in quantities.items() if isinstance(value, int | float)}
    return Facts(
        params=params or {},
        quantities=known | {name: across(rounds) for name, rounds in samples.items()},
        samples=samples,
        withheld=withheld or {},
        steps=tuple(step(number, launched) for number, launched in enumerate(steps)),
        outside=Activities(),
        kernels=tuple(kernels),
        calls=tuple(calls),
        chain=(),
        sequence=tuple(sequence),
        shares={family: exact(sum(row.share for row in kernels if row.family == family)) for family in families},
        opaque=max(operators, key=lambda each: each.self_us).name if operators else "",
        checks=(),
        bound=Bound(limiter=bound, evidence="busy 20 % of the step"),
    )


def _rounds(values: Sequence[Any]) -> Rounds:
    return (
        tuple(tuple(each) for each in values) if values and not isinstance(values[0], int | float) else (tuple(values),)
    )


def step(number: int, launched: int | Activities) -> Step:
    """A recorded step, 100 µs after the one before."""
    activities = Activities(kernel=launched) if isinstance(launched, int) else launched
    return Step(
        name=f"ProfilerStep#{number}",
        start_us=100.0 * number,
        width_us=90.0,
        entry_gap_us=5.0,
        activities=activities,
        kernel_us=20.0,
        busy_us=20.0,
    )


def kernel(name: str = "gemm_kernel", **more: Any) -> Kernel:
    """A kernel of the family `gemm`, launched once in each of three steps, with 32 registers and 128 threads."""
    values: dict[str, Any] = {
        "activity": "kernel",
        "name": name,
        "family": "gemm",
        "label": name,
        "identity": name,
        "per_step": (1, 1, 1),
        "duration": across(((9.0, 10.0, 11.0),)),
        "total_us": 30.0,
        "share": 0.5,
        "grid": (1, 1, 1),
        "block": (128, 1, 1),
        "registers": 32,
        "shared_bytes": 0,
        "moved_bytes": None,
        "occupancy_reported": 0.5,
        "occupancy": 0.5,
        "occupancy_limit": "registers",
        "op": "aten::mm",
        "launch_call": "cudaLaunchKernel",
        "calls_before": (),
    }
    return Kernel(**(values | more))


def call(name: str, **more: Any) -> Call:
    """An operator that ran once in each of three steps."""
    values: dict[str, Any] = {
        "kind": "op",
        "name": name,
        "per_step": (1, 1, 1),
        "outside": 0,
        "total_us": 30.0,
        "self_us": 30.0,
        "kernels": 0,
        "gpu_us": 0.0,
    }
    values |= more
    steps = len(values["per_step"]) or 1
    values.setdefault("kernels_per_step", (values["kernels"] // steps,) * steps)
    return Call(**values)


def piece(part: str, **more: Any) -> Piece:
    """A part of every step: a GEMM of 2 MFLOP and 4 kB that takes 10 µs, give or take one; "" is no declared part."""
    values: dict[str, Any] = {
        "activity": "kernel",
        "name": "gemm_kernel",
        "family": "gemm",
        "label": "gemm_kernel",
        "duration": across(((9.0, 10.0, 11.0),)),
        "part": part,
        "flops": 2e6,
        "bytes": 4e3,
        "dtype": "bf16",
        "tflops": across(((0.22, 0.20, 0.18),)),
        "gbps": across(((0.44, 0.40, 0.36),)),
    }
    return Piece(**(values | more))
