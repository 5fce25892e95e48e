"""Charts with a row for each variant: samples or summaries go in, SVG bytes come out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foretrace.figure.canvas import Box, Canvas, Point
from foretrace.figure.frame import (
    MARGIN,
    RIGHT,
    SMALL,
    TEXT,
    WIDTH,
    Swatch,
    draw_caption,
    draw_grid,
    draw_legend,
    draw_tick_labels,
    draw_title,
)
from foretrace.figure.lettering import fit, printable, width
from foretrace.figure.scale import Scale, linear, logarithmic
from foretrace.figure.theme import Theme
from foretrace.stats import Summary
from foretrace.units import interval, quantity

SAMPLES_ROW, BARS_ROW = 28.0, 34.0  # heights, points
WIDEST_LABELS = 210.0
SPREAD_OUT = 20.0  # samples that differ by a larger factor are drawn on a logarithmic axis
BARS_SPREAD_OUT = 50.0
_GOLDEN = 0.618033988749895  # the fractional parts of its multiples never cluster


def samples(
    rows: Sequence[tuple[str, Summary, Sequence[float]]],
    *,
    theme: Theme,
    title: str = "",
    unit: str = "us",
    caption: str = "",
) -> bytes:
    """Every sample of every variant as a dot, with the median and the interval that the tables state beside it.

    The axis is logarithmic where the samples span more than a factor of 20; where they lie within a factor of 2, it
    does not start at 0. A sample that is not finite is left out, and so is a variant without a sample.

    Args:
        rows: a label, the summary and the samples in `unit`, one triple a variant, in the order of drawing.
        theme: `LIGHT` or `DARK`.
        title: the line above; empty for none.
        unit: a unit of `units`.
        caption: words below the chart.
    """
    drawn = [
        (label, found, finite) for label, found, values in rows if (finite := [v for v in values if math.isfinite(v)])
    ]
    values = [value for *_, finite in drawn for value in finite]
    said = [
        (quantity(found.median, unit), interval(found.low, found.high, unit) if found.count > 1 else "one sample")
        for _, found, _ in drawn
    ]
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    left, right = _labels(canvas, [label for label, *_ in drawn], top, height=SAMPLES_ROW), _room_for(said)
    scale = _around(values, start=left, end=right)
    bottom = _ground(canvas, scale, Box(left, top, right - left, SAMPLES_ROW), rows=len(drawn))
    middles = [top + (number + 0.5) * SAMPLES_ROW for number in range(len(drawn))]
    for (_, found, finite), texts, middle in zip(drawn, said, middles, strict=True):
        canvas.dots(_jittered(finite, scale, middle), size=2.6, colour=theme.series[0])
        _whisker(canvas, found, scale, middle, half=7)
        canvas.lines([_upright(scale.place(found.median), middle, half=9)], colour=theme.text, line=1.8)
        for text, colour, y in zip(texts, (theme.text, theme.muted), (middle - 5, middle + 6), strict=True):
            canvas.text((right + 12, y), text, size=SMALL, colour=colour)
    top = draw_tick_labels(canvas, scale, bottom, unit=unit)
    top = draw_caption(canvas, caption or "One dot a sample; the tall mark is the median, the bar its interval.", top)
    medians = "; ".join(f"{label}: {text} ({more})" for (label, *_), (text, more) in zip(drawn, said, strict=True))
    return canvas.svg(height=top, title=title or "Samples", description=f"Medians and intervals. {medians}")


def cpu_gpu(rows: Sequence[tuple[str, Summary, Summary]], *, theme: Theme, title: str = "", caption: str = "") -> bytes:
    """Two bars for each variant: how long the CPU dispatches a step, and how long the GPU is busy with it.

    Whiskers show the interval of each median; the axis is logarithmic where the medians span more than a factor of 50.

    Args:
        rows: a label, the CPU dispatch time and the GPU busy time in µs, one triple a variant.
        theme: `LIGHT` or `DARK`.
        title: the line above; empty for none.
        caption: words below the chart.
    """
    names, colours = ("CPU dispatch", "GPU busy"), theme.series[:2]
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    left = _labels(canvas, [label for label, _, _ in rows], top, height=BARS_ROW)
    ends = [value for _, *pair in rows for found in pair for value in (found.median, found.high)]
    scale = _from_zero(ends, start=left, end=WIDTH - RIGHT - 50)
    bottom = _ground(canvas, scale, Box(left, top, WIDTH - MARGIN - left, BARS_ROW), rows=len(rows))
    for number, (_, *pair) in enumerate(rows):
        middle = top + (number + 0.5) * BARS_ROW
        for found, colour, y in zip(pair, colours, (middle - 6.5, middle + 6.5), strict=True):
            end = scale.place(found.median)
            canvas.boxes([Box(scale.start, y - 5.5, max(end - scale.start, 0.8), 11)], fill=colour)
            _whisker(canvas, found, scale, y, half=3)
            at = (max(end, scale.place(found.high)) + 5, y)
            canvas.text(at, quantity(found.median, "us"), size=SMALL)
    top = draw_tick_labels(canvas, scale, bottom, unit="us")
    swatches = [Swatch(text=name, fill=colour) for name, colour in zip(names, colours, strict=True)]
    top = draw_caption(canvas, caption, draw_legend(canvas, swatches, top))
    told = "; ".join(
        f"{label}: {quantity(cpu.median, 'us')} and {quantity(gpu.median, 'us')}" for label, cpu, gpu in rows
    )
    return canvas.svg(height=top, title=title or "CPU and GPU time", description=f"{' and '.join(names)}. {told}")


def _labels(canvas: Canvas, labels: Sequence[str], top: float, *, height: float) -> float:
    """The rows' labels; gives where the drawing may start at their right."""
    room = min(max((width(printable(label), TEXT) for label in labels), default=0.0), WIDEST_LABELS)
    for number, label in enumerate(labels):
        canvas.text((MARGIN, top + (number + 0.5) * height), fit(label, room, TEXT), size=TEXT)
    return MARGIN + room + 12


