"""A quantity over a numeric parameter: lines with intervals go in, a log-log chart comes out as SVG bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foretrace.figure.canvas import Box, Canvas, Point
from foretrace.figure.frame import (
    MARGIN,
    SMALL,
    TEXT,
    WIDTH,
    draw_caption,
    draw_parameter,
    draw_title,
)
from foretrace.figure.lettering import fit, printable, width
from foretrace.figure.scale import Scale, logarithmic, tick_label
from foretrace.figure.theme import Theme
from foretrace.page.models import Series

HEIGHT = 210.0  # of the plot, points
AXIS = 46.0  # left of the plot, for the numbers
WIDEST_NAMES = 150.0
LINE_HEIGHT = 12.0
_MARKERS: tuple[tuple[Point, ...], ...] = (  # around the point, in units of its radius
    tuple((math.cos(math.radians(a)), math.sin(math.radians(a))) for a in range(0, 360, 20)),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    ((0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)),
    ((0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)),
    ((-0.4, -1.2), (0.4, -1.2), (0.4, 1.2), (-0.4, 1.2)),
)


def sweep(
    series: Sequence[Series],
    *,
    parameter: str,
    theme: Theme,
    unit: str = "us",
    title: str = "",
    caption: str = "",
) -> bytes:
    """Lines over a numeric parameter, both axes logarithmic, each point with its interval and each line with its name.

    Where the lines of CPU dispatch and GPU busy cross, a step turns from overhead-bound to bound by the GPU. Points
    that are not positive have no place on the axes and are left out.

    Args:
        series: the lines; at most six tell apart.
        parameter: the name under the horizontal axis.
        theme: `LIGHT` or `DARK`.
        unit: a unit of `units`, of the vertical axis.
        title: the line above; empty for none.
        caption: words below the chart.
    """
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    names = min(max((width(printable(line.label), TEXT) for line in series), default=0.0), WIDEST_NAMES)
    plot = Box(MARGIN + AXIS, top, WIDTH - 2 * MARGIN - AXIS - names - 20, HEIGHT)
    across = logarithmic([x for line in series for x in line.x], start=plot.left, end=plot.right)
    up = logarithmic([v for line in series for v in (*line.y, *line.low, *line.high)], start=plot.bottom, end=plot.top)
    xs = sorted({x for line in series for x in line.x if x > 0})
    _draw_ground(canvas, plot, up, unit=unit)
    below = draw_parameter(canvas, across, top=plot.top, bottom=plot.bottom, name=parameter, values=xs)
    ends: list[tuple[float, int]] = []
    for number, line in enumerate(series):
        points = _draw_line(canvas, line, across, up, number=number)
        if points:
            ends.append((points[-1][1], number))
    for y, number in _apart(ends, lowest=plot.bottom):
        _mark(canvas, [(plot.right + 8, y)], number=number)
        canvas.text((plot.right + 16, y), fit(series[number].label, names, TEXT), size=TEXT)
    height = draw_caption(canvas, caption, below)
    lines = ", ".join(line.label for line in series)
    return canvas.svg(height=height, title=title or f"Sweep over {parameter}", description=f"{lines} over {parameter}")


def _draw_ground(canvas: Canvas, plot: Box, up: Scale, *, unit: str) -> None:
    """Everything behind the lines but the horizontal axis: the plot's ground, and round numbers at the left."""
    theme = canvas.theme
    canvas.boxes([plot], fill=theme.track)
    ticks = up.ticks(8, unit)
    canvas.lines(([(plot.left - 3, y), (plot.right, y)] for y in map(up.place, ticks)), colour=theme.grid, line=0.6)
    for tick in ticks:
        text = tick_label(tick, unit, axis=up)
        canvas.text((plot.left - 6, up.place(tick)), text, size=SMALL, colour=theme.muted, align="right")


def _draw_line(canvas: Canvas, line: Series, across: Scale, up: Scale, *, number: int) -> list[Point]:
    """A line with its intervals and markers; gives its points on the paper, from the left."""
    known = sorted(p for p in zip(line.x, line.y, line.low, line.high, strict=True) if p[0] > 0 and p[1] > 0)
    colour = canvas.theme.series[number % len(canvas.theme.series)]
    points = [(across.place(x), up.place(y)) for x, y, _, _ in known]
    canvas.lines([points] if points else [], colour=colour, line=1.6, dash=None if number < 2 else (4, 3))
    bars = [(across.place(x), up.place(low), up.place(high)) for x, _, low, high in known if high > low]
    canvas.lines(([(x, low), (x, high)] for x, low, high in bars), colour=colour, line=1.2)
    caps = [[(x - 3, y), (x + 3, y)] for x, low, high in bars for y in (low, high) if abs(low - high) > 2]
    canvas.lines(caps, colour=colour, line=1.2)
    _mark(canvas, points, number=number)
    return points


def _mark(canvas: Canvas, points: Sequence[Point], *, number: int) -> None:
    """A line's own marker at each point."""
    shape = _MARKERS[number % len(_MARKERS)]
    colour = canvas.theme.series[number % len(canvas.theme.series)]
    canvas.polygons(([(x + 3 * dx, y + 3 * dy) for dx, dy in shape] for x, y in points), fill=colour)


def _apart(ends: Sequence[tuple[float, int]], *, lowest: float) -> list[tuple[float, int]]:
    """The ends of the lines, moved so far up that their names do not overlap."""
    placed: list[tuple[float, int]] = []
    for y, number in sorted(ends, reverse=True):
        placed.append((min(y, lowest), number))
        lowest = placed[-1][0] - LINE_HEIGHT
    return placed
