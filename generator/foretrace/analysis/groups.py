"""Rows of a trace by a key: keys and rows come in, the latest row of a key at any place in the trace goes out.

Everything is searched for in one sorted column: a trace in which all rows have one key costs no more than others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from foretrace.trace import Int64, Trace

NONE = -1


class Groups:
    """Rows of `trace` by their key; rows of a trace are in start order, and so they are in each group.

    Args:
        trace: where the rows are.
        rows: row numbers, ascending.
        key: of each row, any integers.
    """

    def __init__(self, trace: Trace, rows: Int64, key: Int64) -> None:
        self.keys, group = np.unique(key, return_inverse=True)
        self._start = trace.start_ns
        self._count = max(len(trace), 1)
        self._places = np.sort(group.reshape(-1) * self._count + rows)  # a group's number and a row in one integer

    def numbers(self, key: Int64) -> Int64:
        """The number of each key's group, `NONE` where it has none."""
        number = np.searchsorted(self.keys, key)
        known = number < len(self.keys)
        known[known] = self.keys[number[known]] == key[known]
        return np.where(known, number, NONE)

    def sizes(self) -> Int64:
        """The number of rows of each group."""
        return np.bincount(self._places // self._count, minlength=len(self.keys))

    def latest(self, number: Int64, rows: Int64) -> Int64:
        """For each group's number and row, the group's last row that starts at or before that row, else `NONE`."""
        at = np.searchsorted(self._start, self._start[rows], side="right") - 1
        place = np.searchsorted(self._places, number * self._count + at, side="right") - 1
        found = np.append(self._places, NONE)[place]
        return np.where((number != NONE) & (found // self._count == number), found % self._count, NONE)

    def first(self, number: Int64) -> Int64:
        """For each group's number, its first row; `NONE` where there is no group."""
        found = np.append(self._places, NONE)[np.searchsorted(self._places, number * self._count)]
        return np.where(number != NONE, found % self._count, NONE)
