"""What the CPU called: a window comes in, `facts.Call` rows by name and the dispatch chain of a step go out."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import numpy as np

from foretrace.analysis.attribution import NONE
from foretrace.analysis.kernels import ACTIVITIES
from foretrace.analysis.nesting import depths, generations, outermost_first
from foretrace.analysis.steps import OUTSIDE
from foretrace.facts import Call, Link
from foretrace.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foretrace.analysis.window import Window
    from foretrace.trace import Int64

CALLS: Mapping[Kind, Literal["op", "annotation", "runtime", "driver", "overhead"]] = {
    Kind.OP: "op",
    Kind.ANNOTATION: "annotation",
    Kind.RUNTIME: "runtime",
    Kind.DRIVER: "driver",
    Kind.OVERHEAD: "overhead",
}
CHAIN: Mapping[Kind, Literal["op", "annotation", "runtime", "driver"]] = {
    Kind.OP: "op",
    Kind.ANNOTATION: "annotation",
    Kind.RUNTIME: "runtime",
    Kind.DRIVER: "driver",
}


def calls(window: Window) -> tuple[Call, ...]:
    """One row for each operator, label, CUDA call and profiler event by name, longest total first; steps are no rows.

    A call inside a call of the same name adds to its count, not to its total. Only what the recorded steps launched is
    counted as launched.
    """
    trace = window.trace
    rows = np.setdiff1d(trace.rows(*CALLS), window.steps.row)
    keys, key_of_row = _keys(window, rows)
    step = window.step_of_row[rows]
    recorded = step != OUTSIDE
    own = window.own_ns[rows]
    again = _inside_its_like(window, rows, key_of_row)
    kernels, gpu_ns = _launched(window, len(keys), dict(zip(rows.tolist(), key_of_row.tolist(), strict=True)))
    per_step = np.zeros((len(keys), len(window)), dtype=np.int64)
    np.add.at(per_step, (key_of_row[recorded], step[recorded]), 1)
    outside = np.bincount(key_of_row[~recorded], minlength=len(keys))
    total = np.bincount(key_of_row, weights=trace.dur_ns[rows] * (recorded & ~again), minlength=len(keys))
    alone = np.bincount(key_of_row, weights=own * recorded, minlength=len(keys))
    found = [
        Call(
            kind=CALLS[kind],
            name=name,
            per_step=tuple(per_step[key].tolist()),
            outside=int(outside[key]),
            total_us=float(total[key]) / 1000,
            self_us=float(alone[key]) / 1000,
            kernels=int(kernels[key].sum()),
            kernels_per_step=tuple(kernels[key].tolist()),
            gpu_us=float(gpu_ns[key]) / 1000,
        )
        for key, (kind, name) in enumerate(keys)
    ]
    return tuple(sorted(found, key=lambda call: (-call.total_us, call.kind, call.name)))


def chain(window: Window) -> tuple[Link, ...]:
    """What the thread of the steps ran in a typical step, in order: the step of median width, of two the narrower."""
    if not len(window):
        return ()
    trace, width = window.trace, window.steps.end_ns - window.steps.start_ns
    around = 0 if window.is_whole else 1  # the step itself is around all of them
    typical = int(np.argsort(width, kind="stable")[(len(width) - 1) // 2])
    step_row = int(window.steps.row[typical])
    rows = outermost_first(trace, trace.rows(*CHAIN))
    mine = (window.step_of_row[rows] == typical) & (trace.lane[rows] == window.lane) & (rows != step_row)
    rows = rows[mine]
    depth = depths(window.parent, rows) - around
    launched = _labels_by_launch(window, typical)
    return tuple(
        Link(
            depth=max(at, 0),
            kind=CHAIN[Kind(int(trace.kind[row]))],
            name=trace.text(row),
            start_us=int(trace.start_ns[row] - window.steps.start_ns[typical]) / 1000,
            dur_us=int(trace.dur_ns[row]) / 1000,
            launched=tuple(launched.get(row, ())),
        )
        for row, at in zip(rows.tolist(), depth.tolist(), strict=True)
    )


def _keys(window: Window, rows: Int64) -> tuple[list[tuple[Kind, str]], Int64]:
    """Kinds and names that occur, and for each row the place of its own."""
    trace = window.trace
    both = np.stack([trace.kind[rows].astype(np.int64), trace.name[rows].astype(np.int64)])
    unique, place = np.unique(both, axis=1, return_inverse=True)
    return [(Kind(kind), trace.names[name]) for kind, name in unique.T.tolist()], place.reshape(-1)


def _inside_its_like(window: Window, rows: Int64, key_of_row: Int64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows have a row of the same kind and name around them."""
    key_of = np.full(len(window.trace), NONE, dtype=np.int64)
    key_of[rows] = key_of_row
    found = np.zeros(len(rows), dtype=np.bool_)
    for place, ancestor in generations(window.parent, rows):
        found[place[key_of[ancestor] == key_of_row[place]]] = True
    return found


def _launched(window: Window, count: int, key_of: Mapping[int, int]) -> tuple[Int64, Int64]:
    """Kernels by step, and GPU time in ns, launched inside each key's rows; each piece of work once for a key."""
    trace, works = window.trace, window.work
    rows = window.rows_of(works)
    is_kernel, dur_ns = trace.kind[rows] == Kind.KERNEL, trace.dur_ns[rows]
    cause = window.attribution.cause[works]
    pairs = {(at, key_of[row]) for at, row in enumerate(cause.tolist()) if row in key_of}
    for place, ancestor in generations(window.parent, cause):
        pairs.update(
            (at, key_of[row]) for at, row in zip(place.tolist(), ancestor.tolist(), strict=True) if row in key_of
        )
    pairs.update((at, key_of[row]) for at, row in _under_labels(window, cause) if row in key_of)
    kernels, gpu_ns = np.zeros((count, len(window)), dtype=np.int64), np.zeros(count, dtype=np.int64)
    if pairs:
        at, key = np.array(sorted(pairs)).T
        np.add.at(kernels, (key, window.step_of_work[works][at]), is_kernel[at])
        np.add.at(gpu_ns, key, dur_ns[at])
    return kernels, gpu_ns


def _under_labels(window: Window, cause: Int64) -> Iterator[tuple[int, int]]:
    """What other threads launched while a label of the steps' thread lasted, as autograd does: its place, the label."""
    trace = window.trace
    elsewhere = np.flatnonzero((cause != NONE) & (trace.lane[cause] != window.lane))
    elsewhere = elsewhere[np.argsort(trace.start_ns[cause[elsewhere]], kind="stable")]
    starts = trace.start_ns[cause[elsewhere]]
    labels = window.rows_in_steps(Kind.ANNOTATION) if len(elsewhere) else ()
    for row in (int(label) for label in labels if trace.lane[label] == window.lane):
        first, last = np.searchsorted(starts, [trace.start_ns[row], trace.end_ns[row]])
        yield from ((at, row) for at in elsewhere[first:last].tolist())


def _labels_by_launch(window: Window, step: int) -> dict[int, list[str]]:
    """For each launching row of a step, the labels of its GPU work as it started."""
    trace, works = window.trace, window.work_of(step)
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for launch, row in zip(window.attribution.launch[works].tolist(), window.rows_of(works).tolist(), strict=True):
        label = window.labels[trace.text(row)] or ACTIVITIES[Kind(int(trace.kind[row]))]
        found[launch].append((int(trace.start_ns[row]), label))
    return {launch: [label for _, label in sorted(labels)] for launch, labels in found.items()}
