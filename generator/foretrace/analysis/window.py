"""The recorded window: a trace and the steps' label come in; who launched what, in which step, inside what, go out.

Everything else in this package asks a `Window`, so that attribution and nesting are worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foretrace import grammars
from foretrace.analysis import nesting
from foretrace.analysis.attribution import NONE, attribute
from foretrace.analysis.intervals import union_ns
from foretrace.analysis.steps import OUTSIDE, find_steps, step_at, step_of_gpu_work, whole_window
from foretrace.facts import Activities
from foretrace.trace import CPU_SIDE, GPU_WORK, LAUNCHERS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretrace.analysis.attribution import Attribution
    from foretrace.analysis.steps import Steps
    from foretrace.trace import Int64, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A trace with what is known of every row. GPU work is numbered as in `trace.gpu`."""

    trace: Trace
    label: str
    steps: Steps
    attribution: Attribution
    step_of_work: Int64  # for each GPU activity, the step that launched it, else OUTSIDE
    step_of_row: Int64  # for each CPU row, the step in which it starts, else OUTSIDE; OUTSIDE for other rows
    parent: Int64  # for each row, the innermost event around it on its thread, else NONE
    own_ns: Int64  # for each row, its duration without its children and without the profiler's own events
    labels: Mapping[str, str]  # name of GPU work -> its short name; no two names look alike
    lane: int  # of the thread that runs the steps; NONE where there is no step

    def __len__(self) -> int:
        """How many steps were recorded."""
        return len(self.steps)

    @property
    def work(self) -> Int64:
        """The GPU activities that the recorded steps launched."""
        return np.flatnonzero(self.step_of_work != OUTSIDE)

    @property
    def is_whole(self) -> bool:
        """Whether the trace marks no steps, so that the whole window stands for one."""
        return len(self.steps) > 0 and int(self.steps.row[0]) == NONE

    @property
    def start_ns(self) -> int:
        """Where the first recorded step begins; 0 where there is none."""
        return int(self.steps.start_ns[0]) if len(self.steps) else 0

    def name_of(self, step: int) -> str:
        """What the trace calls a step."""
        return "the whole window" if self.is_whole else self.trace.text(int(self.steps.row[step]))

    def work_of(self, step: int) -> Int64:
        """The GPU activities that one step launched."""
        return np.flatnonzero(self.step_of_work == step)

    def rows_of(self, work: Int64) -> Int64:
        """The trace rows of GPU activities."""
        rows: Int64 = self.trace.gpu.row[work]
        return rows

    def rows_in_steps(self, *kinds: Kind) -> Int64:
        """The CPU rows of these kinds that start inside a recorded step, in start order."""
        rows = self.trace.rows(*kinds)
        inside: Int64 = rows[self.step_of_row[rows] != OUTSIDE]
        return inside

    def per_step(self, rows: Int64) -> Int64:
        """How many of these CPU rows start in each step."""
        step = self.step_of_row[rows]
        return np.bincount(step[step != OUTSIDE], minlength=len(self.steps))

    def duration_us(self, work: Int64) -> float:
        """The sum of the durations of GPU activities."""
        return int(self.trace.dur_ns[self.rows_of(work)].sum()) / 1000

    def busy_us(self, work: Int64) -> float:
        """The time in which at least one of these GPU activities ran."""
        rows = self.rows_of(work)
        return union_ns(self.trace.start_ns[rows], self.trace.end_ns[rows]) / 1000

    def kernels_among(self, work: Int64) -> Int64:
        """Those GPU activities that are kernels."""
        kernels: Int64 = work[self.trace.kind[self.rows_of(work)] == Kind.KERNEL]
        return kernels

    def activities(self, work: Int64) -> Activities:
        """GPU activities, counted."""
        count = np.bincount(self.trace.kind[self.rows_of(work)], minlength=len(Kind))
        return Activities(*(int(count[kind]) for kind in GPU_WORK))


def observe(trace: Trace, label: str) -> Window:
    """Work out who launched what in a trace whose steps carry the `record_function` label `label`."""
    steps, attribution = find_steps(trace), attribute(trace)
    step_of_row = np.full(len(trace), OUTSIDE, dtype=np.int64)
    on_cpu = trace.rows(*CPU_SIDE)
    step_of_row[on_cpu] = step_at(trace, steps, on_cpu)
    overhead = trace.rows(Kind.OVERHEAD)
    step_of_row[overhead] = _step_during(trace, steps, overhead)
    parent = nesting.parents(trace)
    return Window(
        trace=trace,
        label=label,
        steps=steps,
        attribution=attribution,
        step_of_work=step_of_gpu_work(trace, steps, attribution),
        step_of_row=step_of_row,
        parent=parent,
        own_ns=nesting.self_ns(trace, parent),
        labels=_labels(trace),
        lane=int(trace.lane[steps.row[0]]) if len(steps) else NONE,
    )


def observe_whole(trace: Trace) -> Window:
    """The same for a trace that marks no steps: all that ran belongs to one, the whole window."""
    steps, parent = whole_window(trace), nesting.parents(trace)
    step_of_row = np.full(len(trace), OUTSIDE, dtype=np.int64)
    step_of_row[trace.rows(*CPU_SIDE)] = 0 if len(steps) else OUTSIDE
    return Window(
        trace=trace,
        label="",
        steps=steps,
        attribution=attribute(trace),
        step_of_work=np.full(len(trace.gpu.row), 0 if len(steps) else OUTSIDE, dtype=np.int64),
        step_of_row=step_of_row,
        parent=parent,
        own_ns=nesting.self_ns(trace, parent),
        labels=_labels(trace),
        lane=_busiest(trace, parent),
    )


def _labels(trace: Trace) -> Mapping[str, str]:
    return grammars.labels(trace.names[name] for name in np.unique(trace.name[trace.gpu.row]).tolist())


def _busiest(trace: Trace, parent: Int64) -> int:
    """The lane with most CPU time under operators, labels and CUDA calls; NONE where there are none."""
    rows = trace.rows(Kind.OP, Kind.ANNOTATION, *LAUNCHERS)
    rows = rows[parent[rows] == NONE]
    return int(np.argmax(np.bincount(trace.lane[rows], weights=trace.dur_ns[rows]))) if len(rows) else NONE


def _step_during(trace: Trace, steps: Steps, rows: Int64) -> Int64:
    """For each row, the step at whose time it starts: the profiler's own events are on no process of the program."""
    found = np.full(len(rows), OUTSIDE, dtype=np.int64)
    if len(steps):
        start = trace.start_ns[rows]
        place = np.searchsorted(steps.start_ns, start, side="right") - 1
        inside = (place >= 0) & (start < steps.end_ns[place])
        found[inside] = place[inside]
    return found
