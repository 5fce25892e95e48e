"""The timeline: a `facts.Timeline` goes in, an image of its lanes over one time axis comes out as SVG bytes.

From the top: steps, nested CPU work, CUDA calls, one lane for each GPU stream, and arrows from the call that launched
GPU work to where it ran.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from foretrace.facts import Lane, Span, Timeline
from foretrace.figure.canvas import Box, Canvas
from foretrace.figure.frame import (
    MARGIN,
    RIGHT,
    TEXT,
    WIDTH,
    Swatch,
    draw_axis,
    draw_caption,
    draw_label,
    draw_legend,
    draw_title,
    work_swatches,
)
from foretrace.figure.lettering import fit, printable, width
from foretrace.figure.scale import Scale, linear
from foretrace.figure.theme import Theme, known
from foretrace.units import quantity

ROW_HEIGHT = {"steps": 17.0, "cpu": 15.0, "launch": 17.0, "gpu": 29.0}
GAP, ARROW_GAP = 7.0, 20.0  # above a lane; above the first GPU lane, where the arrows need room
NARROWEST = 0.8  # points: a shorter box could not be seen
SEAM = 0.5  # points between neighbours
MAX_ROWS = 12  # of nested CPU work
TELLING = 12  # characters: a label cut shorter says less than its family
FEW_ARROWS = 24  # more are drawn thinner
_CPU_LEGEND = ("annotation", "operator", "runtime call", "driver call", "synchronisation", "profiler overhead")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """How a span is drawn, and what the legend calls it."""

    fill: str
    legend: str = ""
    edge: str | None = None
    hatch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Band:
    """A lane on the paper."""

    lane: Lane
    top: float
    rows: int

    @property
    def row_height(self) -> float:
        return ROW_HEIGHT[self.lane.role]

    @property
    def bottom(self) -> float:
        return self.top + self.rows * self.row_height


def timeline(shown: Timeline, *, theme: Theme, title: str = "") -> bytes:
    """The image of a timeline.

    Boxes too short to be seen are drawn 0.8 points wide, so the widths of very short ones do not compare. A label
    stands inside its box, beside it where the lane is free, or nowhere; GPU work is labelled with its duration too.
    CPU work nested deeper than 12 rows is left out, and the caption says so.

    Args:
        shown: what to draw; its names may hold any text.
        theme: `LIGHT` or `DARK`.
        title: the line above it; empty for none.

    Returns:
        An SVG document, 680 points wide, the same bytes for the same arguments.
    """
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    bands = _stack(shown.lanes, top)
    scale = linear(0, shown.end_us, start=MARGIN + _gutter(shown.lanes), end=WIDTH - RIGHT)
    below = _draw_ground(canvas, bands, scale, top=top, borders=shown.borders_us)
    _draw_arrows(canvas, shown, bands, scale)
    for band in bands:
        _draw_band(canvas, band, scale)
    swatches = _legend([span for lane in shown.lanes for span in lane.spans], theme)
    height = draw_caption(canvas, _caption(shown), draw_legend(canvas, swatches, below))
    return canvas.svg(height=height, title=title or "Timeline", description=_description(shown))


def _stack(lanes: Sequence[Lane], top: float) -> list[_Band]:
    """The lanes one below the other."""
    bands: list[_Band] = []
    for lane in lanes:
        first_gpu = lane.role == "gpu" and bool(bands) and bands[-1].lane.role != "gpu"
        gap = (ARROW_GAP if first_gpu else GAP) if bands else 0.0
        rows = 1 + max((span.depth for span in lane.spans), default=0) if lane.role == "cpu" else 1
        bands.append(_Band(lane=lane, top=top + gap, rows=min(rows, MAX_ROWS)))
        top = bands[-1].bottom
    return bands


def _gutter(lanes: Sequence[Lane]) -> float:
    """The room for the lanes' titles."""
    return min(max((width(printable(lane.title), TEXT) for lane in lanes), default=0.0), 96.0) + 10


