"""Charts of marks joined by lines: kernels over a parameter, or values before and after, go in; SVG bytes come out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from foretrace.figure.canvas import Canvas, Point
from foretrace.figure.frame import (
    MARGIN,
    TEXT,
    WIDTH,
    draw_axis,
    draw_caption,
    draw_legend,
    draw_parameter,
    draw_rows,
    draw_title,
    draw_whisker,
    work_swatches,
)
from foretrace.figure.lettering import fit, printable, width
from foretrace.figure.scale import around, logarithmic
from foretrace.figure.theme import Theme, known
from foretrace.stats import Summary
from foretrace.units import interval, quantity

CHOICES_ROW, CHANGES_ROW = 24.0, 30.0  # heights, points
MARK = 7.0  # points across
APART = 6.5  # points above and below a row's middle: before and after never cover each other
HEAD = 4.5  # points: of an arrow
READ_CHOICES = "A mark wherever a kernel ran; the line changes rows where another kernel takes over."
READ_CHANGES = "The arrow leads from the value before, the ring, to the value after, the dot; bars are intervals."
NO_PLACE = "Values left out, since a logarithmic axis has no place for them:"


def choices(
    rows: Sequence[tuple[str, str, Sequence[float]]],
    *,
    parameter: str,
    theme: Theme,
    title: str = "",
    caption: str = "",
) -> bytes:
    """Which kernel runs at which value of a parameter: a row a kernel, a mark a value, on a logarithmic axis.

    A line joins the marks of neighbouring values. It stays in its row where a kernel goes on, and changes rows halfway
    where one ends and another begins, one of its own family if there is any. A value that is not finite and positive
    has no place on the axis; the caption says how many are left out.

    Args:
        rows: a kernel's label, its family, and the values at which it ran, in the order of drawing.
        parameter: the name under the axis.
        theme: `LIGHT` or `DARK`.
        title: the line above; empty for none.
        caption: words below the chart.
    """
    ran = [sorted({value for value in values if 0 < value < math.inf}) for _, _, values in rows]
    values = sorted({value for its in ran for value in its})
    families = [known(family) for _, family, _ in rows]
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    track = draw_rows(canvas, [label for label, _, _ in rows], top, height=CHOICES_ROW)
    axis = logarithmic(values, start=track.left, end=track.right)
    name = f"{parameter} (log scale)"
    below = draw_parameter(canvas, axis, top=track.top, bottom=track.bottom, name=name, values=values)
    joins = [
        _stair((axis.place(low), track.middles[one]), (axis.place(high), track.middles[other]))
        for low, high in pairwise(values)
        for one, other in _followed(ran, families, low, high)
    ]
    canvas.lines(joins, colour=theme.muted, line=1.2)
    for its, family, middle in zip(ran, families, track.middles, strict=True):
        canvas.dots(((axis.place(value), middle) for value in its), size=MARK, colour=theme.work(family))
    lost = sum(len(set(values)) for _, _, values in rows) - sum(map(len, ran))
    left_out = f" {NO_PLACE} {lost}." if lost else ""
    below = draw_legend(canvas, work_swatches(families, theme), below)
    height = draw_caption(canvas, (caption or READ_CHOICES) + left_out, below)
    told = "; ".join(
        f"{printable(label)} ({family}): {', '.join(quantity(value, 'count') for value in its) or 'no value'}"
        for (label, _, _), family, its in zip(rows, families, ran, strict=True)
    )
    heading = f"Kernels by {printable(parameter)}"
    return canvas.svg(height=height, title=title or heading, description=f"{heading}. {told}.{left_out}")


def _followed(
    ran: Sequence[Sequence[float]], families: Sequence[str], low: float, high: float
) -> Iterator[tuple[int, int]]:
    """From `low` to `high`, the next value: which row each row goes on in, the same one or one that begins."""
    before, after = ([row for row, its in enumerate(ran) if value in its] for value in (low, high))
    ended, begun = ([row for row in one if row not in other] for one, other in ((before, after), (after, before)))
    yield from ((row, row) for row in before if row in after)
    pairs = [(row, other, families[row] == families[other]) for row in ended for other in begun]
    settled = {row for one, other, alike in pairs if alike for row in (one, other)}
    yield from ((one, other) for one, other, alike in pairs if alike or not {one, other} & settled)


def _stair(one: Point, other: Point) -> list[Point]:
    """From point to point: level, and upright halfway."""
    half = (one[0] + other[0]) / 2
    return [one, other] if one[1] == other[1] else [one, (half, one[1]), (half, other[1]), other]


def changes(
    rows: Sequence[tuple[str, Summary, Summary]],
    *,
    sides: tuple[str, str],
    theme: Theme,
    title: str = "",
    unit: str = "us",
    caption: str = "",
) -> bytes:
    """What a quantity was, a ring, and what it became, a dot below it, with an arrow from the one to the other.

    Whiskers show the interval of each median; both stand at the right. The axis is logarithmic where the values span
    more than a factor of 20; where they lie within a factor of 2, it does not start at 0. A row with a side that is not
    finite is left out.

    Args:
        rows: a label, the value before and the value after in `unit`, in the order of drawing.
        sides: what before and after are, in words.
        theme: `LIGHT` or `DARK`.
        title: the line above; empty for none.
        unit: a unit of `units`.
        caption: words below the chart.
    """
    drawn = [row for row in rows if math.isfinite(row[1].median) and math.isfinite(row[2].median)]
    said = [_change(before, after, unit) for _, before, after in drawn]
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    track = draw_rows(canvas, [label for label, _, _ in drawn], top, height=CHANGES_ROW, said=said)
    ends = [value for _, *pair in drawn for found in pair for value in (found.low, found.median, found.high)]
    axis = around(ends, start=track.left, end=track.right)
    below = draw_axis(canvas, axis, top=track.top, bottom=track.bottom, unit=unit)
    for (_, before, after), middle in zip(drawn, track.middles, strict=True):
        ring, dot = (axis.place(before.median), middle - APART), (axis.place(after.median), middle + APART)
        draw_whisker(canvas, before, axis, ring[1], half=4.5)
        draw_whisker(canvas, after, axis, dot[1], half=4.5)
        _draw_arrow(canvas, ring, dot)
        _draw_marks(canvas, ring, dot, inside=theme.track)
    height = draw_caption(canvas, caption or READ_CHANGES, _draw_key(canvas, sides, below))
    told = "; ".join(
        f"{printable(label)}: {', '.join(texts)}" for (label, _, _), texts in zip(drawn, said, strict=True)
    )
    heading = f"From {printable(sides[0])} to {printable(sides[1])}"
    return canvas.svg(height=height, title=title or heading, description=f"{heading}. {told}")


def _change(before: Summary, after: Summary, unit: str) -> list[str]:
    """`64.1 µs → 38.2 µs`, and the intervals where something was sampled."""
    sides = (before, after)
    lines = [" → ".join(quantity(found.median, unit) for found in sides)]
    if any(found.count > 1 for found in sides):
        lines.append(" → ".join(interval(found.low, found.high, unit) for found in sides))
    return lines


def _draw_marks(canvas: Canvas, ring: Point, dot: Point, *, inside: str) -> None:
    canvas.dots([ring, dot], size=MARK, colour=canvas.theme.series[0])
    canvas.dots([ring], size=MARK - 3, colour=inside)


def _draw_key(canvas: Canvas, sides: tuple[str, str], top: float) -> float:
    """Which side each mark is, in words; gives the y below."""
    words = [fit(side, WIDTH / 2 - MARGIN - 28, TEXT) for side in sides]
    first = MARGIN + MARK / 2
    second = first + 10 + width(words[0], TEXT) + 18
    _draw_marks(canvas, (first, top), (second, top), inside=canvas.theme.background)
    for x, text in zip((first, second), words, strict=True):
        canvas.text((x + 10, top), text, size=TEXT)
    return top + 14


def _draw_arrow(canvas: Canvas, tail: Point, tip: Point) -> None:
    """A line from the edge of one mark to the edge of the other one, with a head."""
    across, down = tip[0] - tail[0], tip[1] - tail[1]
    long = math.hypot(across, down)
    along, aside = (across / long, down / long), (-down / long, across / long)

    def at(ahead: float, beside: float = 0.0) -> Point:
        x, y = (tail[way] + ahead * along[way] + beside * aside[way] for way in (0, 1))
        return x, y

    end = long - MARK / 2
    canvas.lines([[at(MARK / 2), at(end - HEAD)]], colour=canvas.theme.muted, line=1.2)
    canvas.polygons([[at(end), at(end - HEAD, 2.2), at(end - HEAD, -2.2)]], fill=canvas.theme.muted)
