"""Which CPU event ran inside which: a trace comes in, the innermost event around each event of its thread goes out.

Operators, labels and CUDA calls nest; Python frames are left out, since the profiler lets them overrun their callers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foretrace.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretrace.trace import Int64, Trace

NONE = -1
NESTED = (Kind.ANNOTATION, Kind.OP, Kind.RUNTIME, Kind.DRIVER)  # outermost first where two cover the same time
TOLERANCE_NS = 1000  # a child may end this much after its parent: old profilers rounded to whole microseconds


def parents(trace: Trace) -> Int64:
    """For each row of `trace`, the row of the innermost event around it on its thread, else `NONE`.

    The answer does not depend on the order of events in the file: of two that cover the same time, the one whose kind
    comes first in `NESTED`, then whose name or correlation id sorts first, is the outer one.
    """
    parent = np.full(len(trace), NONE, dtype=np.int64)
    rows = outermost_first(trace, trace.rows(*NESTED))
    start, end = trace.start_ns[rows].tolist(), trace.end_ns[rows].tolist()
    lane = trace.lane[rows].tolist()
    open_rows: list[int] = []  # places in `rows`, outermost first
    for place, row in enumerate(rows.tolist()):
        if open_rows and lane[open_rows[-1]] != lane[place]:
            open_rows.clear()
        while open_rows and end[open_rows[-1]] <= start[place]:
            open_rows.pop()
        around = next((each for each in reversed(open_rows) if end[place] <= end[each] + TOLERANCE_NS), None)
        if around is not None:
            parent[row] = rows[around]
        open_rows.append(place)
    return parent


def outermost_first(trace: Trace, rows: Int64) -> Int64:
    """`rows` lane by lane in start order, an outer event before the inner ones that start with it."""
    rank = np.zeros(max(Kind) + 1, dtype=np.int64)
    rank[list(NESTED)] = np.arange(len(NESTED))
    alphabetical = np.empty(len(trace.names), dtype=np.int64)
    alphabetical[sorted(range(len(trace.names)), key=trace.names.__getitem__)] = np.arange(len(trace.names))
    name, kind = alphabetical[trace.name[rows]], rank[trace.kind[rows]]
    keys = (trace.correlation[rows], name, kind, -trace.dur_ns[rows], trace.start_ns[rows], trace.lane[rows])
    return rows[np.lexsort(keys)]


def self_ns(trace: Trace, parent: Int64) -> Int64:
    """For each row of `trace`, its duration without its children and without what the profiler itself took in it.

    Never negative. The profiler's own events are on no thread of the program: one counts against the innermost event of
    each thread that lasts from before it until after it.
    """
    inside = np.flatnonzero(parent != NONE)
    around = parent[inside]
    until = np.minimum(trace.end_ns[inside], trace.end_ns[around])
    taken = np.bincount(around, weights=until - trace.start_ns[inside], minlength=len(trace))
    own = trace.dur_ns - taken.astype(np.int64)
    nested = trace.rows(*NESTED)
    for row in trace.rows(Kind.OVERHEAD).tolist():
        begins, ends = trace.start_ns[row], trace.end_ns[row]
        around_it = nested[(trace.start_ns[nested] <= begins) & (trace.end_ns[nested] >= ends)]
        own[np.setdiff1d(around_it, parent[around_it])] -= trace.dur_ns[row]
    return np.maximum(own, 0)


def generations(parent: Int64, rows: Int64) -> Iterator[tuple[Int64, Int64]]:
    """Walk outwards from `rows`: each time, the places in `rows` that have one more ancestor, and those ancestors."""
    place, ancestor = np.arange(len(rows)), parent[rows]
    while len(place := place[ancestor != NONE]):
        ancestor = ancestor[ancestor != NONE]
        yield place, ancestor
        ancestor = parent[ancestor]


def depths(parent: Int64, rows: Int64) -> Int64:
    """How many events are around each of `rows`."""
    depth = np.zeros(len(rows), dtype=np.int64)
    for place, _ in generations(parent, rows):
        depth[place] += 1
    return depth


def innermost(trace: Trace, parent: Int64, rows: Int64, kind: Kind) -> Int64:
    """For each of `rows`, the innermost event of one kind around it, else `NONE`."""
    found = np.full(len(rows), NONE, dtype=np.int64)
    for place, ancestor in generations(parent, rows):
        fitting = (trace.kind[ancestor] == kind) & (found[place] == NONE)
        found[place[fitting]] = ancestor[fitting]
    return found
