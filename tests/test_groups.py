"""Rows by a key: what `Groups` finds in one sorted column is what looking at each row of a group would find."""

from __future__ import annotations

import numpy as np
from builders import op, trace
from hypothesis import given
from hypothesis import strategies as st

from foretrace.analysis.groups import NONE, Groups

rows_with_keys = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(-2, 3)), min_size=1, max_size=12)


@given(rows_with_keys, st.lists(st.tuples(st.integers(-3, 4), st.integers(0, 11)), max_size=8))
def test_the_latest_and_the_first_row_of_a_group_are_found(
    made: list[tuple[int, bool, int]], asked: list[tuple[int, int]]
) -> None:
    read = trace(*(op(f"n{at}{number}", at=at, us=1) for number, (at, _, _) in enumerate(made)))
    rows = np.array([row for row, (_, chosen, _) in enumerate(made) if chosen], dtype=np.int64)
    keys = np.array([made[row][2] for row in rows], dtype=np.int64)
    key = np.array([key for key, _ in asked], dtype=np.int64)
    at = np.array([row % len(made) for _, row in asked], dtype=np.int64)
    groups = Groups(read, rows, keys)
    number = groups.numbers(key)
    own = [[int(row) for row, its in zip(rows, keys, strict=True) if its == each] for each in key]
    before = [
        [row for row in group if read.start_ns[row] <= read.start_ns[place]]
        for group, place in zip(own, at, strict=True)
    ]
    assert groups.latest(number, at).tolist() == [max(group, default=NONE) for group in before]
    assert groups.first(number).tolist() == [min(group, default=NONE) for group in own]
    assert [groups.sizes()[each] if each != NONE else 0 for each in number] == [len(group) for group in own]