def _look(span: Span, theme: Theme) -> _Look:
    """The look of a span by what it is."""
    if span.kind in {"kernel", "memcpy", "memset"}:
        return _Look(fill=theme.work(_family(span)))
    if span.kind in {"runtime", "driver"} and "synchronize" in span.name.lower():
        return _Look(fill=theme.sync, legend="synchronisation")
    if span.kind == "overhead":
        return _Look(fill=theme.overhead, legend="profiler overhead", edge=theme.muted, hatch="/////")
    if span.kind == "op":
        return _Look(fill=theme.ops[min(max(span.depth - 1, 0), len(theme.ops) - 1)], legend="operator")
    legend = {"runtime": "runtime call", "driver": "driver call", "annotation": "annotation", "step": ""}[span.kind]
    fill = {"runtime": theme.runtime, "driver": theme.driver, "annotation": theme.annotation, "step": theme.step}
    return _Look(fill=fill[span.kind], legend=legend)


def _family(span: Span) -> str:
    return known(span.family or span.kind)


def _placed(band: _Band, scale: Scale) -> Iterator[tuple[Span, Box]]:
    """The visible spans of a lane with their boxes, in order of their starts."""
    for span in sorted(band.lane.spans, key=lambda span: (span.start_us, span.depth)):
        end = span.start_us + span.dur_us
        if end < scale.low or span.start_us > scale.high or span.depth >= MAX_ROWS:
            continue
        left, right = scale.place(span.start_us), scale.place(end)
        top = band.top + (span.depth * band.row_height if band.lane.role == "cpu" else 0)
        seam = SEAM if right - left > 6 * SEAM else 0.0
        yield span, Box(left, top + SEAM, max(right - left - seam, NARROWEST), band.row_height - 2 * SEAM)


def _draw_ground(
    canvas: Canvas, bands: Sequence[_Band], scale: Scale, *, top: float, borders: Iterable[float]
) -> float:
    """Everything behind the boxes: empty tracks, lane titles, the axis and step borders; gives the y below it."""
    theme, bottom = canvas.theme, bands[-1].bottom if bands else top
    canvas.boxes((Box(scale.start, b.top, scale.end - scale.start, b.bottom - b.top) for b in bands), fill=theme.track)
    below = draw_axis(canvas, scale, top=top, bottom=bottom, unit="us")
    dashes = ([(x, top), (x, bottom)] for x in map(scale.place, borders))
    canvas.lines(dashes, colour=theme.border, line=0.8, dash=(3, 2.4))
    for band in bands:
        draw_label(canvas, band.lane.title, Box(MARGIN, band.top, scale.start - MARGIN - 6, band.bottom - band.top))
    return below


def _draw_arrows(canvas: Canvas, shown: Timeline, bands: Sequence[_Band], scale: Scale) -> None:
    """From each launching call down to the GPU work it started."""
    ends = []
    for arrow in shown.arrows:
        source = _source(bands, arrow.from_us)
        if source and 0 <= arrow.from_us <= shown.end_us and 0 <= arrow.to_us <= shown.end_us:
            target = bands[arrow.to_lane]
            ends.append(((scale.place(arrow.from_us), source.bottom), (scale.place(arrow.to_us), target.top)))
    canvas.curves(ends, colour=canvas.theme.border, line=0.8 if len(ends) <= FEW_ARROWS else 0.5)
    canvas.polygons((((x - 2, y - 3.6), (x + 2, y - 3.6), (x, y)) for _, (x, y) in ends), fill=canvas.theme.border)


def _source(bands: Sequence[_Band], from_us: float) -> _Band | None:
    """The lane that an arrow leaves: that of the launch around `from_us`, else the lowest lane of the CPU."""
    launches = [band for band in bands if band.lane.role == "launch"]
    for band in launches:
        if any(span.start_us <= from_us <= span.start_us + span.dur_us for span in band.lane.spans):
            return band
    return next(iter(launches or [band for band in reversed(bands) if band.lane.role == "cpu"]), None)


