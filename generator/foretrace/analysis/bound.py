"""What limits a step's time: its quantities, declared work and measured ceilings come in, a `facts.Bound` goes out.

The order of the questions: does the GPU idle, and if so for whom; does it mostly communicate; if it works, is it the
arithmetic or the memory traffic that takes the time. Where the evidence does not carry an answer, it is undecided.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from foretrace.facts import QUANTITIES, Bound
from foretrace.units import interval, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretrace.facts import Call, Kernel, Limiter
    from foretrace.record import Ceilings
    from foretrace.scenario import Work
    from foretrace.stats import Summary

IDLE_BELOW = 0.5  # of the step: the GPU waits more than it works
BUSY_FROM = 0.8  # of the step: the GPU sets the pace
DISPATCHING_FROM = 0.95  # of the step: the CPU is still handing over when the GPU is all but done
MOST = 0.5  # what explains a time has to make up at least this share of it
BEYOND = 1.2  # times the busy time: a floor this high is none, as when the data stays in the cache
NEEDED = ("step_us", "gpu_busy_us", "busy_share")

WAIT = re.compile(r"\w*Synchronize|(cuda|hip)Memcpy")  # calls that return only when the GPU is done


class Floor(NamedTuple):
    """The least time that one part of the declared work can take on this device."""

    limiter: Limiter
    us: float  # NaN where the ceiling is not known
    words: str


def bound(
    summaries: Mapping[str, Summary],
    *,
    kernels: Sequence[Kernel],
    calls: Sequence[Call],
    work: Work | None,
    ceilings: Ceilings,
) -> Bound:
    """What a step's time is limited by.

    Args:
        summaries: the quantities that can be trusted.
        kernels: the GPU work of the recorded steps.
        calls: what the CPU called in them.
        work: what a step has to do at least; None where it was not declared.
        ceilings: the rates that the device reached in this run.
    """
    missing = next((QUANTITIES[name].title.lower() for name in NEEDED if name not in summaries), None)
    if missing is not None:
        return Bound(limiter="undecided", evidence=f"the {missing} is not known")
    step, busy, share = (summaries[name] for name in NEEDED)
    how_busy = f"GPU busy {_percent(share.median)} of the {quantity(step.median, 'us')} step"
    dispatching = summaries.get("dispatch_share")
    if share.high < IDLE_BELOW:
        return _idle(how_busy, summaries, calls)
    if share.low < BUSY_FROM and dispatching is not None and dispatching.low >= DISPATCHING_FROM:
        return _idle(f"{how_busy}, and the CPU dispatches for {_percent(dispatching.median)} of it", summaries, calls)
    if share.low < BUSY_FROM:
        of = f" ({interval(share.low, share.high, 'share')})" if share.low < share.high else ""
        return Bound(limiter="undecided", evidence=f"{how_busy}{of}: neither idle nor busy enough to say who waits")
    return _communicating(how_busy, kernels) or _working(how_busy, busy.median, floors(work, ceilings) if work else ())


def of_trace(summaries: Mapping[str, Summary], kernels: Sequence[Kernel]) -> Bound:
    """The same for a trace that came alone. The profiler slows the CPU, so a GPU that idles under it tells nothing;
    one that is busy all the same sets the pace.
    """
    share = summaries.get("traced_busy_share")
    if share is None:
        return Bound(limiter="undecided", evidence="the GPU's busy share is not known")
    how_busy = f"GPU busy {_percent(share.median)} of the recorded window, under the profiler"
    if share.low < BUSY_FROM:
        said = f"{how_busy}, which slows the CPU: without a loop that was timed without it, nobody can say who waits"
        return Bound(limiter="undecided", evidence=said)
    return _communicating(how_busy, kernels) or _working(how_busy, math.nan, ())


def floors(work: Work, ceilings: Ceilings) -> tuple[Floor, Floor]:
    """How long the arithmetic alone and the memory traffic alone must take, at the rates this device reached."""
    rate, speed = ceilings.tflops.get(work.dtype), ceilings.copy_gbps
    compute_us = work.flops / rate / 1e6 if rate else math.nan
    memory_us = work.bytes / speed / 1e3 if speed else math.nan
    return (
        Floor(
            "compute",
            compute_us,
            f"arithmetic alone takes {quantity(compute_us, 'us')} at the measured {quantity(rate, 'tflops')}"
            if rate
            else f"no ceiling for {work.dtype} arithmetic was measured",
        ),
        Floor(
            "memory",
            memory_us,
            f"moving {quantity(work.bytes, 'bytes')} alone takes {quantity(memory_us, 'us')} at the measured "
            f"{quantity(speed, 'gbps')}"
            if speed
            else "no ceiling for memory traffic was measured",
        ),
    )


def _idle(how_busy: str, summaries: Mapping[str, Summary], calls: Sequence[Call]) -> Bound:
    """The GPU mostly waits: for a CPU that itself waits for it, or for one that is busy dispatching."""
    profiled = summaries.get("profiled_step_us")
    waits = [call for call in calls if call.kind in ("runtime", "driver") and WAIT.fullmatch(call.name)]
    waited = sum(call.total_us for call in waits) / (profiled.mean * profiled.count) if profiled else 0.0
    if waited >= MOST:
        names = ", ".join(sorted({call.name for call in waits}))
        said = f"{how_busy}; under the profiler the CPU spends {_percent(waited)} of a step in {names}"
        return Bound(limiter="sync", evidence=said)
    dispatch = summaries.get("dispatch_us")
    why = f"; the CPU takes {quantity(dispatch.median, 'us')} to dispatch it" if dispatch else ""
    return Bound(limiter="overhead", evidence=how_busy + why)


def _communicating(how_busy: str, kernels: Sequence[Kernel]) -> Bound | None:
    """The GPU sets the pace, and most of its time is communication; None where it is not."""
    communication = sum(row.share for row in kernels if row.family == "comm")
    if communication < MOST:
        return None
    said = f"{how_busy}; {_percent(communication)} of the GPU's time is communication"
    return Bound(limiter="communication", evidence=said)


def _working(how_busy: str, busy_us: float, floors: Sequence[Floor]) -> Bound:
    """The GPU sets the pace: by the larger of the two floors, if that explains most of its time."""
    if not floors:
        return Bound(limiter="undecided", evidence=f"{how_busy}; what a step has to do was not declared")
    unknown = [floor.words for floor in floors if math.isnan(floor.us)]
    if unknown:
        return Bound(limiter="undecided", evidence=f"{how_busy}; {', '.join(unknown)}")
    highest = max(floors, key=lambda floor: floor.us)
    if highest.us > BEYOND * busy_us:
        said = f"{how_busy}; {highest.words}, longer than it was busy: the work is not what was declared, or is cached"
        return Bound(limiter="undecided", evidence=said)
    if highest.us >= MOST * busy_us:
        return Bound(limiter=highest.limiter, evidence=f"{how_busy}; {highest.words}")
    said = " and ".join(floor.words for floor in floors)
    return Bound(
        limiter="undecided",
        evidence=f"{how_busy}; {said}: neither explains most of the {quantity(busy_us, 'us')} of GPU work",
    )


def _percent(share: float) -> str:
    return quantity(share, "share")
