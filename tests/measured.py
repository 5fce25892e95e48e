"""What a run would have recorded around a tiny trace, with defaults; `known` analyses both.

known(step(1, at=0, us=100), …, samples={"step_us": (9.8, 10.0, 10.1)}).quantities["busy_share"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import builders

from foretrace import analysis
from foretrace.record import Ceilings, DeviceState, Environment, Gpu, Outcome, Round
from foretrace.scenario import Protocol, Variant, Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretrace.facts import Facts
    from foretrace.trace import Trace

H200 = Gpu(
    name="Test GPU",
    compute_capability="9.0",
    multiprocessors=132,
    memory_bytes=2**37,
    threads_per_multiprocessor=2048,
    registers_per_multiprocessor=65536,
    shared_bytes_per_multiprocessor=233472,
)
COOL = DeviceState(sm_mhz=1980, temperature_c=40)


def outcome(
    *,
    steps: int = 3,
    samples: Mapping[str, Sequence[float]] | None = None,
    work: Work | None = None,
    **more: Any,
) -> Outcome:
    """An outcome of one round, of which `steps` steps were to be recorded."""
    found = Round(
        started_utc="2026-01-01T00:00:00Z",
        samples={name: tuple(values) for name, values in (samples or {}).items()},
        **{
            "before": COOL,
            "after": COOL,
            **{name: more.pop(name) for name in ("before", "after", "peak_memory_bytes") if name in more},
        },
    )
    variant = Variant(name="v", params={"size": 64}, protocol=Protocol(active=steps), work=work)
    return Outcome(variant=variant, rounds=(found,), **more)


def environment(device: Literal["cuda", "cpu"] = "cuda") -> Environment:
    """A machine with the GPU of the tests, or with none."""
    return Environment(device=device, gpu=H200 if device == "cuda" else None, versions={}, cpu_model="", cpu_count=2)


def ceilings(*, bf16: float | None = 800.0, gbps: float | None = 4000.0) -> Ceilings:
    """The roofs of the tests' GPU; None where one was not measured."""
    return Ceilings(tflops={} if bf16 is None else {"bf16": bf16}, copy_gbps=gbps, how="")


def of(
    trace: Trace | None, *, device: Literal["cuda", "cpu"] = "cuda", roofs: Ceilings | None = None, **more: Any
) -> Facts:
    """The facts of a trace; `more` goes to `outcome`."""
    return analysis.facts(
        [trace] if trace is not None else [],
        outcome=outcome(**more),
        label="forward",
        environment=environment(device),
        ceilings=roofs or ceilings(),
    )


def known(*events: builders.Json, steps: int | None = None, **more: Any) -> Facts:
    """The facts of a trace made of these events; as many steps were to be recorded as there are."""
    there = sum(each["name"].startswith("ProfilerStep#") for each in events)
    return of(builders.trace(*events), steps=there if steps is None else steps, **more)
