"""What a timeline image shows: a trace comes in, a `facts.Timeline` of its first recorded steps goes out.

Lanes from the top: the steps, the nested work of the thread that runs them, the CUDA calls made in them, and each GPU
stream with the work that they launched. What is left out is said in the caption.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from foretrace import grammars
from foretrace.analysis.attribution import NONE
from foretrace.analysis.calls import CALLS
from foretrace.analysis.kernels import ACTIVITIES
from foretrace.analysis.nesting import depths, outermost_first
from foretrace.analysis.quantities import closing_synchronisation
from foretrace.analysis.window import Window, observe
from foretrace.facts import Arrow, Lane, Span, Timeline
from foretrace.trace import LAUNCHERS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foretrace.trace import Int64, Trace

MOST_SPANS = 400  # on a lane
MOST_ARROWS = 200
FINEST = 0.001  # of the width: where a lane has too many spans, those narrower than this are drawn as one


class _Scene(NamedTuple):
    """The part of a window that is shown."""

    window: Window
    shown: Int64  # the steps
    work: Int64  # the GPU activities that they launched
    calls: Int64  # the rows of the CUDA calls
    start_ns: int
    end_ns: int

    def us(self, time_ns: int) -> float:
        """A time of the trace on the image's axis."""
        return (time_ns - self.start_ns) / 1000


def timeline(trace: Trace, *, label: str, steps: int = 3) -> Timeline:
    """The timeline of the first recorded steps.

    Args:
        trace: the trace.
        label: the `record_function` label around each step.
        steps: how many steps to show at most.
    """
    return drawn(observe(trace, label), steps=steps)


def drawn(window: Window, *, steps: int = 3) -> Timeline:
    """The same of a window that is observed already."""
    if not len(window):
        return Timeline(end_us=0.0, lanes=(), arrows=(), borders_us=(), caption="No step was recorded.")
    scene = _scene(window, steps)
    streams = _streams(scene)
    lanes = (
        Lane(title="Steps", role="steps", spans=_in_order(_step_spans(scene))),
        Lane(title="CPU", role="cpu", spans=_in_order(_cpu_spans(scene))),
        Lane(title="CUDA calls", role="launch", spans=_in_order(_call_spans(scene))),
        *(Lane(title=title, role="gpu", spans=_in_order(_gpu_spans(scene, work))) for title, work in streams),
    )
    whole = tuple(lane for lane in lanes if lane.spans)
    end_us = scene.us(scene.end_ns)
    thinned = tuple(_thinned(lane, end_us) for lane in whole)
    first = len(whole) - len(streams)
    arrows = tuple(arrow for lane, (_, work) in enumerate(streams, first) for arrow in _arrows(scene, work, lane))
    ends = (window.steps.start_ns[scene.shown], window.steps.end_ns[scene.shown])
    return Timeline(
        end_us=end_us,
        lanes=thinned,
        arrows=arrows if len(arrows) <= MOST_ARROWS else (),
        borders_us=tuple(scene.us(edge) for edge in np.unique(np.concatenate(ends)).tolist()),
        caption=" ".join(_left_out(scene, whole, thinned, arrows)),
    )


def _scene(window: Window, steps: int) -> _Scene:
    trace, shown = window.trace, np.arange(max(1, min(steps, len(window))))
    work = np.flatnonzero(np.isin(window.step_of_work, shown))
    calls = trace.rows(*LAUNCHERS)
    calls = calls[np.isin(window.step_of_row[calls], shown)]
    closing = closing_synchronisation(window)
    if closing != NONE and len(shown) == len(window):
        calls = np.append(calls, closing)
    ends = (window.steps.end_ns[shown], trace.end_ns[window.rows_of(work)], trace.end_ns[calls])
    return _Scene(
        window=window,
        shown=shown,
        work=work,
        calls=calls,
        start_ns=window.start_ns,
        end_ns=int(np.concatenate(ends).max()),
    )


def _streams(scene: _Scene) -> list[tuple[str, Int64]]:
    """The lane title and the shown GPU work of each stream."""
    gpu = scene.window.trace.gpu
    pairs = sorted(set(zip(gpu.device[scene.work].tolist(), gpu.stream[scene.work].tolist(), strict=True)))
    several = len({device for device, _ in pairs}) > 1
    return [
        (
            f"GPU {device} stream {stream}" if several else f"GPU stream {stream}",
            scene.work[(gpu.device[scene.work] == device) & (gpu.stream[scene.work] == stream)],
        )
        for device, stream in pairs
    ]


def _step_spans(scene: _Scene) -> Iterator[Span]:
    window, steps = scene.window, scene.window.steps
    for step in scene.shown.tolist():
        start, end = int(steps.start_ns[step]), int(steps.end_ns[step])
        yield Span(
            start_us=scene.us(start),
            dur_us=(end - start) / 1000,
            name=window.name_of(step),
            label=window.name_of(step) if window.is_whole else f"step {int(steps.number[step])}",
            kind="step",
        )


def _cpu_spans(scene: _Scene) -> Iterator[Span]:
    """Operators and labels of the thread of the steps, and the profiler's own events where they interrupt them."""
    window = scene.window
    trace = window.trace
    rows = trace.rows(Kind.OP, Kind.ANNOTATION)
    mine = np.isin(window.step_of_row[rows], scene.shown) & (trace.lane[rows] == window.lane)
    rows = outermost_first(trace, rows[mine & ~np.isin(rows, window.steps.row)])
    around = 0 if window.is_whole else 1  # the step is drawn on a lane of its own
    depth = np.maximum(depths(window.parent, rows) - around, 0)
    for row, at in zip(rows.tolist(), depth.tolist(), strict=True):
        yield _cpu_span(scene, row, depth=at)
    for row in trace.rows(Kind.OVERHEAD).tolist():
        if window.step_of_row[row] in scene.shown:
            moment = trace.start_ns[row]
            around = depth[(trace.start_ns[rows] <= moment) & (moment < trace.end_ns[rows])]
            yield _cpu_span(scene, row, depth=int(around.max(initial=-1)) + 1)


