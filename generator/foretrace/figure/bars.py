"""Charts of one bar a row: rates beside their ceilings, or the parts of a step, go in; SVG bytes come out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from foretrace.figure.canvas import Box, Canvas
from foretrace.figure.frame import (
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
from foretrace.figure.lettering import printable, width
from foretrace.figure.scale import Scale, from_zero, linear
from foretrace.figure.theme import Theme, known
from foretrace.stats import Summary
from foretrace.units import interval, quantity, scale

ROW, BAR = 28.0, 16.0  # heights, points
NARROWEST = 0.8  # points: a shorter bar could not be seen
SEAM = 0.5  # points between neighbours
FAR_APART = 50.0  # steps that differ by a larger factor are shown by their shares
HATCHES = (None, "/////", "\\\\\\\\\\", ".....")  # of the families of one colour, in order
READ_RATES = "The bar is the median, the whisker its interval; the tall mark is the ceiling, where one is known."
READ_FAMILIES = "GPU time of a step by families of its work; the total stands at the right."
IN_SHARES = (
    "Since the totals differ by more than a factor of 50, each bar is a whole step and its parts are shares of it."
)


def rates(
    rows: Sequence[tuple[str, Summary, float | None]],
    *,
    theme: Theme,
    title: str = "",
    unit: str = "tflops",
    caption: str = "",
) -> bytes:
    """A bar for each achieved rate, with its interval, and a tall mark where its ceiling is.

    At the right stand the rate, its interval, and its share of the ceiling. The axis is logarithmic where rates and
    ceilings span more than a factor of 50. A row whose rate is not finite is left out; so is a ceiling that is not
    finite or not positive.

    Args:
        rows: a label, the achieved rate and its ceiling in `unit`, or None where none is known.
        theme: `LIGHT` or `DARK`.
        title: the line above; empty for none.
        unit: a unit of `units`.
        caption: words below the chart.
    """
    drawn = [
        (label, found, ceiling if ceiling and 0 < ceiling < math.inf else None)
        for label, found, ceiling in rows
        if math.isfinite(found.median)
    ]
    said = [(_achieved(found, unit), _of_ceiling(found, ceiling, unit)) for _, found, ceiling in drawn]
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    track = draw_rows(canvas, [label for label, *_ in drawn], top, height=ROW, said=said)
    ends = [value for _, found, ceiling in drawn for value in (found.median, found.high, ceiling or 0.0)]
    axis = from_zero(ends, start=track.left, end=track.right - 2)
    below = draw_axis(canvas, axis, top=track.top, bottom=track.bottom, unit=unit)
    for (_, found, ceiling), middle in zip(drawn, track.middles, strict=True):
        wide = max(axis.place(found.median) - axis.start, NARROWEST)
        canvas.boxes([Box(axis.start, middle - BAR / 2, wide, BAR)], fill=theme.series[0])
        draw_whisker(canvas, found, axis, middle, half=4, rim=theme.background)
        if ceiling:
            canvas.lines([upright(axis.place(ceiling), middle, half=ROW / 2 - 2)], colour=theme.text, line=2.4)
    height = draw_caption(canvas, caption or READ_RATES, below)
    told = "; ".join(
        f"{printable(label)}: {rate}, {share}" for (label, *_), (rate, share) in zip(drawn, said, strict=True)
    )
    return canvas.svg(height=height, title=title or "Achieved rates", description=f"Rates and ceilings. {told}")


def _achieved(found: Summary, unit: str) -> str:
    """`712 TFLOP/s (705 … 716)`."""
    text, (step, _) = quantity(found.median, unit), scale(unit, found.median)
    return f"{text} ({interval(found.low / step, found.high / step, '')})" if found.count > 1 else text


def _of_ceiling(found: Summary, ceiling: float | None, unit: str) -> str:
    """`90.3 % of 788 TFLOP/s`."""
    if ceiling is None:
        return "no ceiling known"
    return f"{quantity(found.median / ceiling, 'share')} of {quantity(ceiling, unit)}"


def families(
    rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], *, theme: Theme, title: str = "", caption: str = ""
) -> bytes:
    """A stacked bar for each step: its GPU time by families of work, in one order for all rows.

    The family with the most time in all comes first. Families that share a colour are hatched differently; one that
    the theme does not know counts as `other`. Where the totals differ by more than a factor of 50, every bar has the
    full width and shows shares, and the caption says so. A part that is not positive is left out, and so is a row with
    a time that is not finite.

    Args:
        rows: a label, and the families of a step's work, each with its µs a step.
        theme: `LIGHT` or `DARK`.
        title: the line above; empty for none.
        caption: words below the chart.
    """
    steps = [(label, _merged(parts)) for label, parts in rows if math.isfinite(sum(value for _, value in parts))]
    totals = [sum(parts.values()) for _, parts in steps]
    in_shares = max(totals, default=0.0) > FAR_APART * min(filter(None, totals), default=0.0)
    unit = "share" if in_shares else "us"
    looks = _looks([parts for _, parts in steps], theme)
    canvas = Canvas(WIDTH, theme)
    top = draw_title(canvas, title)
    said = [[quantity(total, "us")] for total in totals]
    track = draw_rows(canvas, [label for label, _ in steps], top, height=ROW, said=said)
    axis = linear(0, 1 if in_shares else max(totals, default=0.0), start=track.left, end=track.right)
    below = draw_axis(canvas, axis, top=track.top, bottom=track.bottom, unit=unit)
    for (_, parts), total, middle in zip(steps, totals, track.middles, strict=True):
        whole = total if in_shares else 1.0
        shown = {family: value / whole for family, value in parts.items()}
        _draw_stack(canvas, shown, looks, axis, middle, unit=unit)
    words = (caption or READ_FAMILIES) + (f" {IN_SHARES}" if in_shares else "")
    height = draw_caption(canvas, words, draw_legend(canvas, looks.values(), below))
    told = "; ".join(
        f"{printable(label)}: {_told(parts, total)}" for (label, parts), total in zip(steps, totals, strict=True)
    )
    return canvas.svg(height=height, title=title or "Families of GPU work", description=f"GPU time of a step. {told}")


def _merged(parts: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The positive times by the families that the theme knows."""
    merged: dict[str, float] = {}
    for family, value in parts:
        if value > 0:
            merged[known(family)] = merged.get(known(family), 0.0) + value
    return merged


