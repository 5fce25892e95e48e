"""Intervals of time: start and end columns in ns come in, the time that at least one of them covers goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from foretrace.trace import Int64


def union_ns(start: Int64, end: Int64) -> int:
    """The length of the union of the half-open intervals `[start, end)`, in ns; order does not matter."""
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    covered_until = np.maximum.accumulate(end)
    fresh_from = np.maximum(start[1:], covered_until[:-1])
    return int(end[0] - start[0]) + int(np.maximum(end[1:] - fresh_from, 0).sum())
