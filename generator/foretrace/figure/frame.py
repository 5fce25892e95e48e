"""What all figures share: their width and font sizes, and the title, rows, axis, legend and caption of the drawing.

Each function draws one part below `top`. One that is as wide as the figure gives the y where the next part may start,
in points.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from foretrace.figure.canvas import Box, Canvas, Point
from foretrace.figure.lettering import fit, printable, width, wrap
from foretrace.figure.scale import Scale, tick_label
from foretrace.figure.theme import GROUPS, Group, Theme
from foretrace.stats import Summary
from foretrace.units import quantity

WIDTH, MARGIN, RIGHT = 680.0, 12.0, 20.0  # of a figure; around it; right of a time axis, for half a tick's label
TITLE, TEXT, SMALL = 12.0, 8.5, 8.0  # font sizes
LEADING = 11.0  # from line to line
TICKS = 8  # at most, on a horizontal axis
NARROWEST_LABELS, WIDEST_LABELS = 48.0, 210.0  # of rows; "log scale" fits below the narrowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Swatch:
    """An entry of a legend."""

    text: str
    fill: str
    edge: str | None = None
    hatch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The tracks of a chart that has a row for each thing it shows."""

    left: float
    right: float
    top: float
    height: float  # of one row
    count: int

    @property
    def bottom(self) -> float:
        """The y below the last row."""
        return self.top + self.count * self.height

    @property
    def middles(self) -> list[float]:
        """The y of each row's horizontal centre line."""
        return [self.top + (row + 0.5) * self.height for row in range(self.count)]


def draw_title(canvas: Canvas, title: str) -> float:
    """The title, cut to the width, if there is one."""
    if not title:
        return MARGIN
    line = fit(title, WIDTH - 2 * MARGIN, TITLE, "bold")
    canvas.text((MARGIN, MARGIN + TITLE / 2), line, size=TITLE, weight="bold")
    return MARGIN + TITLE + 10


def draw_rows(
    canvas: Canvas, labels: Sequence[str], top: float, *, height: float, said: Sequence[Sequence[str]] = ()
) -> Rows:
    """The rows' tracks with a label at the left and, where something is `said`, its one or two lines at the right."""
    room = max([NARROWEST_LABELS, *(width(printable(label), TEXT) for label in labels)])
    left = MARGIN + min(room, WIDEST_LABELS) + 12
    wide = min(max((width(text, SMALL) for texts in said for text in texts), default=0.0), WIDEST_LABELS)
    rows = Rows(left=left, right=WIDTH - MARGIN - (wide + 12 if said else 0), top=top, height=height, count=len(labels))
    tracks = (Box(left, y - height / 2 + 1.5, rows.right - left, height - 3) for y in rows.middles)
    canvas.boxes(tracks, fill=canvas.theme.track)
    for label, y in zip(labels, rows.middles, strict=True):
        draw_label(canvas, label, Box(MARGIN, y - height / 2, left - MARGIN - 12, height))
    for texts, y in zip(said, rows.middles, strict=False):
        first = y - (len(texts) - 1) * LEADING / 2
        for line, (text, colour) in enumerate(zip(texts, (canvas.theme.text, canvas.theme.muted), strict=False)):
            canvas.text((rows.right + 12, first + line * LEADING), fit(text, wide, SMALL), size=SMALL, colour=colour)
    return rows


