"""Quantities as text: numbers come in with a unit name, a short string that a page can print goes out.

Units are the field's: `us` (microseconds), `bytes`, `ratio` (a factor), `share` (0 … 1, printed as a percentage),
`count`, `registers`, `threads`, `tflops` (10¹² FLOP/s) and `gbps` (10⁹ bytes/s).
"""

from __future__ import annotations

import math

_TIME = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


def number(value: float) -> str:
    """Three significant digits and no exponent: `0.123`, `12.3`, `123`, `12,345`."""
    if not math.isfinite(value):
        return "n/a"
    magnitude = abs(value)
    if magnitude == 0 or magnitude >= 99.95:
        return f"{value:,.0f}"
    digits = 1 if magnitude >= 9.995 else 2 if magnitude >= 0.9995 else 3
    return f"{value:.{digits}f}"


def scale(unit: str, typical: float) -> tuple[float, str]:
    """The divisor and the printed unit that suit a whole column whose typical value is `typical`."""
    steps = _TIME if unit == "us" else _BYTES if unit == "bytes" else ()
    for step, name in steps:
        if abs(typical) >= step:
            return float(step), name
    if steps:
        step, name = steps[2] if unit == "us" else steps[-1]
        return float(step), name
    return {"share": (0.01, "%"), "ratio": (1.0, "×"), "tflops": (1.0, "TFLOP/s"), "gbps": (1.0, "GB/s")}.get(
        unit, (1.0, "")
    )


def quantity(value: float, unit: str, *, typical: float | None = None) -> str:
    """One value with its unit: `178 µs`, `32.0 MiB`, `94.1 %`, `2.13×`, `1,024`."""
    if not math.isfinite(value):
        return "n/a"
    if unit in {"count", "registers", "threads"} and float(value).is_integer():
        return f"{value:,.0f}"
    step, name = scale(unit, value if typical is None else typical)
    text = number(value / step)
    return f"{text}×" if name == "×" else f"{text} {name}".rstrip()


def interval(low: float, high: float, unit: str) -> str:
    """A closed interval in one unit: `171 … 179 µs`; an open end is left out as `≥` or `≤`."""
    if math.isinf(high):
        return f"≥ {quantity(low, unit)}"
    if math.isinf(low):
        return f"≤ {quantity(high, unit)}"
    step, name = scale(unit, high if abs(high) >= abs(low) else low)
    text = f"{number(low / step)} … {number(high / step)}"
    return f"{text}×" if name == "×" else f"{text} {name}".rstrip()
