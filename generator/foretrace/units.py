"""Quantities as text: numbers come in with a unit name, a short string that a page can print goes out.

Units are the field's: `us` (microseconds), `bytes`, `flop` (floating-point operations), `ratio` (a factor), `share`
(0 … 1, printed as a percentage), `count`, `registers`, `threads`, `tflops` (10¹² FLOP/s) and `gbps` (10⁹ bytes/s).
"""

from __future__ import annotations

import math
import re
from typing import Literal

Unit = Literal["us", "bytes", "flop", "ratio", "share", "count", "registers", "threads", "tflops", "gbps"]

_SCALES = {
    "us": ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
    "flop": ((1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "kFLOP"), (1.0, "FLOP")),
}
_FIXED = {"share": (0.01, "%"), "ratio": (1.0, "×"), "tflops": (1.0, "TFLOP/s"), "gbps": (1.0, "GB/s")}
_WHOLE = {"count", "registers", "threads", "bytes", "flop"}
_MOST_DECIMALS = 6


def number(value: float) -> str:
    """Three significant digits and no exponent: `0.0123`, `1.23`, `123`, `12,345`; what is smaller than 10⁻⁶ is `0`."""
    if not math.isfinite(value):
        return "n/a"
    exponent = int(f"{value:.2e}".partition("e")[2])  # of the rounded value: 99.96 has the digits of 100
    text = f"{value:,.{min(max(2 - exponent, 0), _MOST_DECIMALS)}f}"
    return text if text.strip("-0.") else "0"


def scale(unit: str, typical: float) -> tuple[float, str]:
    """The divisor and the printed unit that suit a whole column whose typical value is `typical`.

    It is the largest step of which the typical value, as printed, is at least one: 999.6 µs are 1.00 ms.
    """
    if unit not in _SCALES:
        return _FIXED.get(unit, (1.0, ""))
    if typical == 0 or not math.isfinite(typical):
        return next((step, name) for step, name in _SCALES[unit] if step == 1.0)
    steps = _SCALES[unit]
    return next((step for step in steps if abs(typical) >= 0.9995 * step[0]), steps[-1])


def quantity(value: float, unit: str, *, typical: float | None = None) -> str:
    """One value with its unit: `178 µs`, `32.0 MiB`, `94.1 %`, `2.13×`, `1,024`."""
    if not math.isfinite(value):
        return "n/a"
    step, name = scale(unit, value if typical is None else typical)
    return _joined(_scaled(value, unit, step), name)


def interval(low: float, high: float, unit: str) -> str:
    """A closed interval in one unit: `171 … 179 µs`.

    An open end is left out (`≥ 171 µs`, `≤ 179 µs`), and ends that print alike are one value.
    """
    if math.isnan(low) or math.isnan(high):
        return "n/a"
    if math.isinf(low) and math.isinf(high):
        return "any"
    if math.isinf(high):
        return f"≥ {quantity(low, unit)}"
    if math.isinf(low):
        return f"≤ {quantity(high, unit)}"
    step, name = scale(unit, max(abs(low), abs(high)))
    first, last = _scaled(low, unit, step), _scaled(high, unit, step)
    return _joined(first if first == last else f"{first} … {last}", name)


def natural(name: str) -> tuple[str, str]:
    """What names sort by, so that `rank2` comes before `rank10`: a number counts by its length, then by its digits."""
    return re.sub(r"0*([0-9]+)", lambda found: f"{len(found[1]):04}{found[1]}", name), name


def _scaled(value: float, unit: str, step: float) -> str:
    whole = unit in _WHOLE and step == 1 and float(value).is_integer()
    return f"{int(value):,}" if whole else number(value / step)


def _joined(text: str, name: str) -> str:
    return f"{text}×" if name == "×" else f"{text} {name}".rstrip()
