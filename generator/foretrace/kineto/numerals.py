"""Numbers as a trace spells them: what comes in are JSON numbers or text, what goes out are integer columns.

A time in µs that came through a float64 is exact to the ns below 2**43 (102 days) if its text has three decimals:
the float is within 2**-11 µs = 0.49 ns of the text. Beyond, the caller must bring the digits.
"""

from __future__ import annotations

from decimal import Decimal, DecimalException
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from foretrace.trace import Int32, Int64

UNSAID = -1  # an integer that the trace does not give
NEVER = -(2**63)  # a time that the trace does not give
_EXACT_BELOW = 2.0**43
_MOST_NS = 2**61  # so that differences and sums of two times stay inside int64


def nanoseconds(microseconds: Sequence[object]) -> Int64 | None:
    """Times in µs as whole ns, `NEVER` where one is missing or not finite.

    Returns:
        None where a float stands for digits it cannot hold; `exact_nanoseconds` of the digits is the way then.
    """
    try:
        us = np.array(microseconds)
        if us.dtype == np.int64 and np.all(np.abs(us) < _MOST_NS // 1000):
            return us * 1000
        us = us.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    known = np.isfinite(us)
    if not np.all(np.abs(us[known]) < _EXACT_BELOW):
        return None
    column = np.full(len(us), NEVER, dtype=np.int64)
    column[known] = np.rint(us[known] * 1000)
    return column


def exact_nanoseconds(microseconds: Sequence[object]) -> Int64:
    """Times in µs as whole ns, digit by digit; `NEVER` where one is missing, no number or beyond 73 years."""
    return np.array([_exact_ns(value) for value in microseconds], dtype=np.int64)


def _exact_ns(value: object) -> int:
    text = bytes(value).decode().strip('"') if isinstance(value, msgspec.Raw) else str(value)
    whole, _, decimals = text.partition(".")
    if len(decimals) <= 3 and len(whole) < 17 and (whole + decimals).isdecimal():
        return int(whole + decimals.ljust(3, "0"))
    try:
        ns = (Decimal(text) * 1000).to_integral_value()
        return int(ns) if abs(ns) < _MOST_NS else NEVER
    except (DecimalException, ValueError, OverflowError):
        return NEVER


def integers(values: Sequence[object]) -> Int64:
    """Integers given as numbers or text, `UNSAID` where one is missing, fractional or beyond int64."""
    column = _already_integers(values)
    return np.array([_integer(value) for value in values], dtype=np.int64) if column is None else column


def identifiers(values: Sequence[object]) -> Int64:
    """Ids given as numbers or text, `UNSAID` where one is missing; one beyond int64 is folded into it, still an id."""
    column = _already_integers(values)
    return np.array([_identifier(value) for value in values], dtype=np.int64) if column is None else column


def _already_integers(values: Sequence[object]) -> Int64 | None:
    try:
        column = np.array(values)
    except (TypeError, ValueError, OverflowError):
        return None
    return column if column.dtype == np.int64 and column.ndim == 1 else None


def _integer(value: object) -> int:
    try:
        exact = Decimal(str(value).strip())
        number = int(exact) if abs(exact) < 2**63 else UNSAID
    except (DecimalException, ValueError, OverflowError):
        return UNSAID
    return number if number == exact else UNSAID


def _identifier(value: object) -> int:
    number = _integer(value)
    text = str(value).strip()
    return int(text) % 2**63 if number == UNSAID and text.isdecimal() and len(text) < 100 else number


def floats(values: Sequence[object]) -> NDArray[np.float32]:
    """Numbers given as numbers or text, NaN where one is missing or is none."""
    with np.errstate(over="ignore"):  # what is too large for the column is none
        try:
            column = np.array(values, dtype=np.float32)
        except (TypeError, ValueError, OverflowError):
            column = np.array([_float(value) for value in values], dtype=np.float32)
    column[~np.isfinite(column)] = np.nan
    return column


def _float(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return float("nan")


def shapes(values: Sequence[object]) -> Int32:
    """Launch shapes of three integers, as rows; `UNSAID` throughout a row that has none."""
    rows = [value if isinstance(value, list) and len(value) == 3 else (UNSAID,) * 3 for value in values]
    try:
        return np.array(rows, dtype=np.int32).reshape(-1, 3)
    except (TypeError, ValueError, OverflowError):
        return (
            np.clip(integers([size for row in rows for size in row]), UNSAID, 2**31 - 1).astype(np.int32).reshape(-1, 3)
        )


def narrow(column: Int64) -> Int32:
    """An int64 column as int32, `UNSAID` where a value does not fit."""
    return np.where((column >= -1) & (column < 2**31), column, UNSAID).astype(np.int32)