def draw_label(canvas: Canvas, label: str, box: Box) -> None:
    """A label in as many lines as its box holds, cut where it needs more."""
    lines = wrap(label, box.width, TEXT, most=max(int(box.height // LEADING), 1))
    for number, line in enumerate(lines):
        y = box.middle + (number - (len(lines) - 1) / 2) * LEADING
        canvas.text((box.left, y), line, size=TEXT)


def draw_whisker(
    canvas: Canvas, found: Summary, scale: Scale, y: float, *, half: float, rim: str | None = None
) -> None:
    """The interval of a median, with ends `half` points high; nothing where it is a single point.

    A `rim` in another colour sets it off a bar.
    """
    if found.high > found.low:
        low, high = scale.place(found.low), scale.place(found.high)
        lines = [[(low, y), (high, y)], upright(low, y, half=half), upright(high, y, half=half)]
        if rim:
            canvas.lines(lines, colour=rim, line=2.6)
        canvas.lines(lines, colour=canvas.theme.text, line=1)


def upright(x: float, y: float, *, half: float) -> list[Point]:
    """A vertical line around a point."""
    return [(x, y - half), (x, y + half)]


def draw_axis(canvas: Canvas, scale: Scale, *, top: float, bottom: float, unit: str) -> float:
    """A horizontal axis of round numbers: lines from `top` to `bottom`, and the numbers below.

    Says so where the axis is logarithmic, and writes no fraction of what is counted.
    """
    ticks = scale.ticks(TICKS, unit)
    _draw_grid(canvas, scale, ticks, top=top, bottom=bottom)
    shown = [tick for tick in ticks if unit != "count" or tick.is_integer()]
    _draw_numbers(canvas, scale, [(tick, tick_label(tick, unit, axis=scale)) for tick in shown], bottom + 11)
    if scale.decades:
        canvas.text((MARGIN, bottom + 11), "log scale", size=SMALL, colour=canvas.theme.muted)
    return bottom + 32


def draw_parameter(
    canvas: Canvas, scale: Scale, *, top: float, bottom: float, name: str, values: Sequence[float]
) -> float:
    """A horizontal axis of the values that a parameter took, in order: a line at each, numbers where there is room."""
    _draw_grid(canvas, scale, values, top=top, bottom=bottom)
    _draw_numbers(canvas, scale, [(value, quantity(value, "count")) for value in values], bottom + 11)
    middle = ((scale.start + scale.end) / 2, bottom + 25)
    canvas.text(middle, fit(name, scale.end - scale.start, TEXT), size=TEXT, align="center")
    return bottom + 44


def draw_legend(canvas: Canvas, swatches: Iterable[Swatch], top: float) -> float:
    """Swatches with their words, in as many lines as they need."""
    left, drawn = MARGIN, False
    for swatch in swatches:
        text = fit(swatch.text, WIDTH - 2 * MARGIN - 14, TEXT)
        wide = 14 + width(text, TEXT)
        if left > MARGIN and left + wide > WIDTH - MARGIN:
            left, top = MARGIN, top + 14
        canvas.boxes([Box(left, top - 4.5, 9, 9)], fill=swatch.fill, edge=swatch.edge, hatch=swatch.hatch)
        canvas.text((left + 14, top), text, size=TEXT)
        left, drawn = left + wide + 14, True
    return top + 14 if drawn else top


def work_swatches(families: Collection[str], theme: Theme) -> list[Swatch]:
    """What the colours of GPU work mean, for the families that occur."""
    groups: dict[Group, list[str]] = {}
    for family, group in GROUPS.items():
        if family in families:
            groups.setdefault(group, []).append(family)
    return [Swatch(text=", ".join(names), fill=theme.gpu[group]) for group, names in groups.items()]


def draw_caption(canvas: Canvas, caption: str, top: float) -> float:
    """Muted words under the drawing."""
    for line in wrap(caption, WIDTH - 2 * MARGIN, SMALL):
        canvas.text((MARGIN, top), line, size=SMALL, colour=canvas.theme.muted)
        top += LEADING
    return top


def _draw_grid(canvas: Canvas, scale: Scale, values: Iterable[float], *, top: float, bottom: float) -> None:
    lines = ([(x, top), (x, bottom + 3)] for x in map(scale.place, values))
    canvas.lines(lines, colour=canvas.theme.grid, line=0.6)


def _draw_numbers(canvas: Canvas, scale: Scale, numbers: Iterable[tuple[float, str]], y: float) -> None:
    """Values' texts below an axis, from the left; one that would touch its neighbour is left out."""
    free_from = -math.inf
    for value, text in numbers:
        at, half = scale.place(value), width(text, SMALL) / 2
        if at - half >= free_from:
            canvas.text((at, y), text, size=SMALL, colour=canvas.theme.muted, align="center")
            free_from = at + half + 4
