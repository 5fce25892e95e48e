"""The recorded steps: a trace comes in, the CPU intervals of its steps and the step of every GPU activity go out.

GPU work belongs to the step whose CPU interval launched it, not to the one during which it happened to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foretrace.analysis.attribution import NONE, processes
from foretrace.analysis.groups import Groups
from foretrace.trace import GPU_WORK, LAUNCHERS, STEP, Kind

if TYPE_CHECKING:
    from foretrace.analysis.attribution import Attribution
    from foretrace.trace import Int64, Trace

OUTSIDE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of a trace in start order; times in ns since the trace's origin."""

    row: Int64  # NONE where the whole window stands for one
    number: Int64  # n of ProfilerStep#n
    start_ns: Int64
    end_ns: Int64

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self.row)


def find_steps(trace: Trace) -> Steps:
    """The `ProfilerStep#n` annotations on the CPU; their mirror image on the GPU's lanes is no step."""
    matches = [STEP.fullmatch(name) for name in trace.names]
    number_of_name = np.array([int(match[1]) if match else NONE for match in matches] or [NONE], dtype=np.int64)
    annotations = trace.rows(Kind.ANNOTATION)
    number = number_of_name[trace.name[annotations]]
    row = annotations[number != NONE]
    return Steps(row=row, number=number[number != NONE], start_ns=trace.start_ns[row], end_ns=trace.end_ns[row])


def whole_window(trace: Trace) -> Steps:
    """For a trace that marks no steps: one, from the first start to the last end of what ran on CPU or GPU.

    No step where nothing ran. A Python frame may overrun the window, and a profiler's own span is no work.
    """
    rows = trace.rows(Kind.OP, Kind.ANNOTATION, *LAUNCHERS, *GPU_WORK)
    if not len(rows):
        return find_steps(trace)
    return Steps(
        row=np.array([NONE]),
        number=np.array([NONE]),
        start_ns=trace.start_ns[rows].min(keepdims=True),
        end_ns=trace.end_ns[rows].max(keepdims=True),
    )


def step_at(trace: Trace, steps: Steps, rows: Int64) -> Int64:
    """For each CPU row, the index in `steps` of the step of its process within which it starts, else `OUTSIDE`."""
    process = processes(trace)
    of_process = Groups(trace, steps.row, process[trace.lane[steps.row]])
    found = of_process.latest(of_process.numbers(process[trace.lane[rows]]), rows)
    known = np.flatnonzero(found != NONE)
    inside = known[trace.start_ns[rows[known]] < trace.end_ns[found[known]]]
    step = np.full(len(rows), OUTSIDE, dtype=np.int64)
    step[inside] = np.searchsorted(steps.row, found[inside])
    return step


def step_of_gpu_work(trace: Trace, steps: Steps, attribution: Attribution) -> Int64:
    """For each GPU activity, the index in `steps` of the step that launched it, else `OUTSIDE`."""
    cause = attribution.cause
    found = np.full(len(cause), OUTSIDE, dtype=np.int64)
    known = cause != NONE
    found[known] = step_at(trace, steps, cause[known])
    return found