def _call_spans(scene: _Scene) -> Iterator[Span]:
    for row in scene.calls.tolist():
        yield _cpu_span(scene, row, depth=0)


def _cpu_span(scene: _Scene, row: int, *, depth: int) -> Span:
    trace = scene.window.trace
    return Span(
        start_us=scene.us(int(trace.start_ns[row])),
        dur_us=int(trace.dur_ns[row]) / 1000,
        name=trace.text(row),
        label=trace.text(row),
        kind=CALLS[Kind(int(trace.kind[row]))],
        depth=depth,
    )


def _gpu_spans(scene: _Scene, work: Int64) -> Iterator[Span]:
    trace = scene.window.trace
    for row in scene.window.rows_of(work).tolist():
        activity, name = ACTIVITIES[Kind(int(trace.kind[row]))], trace.text(row)
        yield Span(
            start_us=scene.us(int(trace.start_ns[row])),
            dur_us=int(trace.dur_ns[row]) / 1000,
            name=name,
            label=scene.window.labels[name] or activity,
            kind=activity,
            family=grammars.decode(name).family if activity == "kernel" else activity,
        )


def _arrows(scene: _Scene, work: Int64, lane: int) -> Iterator[Arrow]:
    """From each launch to the first work that it started on a stream."""
    window, start = scene.window, scene.window.trace.start_ns
    linked = work[window.attribution.launch[work] != NONE]
    launches, first = np.unique(window.attribution.launch[linked], return_index=True)
    pairs = zip(launches.tolist(), window.rows_of(linked[first]).tolist(), strict=True)
    for launch, row in sorted(pairs, key=lambda pair: (start[pair[0]], start[pair[1]])):
        yield Arrow(from_us=scene.us(int(start[launch])), to_us=scene.us(int(start[row])), to_lane=lane)


def _in_order(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=lambda span: (span.start_us, span.depth, -span.dur_us, span.kind, span.name)))


def _thinned(lane: Lane, end_us: float) -> Lane:
    """A lane with so few spans that they can be seen: neighbours too narrow to be told apart are drawn as one."""
    spans, finest_us = lane.spans, FINEST * end_us
    while len(spans) > MOST_SPANS and finest_us < 2 * end_us:
        spans = tuple(_joined(lane.spans, finest_us))
        finest_us *= 2
    return msgspec.structs.replace(lane, spans=spans)


def _joined(spans: Sequence[Span], finest_us: float) -> Iterator[Span]:
    """Neighbours of one depth that are each narrower than `finest_us`, and together hardly wider, as one span."""
    group: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.depth, span.start_us, -span.dur_us)):
        first = group[0] if group else span
        narrow = max(first.dur_us, span.dur_us) < finest_us and span.start_us - first.start_us < 2 * finest_us
        if group and not (narrow and first.depth == span.depth):
            yield _as_one(group)
            group = []
        group.append(span)
    if group:
        yield _as_one(group)


def _as_one(group: Sequence[Span]) -> Span:
    """Several spans as one, which looks like those that take most of the time."""
    if len(group) == 1:
        return group[0]
    time: dict[tuple[str, str], float] = defaultdict(float)
    for span in group:
        time[span.kind, span.family] += span.dur_us
    main = max(group, key=lambda span: (time[span.kind, span.family], span.dur_us))
    start = min(span.start_us for span in group)
    alike = len({span.label for span in group}) == 1
    text = f"{len(group)} × {main.label}" if alike else f"{len(group)} spans, mostly {main.label}"
    return msgspec.structs.replace(
        main,
        start_us=start,
        dur_us=max(span.start_us + span.dur_us for span in group) - start,
        name=text,
        label=f"{len(group)} ×",
    )


def _left_out(scene: _Scene, whole: Sequence[Lane], lanes: Sequence[Lane], arrows: Sequence[Arrow]) -> Iterator[str]:
    """What the image does not show, a sentence each."""
    window, trace = scene.window, scene.window.trace
    if len(scene.shown) < len(window):
        yield f"The first {len(scene.shown)} of {len(window)} recorded steps."
    rows = trace.gpu.row
    seen = (trace.end_ns[rows] > scene.start_ns) & (trace.start_ns[rows] < scene.end_ns)
    seen[scene.work] = False
    if seen.any():
        yield f"Not drawn: {window.activities(np.flatnonzero(seen))} of this time that no shown step launched."
    for before, after in zip(whole, lanes, strict=True):
        if len(after.spans) < len(before.spans):
            yield f"{before.title}: {len(before.spans):,} spans drawn as {len(after.spans)}, narrow neighbours as one."
    if len(arrows) > MOST_ARROWS:
        yield f"The arrows of {len(arrows):,} launches are left out."
    elsewhere = trace.rows(Kind.OP)
    elsewhere = elsewhere[np.isin(window.step_of_row[elsewhere], scene.shown) & (trace.lane[elsewhere] != window.lane)]
    if len(elsewhere):
        yield f"Operators of other threads are left out: {len(elsewhere):,}."
