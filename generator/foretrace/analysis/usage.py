"""How each GPU spent the recorded window: a `Window` comes in; busy, idle and communicating time by device go out.

All GPU work of that time counts, whoever launched it. Busy and idle make up the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from foretrace import grammars
from foretrace.analysis.intervals import union_ns
from foretrace.trace import Kind

if TYPE_CHECKING:
    from foretrace.analysis.window import Window
    from foretrace.trace import Int64


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU in the recorded window; times in µs."""

    device: int
    name: str  # hostile text; "" where the trace does not say
    streams: int  # with any work
    span_us: float  # the window: from the first step's start to the last end of a step or of work launched in one
    busy_us: float  # union of kernels, copies and memsets over streams
    idle_us: float  # the rest
    longest_idle_us: float
    communication_us: float  # union of the kernels that communicate
    exposed_us: float  # of that, while nothing else ran
    from_graphs: int  # pieces of work that a graph launch started: gaps between them can be the profiler's


def usage(window: Window) -> tuple[Usage, ...]:
    """Every GPU that did any work in the recorded window; nothing where there is no step or no GPU work."""
    if not len(window) or not len(window.trace.gpu.row):
        return ()
    ends = (window.steps.end_ns, window.trace.end_ns[window.rows_of(window.work)])
    start, end = window.start_ns, int(np.concatenate(ends).max())
    names = {device.index: device.name for device in window.trace.devices}
    devices = np.unique(window.trace.gpu.device).tolist()
    found = (_usage(window, device, names.get(device, ""), start, end) for device in devices)
    return tuple(each for each in found if each is not None and end > start)


def _usage(window: Window, device: int, name: str, start: int, end: int) -> Usage | None:
    trace, gpu = window.trace, window.trace.gpu
    own = np.flatnonzero(gpu.device == device)
    own = own[(trace.end_ns[gpu.row[own]] > start) & (trace.start_ns[gpu.row[own]] < end)]
    if not len(own):
        return None
    communicates = _communicates(window, own)
    begins, ends = (np.clip(column[gpu.row[own]], start, end) for column in (trace.start_ns, trace.end_ns))
    busy = union_ns(begins, ends)
    talking, rest = (union_ns(begins[part], ends[part]) for part in (communicates, ~communicates))
    return Usage(
        device=device,
        name=name,
        streams=len(np.unique(gpu.stream[own])),
        span_us=(end - start) / 1000,
        busy_us=busy / 1000,
        idle_us=(end - start - busy) / 1000,
        longest_idle_us=_longest_gap_ns(begins, ends, start, end) / 1000,
        communication_us=talking / 1000,
        exposed_us=(busy - rest) / 1000,
        from_graphs=int(np.count_nonzero(window.attribution.from_graph[own])),
    )


def _communicates(window: Window, work: Int64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    trace, rows = window.trace, window.rows_of(work)
    kernel = trace.kind[rows] == Kind.KERNEL
    names = np.unique(trace.name[rows[kernel]]).tolist()
    talking = [name for name in names if grammars.decode(trace.names[name]).family == "comm"]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = kernel & np.isin(trace.name[rows], talking)
    return found


def _longest_gap_ns(begins: Int64, ends: Int64, start: int, end: int) -> int:
    """The longest time within `start … end` that no interval covers."""
    order = np.argsort(begins, kind="stable")
    until = np.maximum.accumulate(np.append(start, ends[order]))
    return int(np.max(np.append(begins[order], end) - until).clip(min=0))