def _draw_band(canvas: Canvas, band: _Band, scale: Scale) -> None:
    """The boxes of a lane, those of one look together, and their labels."""
    placed = list(_placed(band, scale))
    looks = [_look(span, canvas.theme) for span, _ in placed]
    for look in dict.fromkeys(looks):
        alike = [box for (_, box), its in zip(placed, looks, strict=True) if its == look]
        canvas.boxes(alike, fill=look.fill, edge=look.edge, hatch=look.hatch)
    if band.lane.role in {"launch", "gpu"}:
        _label_flat(canvas, placed, [look.fill for look in looks], free=(scale.start, scale.end))
        return
    for (span, box), look in zip(placed, looks, strict=True):
        if band.lane.role == "steps":
            text = _first_fitting((f"{span.label} · {_took(span)}", span.label), box)
            canvas.label(box, text, size=TEXT, fill=look.fill, align="center")
        elif not look.hatch:
            text = _first_fitting((span.label, span.label.rpartition("::")[2]), box)
            canvas.label(box, text, size=TEXT, fill=look.fill)


def _label_flat(
    canvas: Canvas, placed: Sequence[tuple[Span, Box]], fills: Sequence[str], *, free: tuple[float, float]
) -> None:
    """Label the boxes of a lane without nesting: inside, beside where the lane is free, or inside by their family."""
    taken, end = free
    for number, ((span, box), fill) in enumerate(zip(placed, fills, strict=True)):
        following = placed[number + 1][1].left if number + 1 < len(placed) else end
        lines = [span.label, _took(span)] if box.height > 20 else [span.label]
        wide = max(width(printable(line), TEXT) for line in lines)
        left = _beside(box, wide, after=taken, before=following)
        taken = max(box.right, taken)
        if left is None:
            lines[0] = _told_apart(span, box.width - 6)
            left, room, colour = box.left + 3, box.width - 6, canvas.theme.ink(fill)
        else:
            room, colour, taken = wide, canvas.theme.text, max(taken, left + wide)
            over_lines = Box(left - 1.5, box.top, wide + 3, box.height)
            canvas.boxes([over_lines], fill=canvas.theme.track)
        fitting = [text for line in lines if (text := fit(line, room, TEXT))]
        for row, text in enumerate(fitting):
            y = box.middle + (row - (len(fitting) - 1) / 2) * 11
            canvas.text((left, y), text, size=TEXT, colour=colour)


def _beside(box: Box, wide: float, *, after: float, before: float) -> float | None:
    """Where a label that its box cannot hold starts: right of the box, else left of it; None where it stays inside."""
    if wide <= box.width - 6:
        return None
    if wide <= before - box.right - 6:
        return box.right + 3
    if wide <= box.left - after - 6:
        return box.left - 3 - wide
    return None


def _first_fitting(texts: Sequence[str], box: Box) -> str:
    """The first of `texts` that fits into the box whole, else the last one."""
    return next((text for text in texts if width(printable(text), TEXT) <= box.width - 6), texts[-1])


def _told_apart(span: Span, room: float) -> str:
    """A span's label where enough of it fits to tell it from others, else its family."""
    seen = fit(span.label, room, TEXT)
    return span.label if seen == printable(span.label) or len(seen) > TELLING else span.family


def _took(span: Span) -> str:
    return quantity(span.dur_us, "us")


def _legend(spans: Sequence[Span], theme: Theme) -> list[Swatch]:
    """What the colours mean, for those that occur: CPU work first, then families of GPU work."""
    by_depth = sorted(spans, key=lambda span: -span.depth)
    cpu = {look.legend: look for look in (_look(span, theme) for span in by_depth) if look.legend}
    families = {_family(span) for span in spans if span.kind in {"kernel", "memcpy", "memset"}}
    looks = [cpu[name] for name in _CPU_LEGEND if name in cpu]
    swatches = [Swatch(text=look.legend, fill=look.fill, edge=look.edge, hatch=look.hatch) for look in looks]
    return swatches + work_swatches(families, theme)


def _caption(shown: Timeline) -> str:
    deeper = sum(span.depth >= MAX_ROWS for lane in shown.lanes for span in lane.spans)
    more = f"{deeper} calls nested deeper than {MAX_ROWS} rows are not drawn." if deeper else ""
    return f"{shown.caption} {more}".strip()


def _description(shown: Timeline) -> str:
    """The image in words."""
    kinds: Mapping[str, int] = Counter(span.kind for lane in shown.lanes for span in lane.spans)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing"
    lanes = ", ".join(lane.title for lane in shown.lanes)
    lasting = quantity(shown.end_us, "us")
    return f"Timeline over {lasting}; lanes from the top: {lanes}; spans: {counted}. {_caption(shown)}".strip()