def _looks(steps: Sequence[Mapping[str, float]], theme: Theme) -> dict[str, Swatch]:
    """The families that occur, the longest in all first, each with a look of its own."""
    times = {family: sum(parts.get(family, 0.0) for parts in steps) for parts in steps for family in parts}
    alike: Counter[str] = Counter()
    looks = {}
    for family in sorted(times, key=lambda family: (-times[family], family)):
        fill = theme.work(family)
        hatch = HATCHES[alike[fill]]
        looks[family] = Swatch(text=family, fill=fill, edge=theme.ink(fill) if hatch else None, hatch=hatch)
        alike[fill] += 1
    return looks


def _draw_stack(
    canvas: Canvas, parts: Mapping[str, float], looks: Mapping[str, Swatch], axis: Scale, middle: float, *, unit: str
) -> None:
    """One bar; its parts are drawn from the right so that none covers a very short one at its left."""
    shown = [family for family in looks if family in parts]
    ends = list(accumulate(parts[family] for family in shown))
    for family, end in zip(reversed(shown), reversed(ends), strict=True):
        left, right = axis.place(end - parts[family]), axis.place(end)
        seam = SEAM if right - left > 6 * SEAM else 0.0
        box, look = Box(left, middle - BAR / 2, max(right - left - seam, NARROWEST), BAR), looks[family]
        canvas.boxes([box], fill=look.fill, edge=look.edge, line=0, hatch=look.hatch)
        texts = (f"{family} {quantity(parts[family], unit)}", family)
        _name(canvas, box, next((text for text in texts if width(text, SMALL) <= box.width - 6), ""), look)


def _name(canvas: Canvas, box: Box, text: str, look: Swatch) -> None:
    """Words inside a part, on a plain ground."""
    if not text:
        return
    wide = width(text, SMALL) + 4
    x = box.left + box.width / 2
    if look.hatch:
        canvas.boxes([Box(x - wide / 2, box.top + 2, wide, box.height - 4)], fill=look.fill)
    canvas.text((x, box.middle), text, size=SMALL, colour=canvas.theme.ink(look.fill), align="center")


def _told(parts: Mapping[str, float], total: float) -> str:
    """`64.1 µs (gemm 38.2 µs or 59.6 %, copy 25.9 µs or 40.4 %)`, the longest first."""
    longest_first = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
    each = ", ".join(
        f"{family} {quantity(value, 'us')} or {quantity(value / total, 'share')}" for family, value in longest_first
    )
    return f"{quantity(total, 'us')} ({each})" if each else quantity(total, "us")
