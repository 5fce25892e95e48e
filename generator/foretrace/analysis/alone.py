"""All that is known of a trace that came alone, without samples, environment or declared steps.

A `Trace` comes in; its facts, its timeline and how its GPUs were used go out. What only a loop without the profiler
could tell is withheld, with that reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foretrace.analysis import integrity, quantities
from foretrace.analysis.bound import of_trace as bound
from foretrace.analysis.calls import calls, chain
from foretrace.analysis.kernels import by_geometry, kernels
from foretrace.analysis.lanes import drawn
from foretrace.analysis.sequence import sequence
from foretrace.analysis.steps import OUTSIDE, find_steps
from foretrace.analysis.usage import Usage, usage
from foretrace.analysis.variant import recorded
from foretrace.analysis.window import observe, observe_whole
from foretrace.facts import Bound, Facts, Kernel, Params, Timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretrace.trace import Trace

LOOP = ("step_us", "dispatch_us", "dispatch_share", "latency_us", "event_us", "busy_share", "profiler_factor")
"""The quantities that need the program, run without the profiler."""
WORK = ("tflops", "gbps")
"""The quantities that need what a step has to do, which nobody declared."""
MOST_LINKS = 20_000
"""The most lines of a dispatch chain: a whole window may hold millions."""


class Look(NamedTuple):
    """What a trace shows by itself."""

    facts: Facts
    timeline: Timeline
    devices: tuple[str, ...]  # the names of the accelerators that the trace describes: hostile text
    usage: tuple[Usage, ...]  # empty where GPU time cannot be trusted
    others: tuple[Kernel, ...]  # the GPU work that no recorded step launched


def of_trace(trace: Trace, *, params: Params | None = None) -> Look:
    """Everything that needs no scenario.

    Args:
        trace: the trace; without steps its whole window stands for one.
        params: what tells it from others, such as its rank.
    """
    window = observe(trace, "") if len(find_steps(trace)) else observe_whole(trace)
    steps, groups, made, links = recorded(window), by_geometry(window), calls(window), chain(window)
    outside = np.flatnonzero(window.step_of_work == OUTSIDE)
    rows, others = (kernels(window, each, None) for each in (groups, by_geometry(window, outside)))
    op = quantities.opaque(window)
    samples = quantities.by_round([quantities.traced(window, steps, groups, op=op)])
    found = quantities.summaries(samples)
    checks = integrity.of_trace(window)
    withheld = integrity.withheld(checks, _unavailable())
    trusted = {name: summary for name, summary in found.items() if name not in withheld}
    facts = Facts(
        params=params or {},
        quantities=trusted,
        samples={name: values for name, values in samples.items() if name in trusted},
        withheld=withheld,
        steps=steps,
        outside=window.activities(outside),
        kernels=rows,
        calls=made,
        chain=links[:MOST_LINKS],
        sequence=sequence([window], None),
        shares={} if "kernel_us" in withheld else quantities.shares([window]),
        opaque=op,
        checks=checks,
        bound=_limit(withheld) or bound(trusted, rows),
        notes=(*trace.warnings, *_shortened(len(links))),
    )
    seen = observe_whole(trace) if "activities" in withheld and len(trace.gpu.row) else window  # unlinked work, too
    used = () if "traced_busy_share" in withheld else usage(window)
    devices = tuple(dict.fromkeys(device.name for device in trace.devices if device.name))
    return Look(facts=facts, devices=devices, timeline=drawn(seen), usage=used, others=others)


def _unavailable() -> Mapping[str, str]:
    loop = "a trace holds no loop without the profiler: only a run can tell"
    work = "what a step has to do was not declared: only a scenario can say"
    return dict.fromkeys(LOOP, loop) | dict.fromkeys(WORK, work)


def _limit(withheld: Mapping[str, str]) -> Bound | None:
    return Bound(limiter="undecided", evidence=withheld["bound"]) if "bound" in withheld else None


def _shortened(links: int) -> tuple[str, ...]:
    if links <= MOST_LINKS:
        return ()
    return (f"The dispatch chain has {links:,} lines; the first {MOST_LINKS:,} are kept.",)