def _room_for(said: Sequence[tuple[str, str]]) -> float:
    """Where the drawing must end so that the numbers at its right have room."""
    return WIDTH - MARGIN - 12 - max((width(text, SMALL) for texts in said for text in texts), default=0.0)


def _ground(canvas: Canvas, scale: Scale, first: Box, *, rows: int) -> float:
    """The rows' tracks, the first one given, and the grid lines; gives the y below them."""
    bottom = first.top + rows * first.height
    tracks = [
        Box(first.left, first.top + row * first.height + 1.5, first.width, first.height - 3) for row in range(rows)
    ]
    canvas.boxes(tracks, fill=canvas.theme.track)
    draw_grid(canvas, scale, top=first.top, bottom=bottom)
    return bottom


def _around(values: Sequence[float], *, start: float, end: float) -> Scale:
    """A scale for dots: close around values of the same size, from 0, or logarithmic."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low > 0 and high > SPREAD_OUT * low:
        return logarithmic(values, start=start, end=end)
    air = 0.04 * (high - low) or 0.02 * abs(high)
    return linear(low - air if high < 2 * low else min(low, 0.0), high + air, start=start, end=end)


def _from_zero(values: Sequence[float], *, start: float, end: float) -> Scale:
    """A scale for bars: from 0, or logarithmic."""
    finite = [value for value in values if math.isfinite(value)] or [1.0]
    positive = [value for value in finite if value > 0] or [1.0]
    if max(positive) > BARS_SPREAD_OUT * min(positive):
        return logarithmic([min(positive) / 2, *positive], start=start, end=end)  # so that the shortest bar shows
    return linear(0, max(positive), start=start, end=end)


def _jittered(values: Sequence[float], scale: Scale, middle: float) -> list[Point]:
    """The samples' places, moved up or down by their order of measurement so that equal ones show."""
    return [
        (scale.place(value), middle + 16 * ((number * _GOLDEN + 0.5) % 1 - 0.5)) for number, value in enumerate(values)
    ]


def _whisker(canvas: Canvas, found: Summary, scale: Scale, y: float, *, half: float) -> None:
    """The interval of a median, with ends `half` points high; nothing where it is a single point."""
    if found.high > found.low:
        low, high = scale.place(found.low), scale.place(found.high)
        canvas.lines([[(low, y), (high, y)]], colour=canvas.theme.text, line=1)
        canvas.lines([_upright(low, y, half=half), _upright(high, y, half=half)], colour=canvas.theme.text, line=1)


def _upright(x: float, y: float, *, half: float) -> list[Point]:
    return [(x, y - half), (x, y + half)]
