"""Charts with a row for each variant: samples or summaries go in, SVG bytes come out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foretrace.figure.canvas import Box, Canvas, Point
from foretrace.figure.frame import (
    RIGHT,
    SMALL,
    WIDTH,
    Swatch,
    draw_axis,
    draw_caption,
    draw_legend,
    draw_rows,
    draw_title,
    draw_whisker,
    upright,
)
from foretrace.figure.scale import Scale, around, from_zero
from foretrace.figure.theme import Theme
from foretrace.stats import Summary
from foretrace.units import interval, quantity

SAMPLES_ROW, BARS_ROW = 28.0, 34.0  # heights, points
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
    track = draw_rows(canvas, [label for label, *_ in drawn], top, height=SAMPLES_ROW, said=said)
    scale = around(values, start=track.left, end=track.right)
    below = draw_axis(canvas, scale, top=track.top, bottom=track.bottom, unit=unit)
    for (_, found, finite), middle in zip(drawn, track.middles, strict=True):
        canvas.dots(_jittered(finite, scale, middle), size=2.6, colour=theme.series[0])
        draw_whisker(canvas, found, scale, middle, half=7)
        canvas.lines([upright(scale.place(found.median), middle, half=9)], colour=theme.text, line=1.8)
    told = "One dot a sample; the tall mark is the median, the bar its interval."
    height = draw_caption(canvas, caption or told, below)
    medians = "; ".join(f"{label}: {text} ({more})" for (label, *_), (text, more) in zip(drawn, said, strict=True))
    return canvas.svg(height=height, title=title or "Samples", description=f"Medians and intervals. {medians}")


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
    track = draw_rows(canvas, [label for label, _, _ in rows], top, height=BARS_ROW)
    ends = [value for _, *pair in rows for found in pair for value in (found.median, found.high)]
    scale = from_zero(ends, start=track.left, end=WIDTH - RIGHT - 50)
    below = draw_axis(canvas, scale, top=track.top, bottom=track.bottom, unit="us")
    for (_, *pair), middle in zip(rows, track.middles, strict=True):
        for found, colour, y in zip(pair, colours, (middle - 6.5, middle + 6.5), strict=True):
            end = scale.place(found.median)
            canvas.boxes([Box(scale.start, y - 5.5, max(end - scale.start, 0.8), 11)], fill=colour)
            draw_whisker(canvas, found, scale, y, half=3, rim=theme.background)
            at = (max(end, scale.place(found.high)) + 5, y)
            canvas.text(at, quantity(found.median, "us"), size=SMALL)
    swatches = [Swatch(text=name, fill=colour) for name, colour in zip(names, colours, strict=True)]
    height = draw_caption(canvas, caption, draw_legend(canvas, swatches, below))
    told = "; ".join(
        f"{label}: {quantity(cpu.median, 'us')} and {quantity(gpu.median, 'us')}" for label, cpu, gpu in rows
    )
    return canvas.svg(height=height, title=title or "CPU and GPU time", description=f"{' and '.join(names)}. {told}")


def _jittered(values: Sequence[float], scale: Scale, middle: float) -> list[Point]:
    """The samples' places, moved up or down by their order of measurement so that equal ones show."""
    return [
        (scale.place(value), middle + 16 * ((number * _GOLDEN + 0.5) % 1 - 0.5)) for number, value in enumerate(values)
    ]
