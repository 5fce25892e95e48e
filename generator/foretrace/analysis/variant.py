"""All that is known of one measured variant: its trace and its samples come in, `facts.Facts` go out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foretrace.analysis import integrity, quantities
from foretrace.analysis.bound import bound
from foretrace.analysis.calls import calls, chain
from foretrace.analysis.kernels import by_geometry, kernels
from foretrace.analysis.sequence import sequence
from foretrace.analysis.steps import OUTSIDE
from foretrace.analysis.window import observe
from foretrace.facts import Activities, Bound, Facts, Step
from foretrace.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretrace.analysis.window import Window
    from foretrace.record import Ceilings, Environment, Outcome
    from foretrace.stats import Summary
    from foretrace.trace import Trace


def facts(
    traces: Sequence[Trace], *, outcome: Outcome, label: str, environment: Environment, ceilings: Ceilings
) -> Facts:
    """The facts of a variant. Steps, kernels, calls and the chain are those of the first trace.

    Args:
        traces: its traces, one a round; none where none was recorded.
        outcome: its samples, and how it was measured.
        label: the `record_function` label around each step.
        environment: what it was measured on.
        ceilings: the rates that the device reached in this run.
    """
    if not traces:
        return _without_trace(outcome)
    windows = [observe(trace, label) for trace in traces]
    steps, groups = [recorded(window) for window in windows], [by_geometry(window) for window in windows]
    window, made = windows[0], calls(windows[0])
    rows = kernels(window, groups[0], environment.gpu)
    op = quantities.opaque(window)
    rounds = [quantities.traced(*each, op=op) for each in zip(windows, steps, groups, strict=True)]
    samples = quantities.measured(outcome) | quantities.by_round(rounds)
    samples |= quantities.per_work(samples, outcome)
    found = quantities.summaries(samples, peak_memory_bytes=outcome.peak_memory_bytes)
    checks = integrity.check(windows, outcome, environment, found.get("profiler_factor"))
    withheld = integrity.withheld(checks, outcome.unavailable)
    trusted = {name: summary for name, summary in found.items() if name not in withheld}
    limit = bound(trusted, kernels=rows, calls=made, work=outcome.variant.work, ceilings=ceilings)
    return Facts(
        params=outcome.variant.params,
        quantities=trusted,
        samples={name: values for name, values in samples.items() if name in trusted},
        withheld=withheld,
        steps=steps[0],
        outside=window.activities(np.flatnonzero(window.step_of_work == OUTSIDE)),
        kernels=rows,
        calls=made,
        chain=chain(window),
        sequence=sequence(windows, outcome.variant.work),
        shares={} if "kernel_us" in withheld else quantities.shares(windows),
        opaque=op,
        checks=checks,
        bound=_withhold(limit, withheld),
        notes=tuple(dict.fromkeys(warning for trace in traces for warning in trace.warnings)),
    )


def _without_trace(outcome: Outcome) -> Facts:
    samples = quantities.measured(outcome)
    found: Mapping[str, Summary] = quantities.summaries(samples, peak_memory_bytes=outcome.peak_memory_bytes)
    checks = integrity.without_trace()
    withheld = integrity.withheld(checks, outcome.unavailable)
    return Facts(
        params=outcome.variant.params,
        quantities={name: summary for name, summary in found.items() if name not in withheld},
        samples={name: values for name, values in samples.items() if name not in withheld},
        withheld=withheld,
        steps=(),
        outside=Activities(),
        kernels=(),
        calls=(),
        chain=(),
        checks=checks,
        bound=Bound(limiter="undecided", evidence=withheld["bound"]),
    )


def _withhold(found: Bound, withheld: Mapping[str, str]) -> Bound:
    return Bound(limiter="undecided", evidence=withheld["bound"]) if "bound" in withheld else found


def recorded(window: Window) -> tuple[Step, ...]:
    """The recorded steps, each with the work that it launched."""
    return tuple(_step(window, number) for number in range(len(window)))


def _step(window: Window, number: int) -> Step:
    steps, works = window.steps, window.work_of(number)
    return Step(
        name=window.name_of(number),
        start_us=int(steps.start_ns[number] - window.start_ns) / 1000,
        width_us=int(steps.end_ns[number] - steps.start_ns[number]) / 1000,
        entry_gap_us=_entry_gap_us(window, number),
        activities=window.activities(works),
        kernel_us=window.duration_us(window.kernels_among(works)),
        busy_us=window.busy_us(works),
    )


def _entry_gap_us(window: Window, number: int) -> float | None:
    """From the start of the label to the start of the first operator inside it; None without one of the two."""
    trace = window.trace
    inside = np.flatnonzero((window.step_of_row == number) & (trace.lane == window.lane))
    labels = [row for row in inside[trace.kind[inside] == Kind.ANNOTATION].tolist() if trace.text(row) == window.label]
    if not labels:
        return None
    entered, left = trace.start_ns[labels[0]], trace.end_ns[labels[0]]
    ops = inside[
        (trace.kind[inside] == Kind.OP) & (trace.start_ns[inside] >= entered) & (trace.start_ns[inside] < left)
    ]
    return int(trace.start_ns[ops[0]] - entered) / 1000 if len(ops) else None
