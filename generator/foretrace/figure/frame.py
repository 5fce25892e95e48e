"""What all figures share: their width and font sizes, and the title, axis, legend and caption around the drawing.

Each function draws one part below `top` and gives the y where the next part may start, in points.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foretrace.figure.canvas import Box, Canvas
from foretrace.figure.lettering import fit, printable, width, wrap
from foretrace.figure.scale import Scale, tick_label

WIDTH, MARGIN, RIGHT = 680.0, 12.0, 20.0  # of a figure; around it; right of a time axis, for half a tick's label
TITLE, TEXT, SMALL = 12.0, 8.5, 8.0  # font sizes
TICKS = 8  # at most, on a horizontal axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Swatch:
    """An entry of a legend."""

    text: str
    fill: str
    edge: str | None = None
    hatch: str | None = None


def draw_title(canvas: Canvas, title: str) -> float:
    """The title, cut to the width, if there is one."""
    if not title:
        return MARGIN
    line = fit(title, WIDTH - 2 * MARGIN, TITLE, "bold")
    canvas.text((MARGIN, MARGIN + TITLE / 2), line, size=TITLE, weight="bold")
    return MARGIN + TITLE + 10


def draw_grid(canvas: Canvas, scale: Scale, *, top: float, bottom: float) -> None:
    """A vertical line at every tick of a horizontal axis."""
    lines = ([(x, top), (x, bottom + 3)] for x in map(scale.place, scale.ticks(TICKS)))
    canvas.lines(lines, colour=canvas.theme.grid, line=0.6)


def draw_tick_labels(canvas: Canvas, scale: Scale, top: float, *, unit: str) -> float:
    """The numbers of a horizontal axis; says so where it is logarithmic."""
    for tick in scale.ticks(TICKS):
        text = tick_label(tick, unit, axis=scale)
        canvas.text((scale.place(tick), top + 11), text, size=SMALL, colour=canvas.theme.muted, align="center")
    if scale.decades:
        canvas.text((MARGIN, top + 11), "log scale", size=SMALL, colour=canvas.theme.muted)
    return top + 32


def draw_legend(canvas: Canvas, swatches: Iterable[Swatch], top: float) -> float:
    """Swatches with their words, in as many lines as they need."""
    left, drawn = MARGIN, False
    for swatch in swatches:
        wide = 14 + width(printable(swatch.text), TEXT)
        if left > MARGIN and left + wide > WIDTH - MARGIN:
            left, top = MARGIN, top + 14
        canvas.boxes([Box(left, top - 4.5, 9, 9)], fill=swatch.fill, edge=swatch.edge, hatch=swatch.hatch)
        canvas.text((left + 14, top), swatch.text, size=TEXT)
        left, drawn = left + wide + 14, True
    return top + 14 if drawn else top


def draw_caption(canvas: Canvas, caption: str, top: float) -> float:
    """Muted words under the drawing."""
    for line in wrap(caption, WIDTH - 2 * MARGIN, SMALL):
        canvas.text((MARGIN, top), line, size=SMALL, colour=canvas.theme.muted)
        top += 11
    return top
