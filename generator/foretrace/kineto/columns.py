"""Events gathered block by block: what comes in are lists of `Event`s, what stays are numpy columns and interned names.

Memory follows the columns, not the JSON: no event outlives the block it came in.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from foretrace.kineto.events import decode_exact_times
from foretrace.kineto.numerals import (
    UNSAID,
    exact_nanoseconds,
    floats,
    identifiers,
    integers,
    nanoseconds,
    narrow,
    shapes,
)
from foretrace.trace import GPU_WORK, STEP, GpuColumns, Kind, Lane

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foretrace.kineto.events import Event
    from foretrace.trace import Int32, Int64

CATEGORIES = {
    "cpu_op": Kind.OP,
    "operator": Kind.OP,  # PyTorch 1.8, like the other short names
    "user_annotation": Kind.ANNOTATION,
    "python_function": Kind.PYTHON,
    "runtime": Kind.RUNTIME,
    "kernel": Kind.KERNEL,
    "gpu_memcpy": Kind.MEMCPY,
    "memcpy": Kind.MEMCPY,
    "gpu_memset": Kind.MEMSET,
    "memset": Kind.MEMSET,
    "gpu_user_annotation": Kind.GPU_ANNOTATION,
    "overhead": Kind.OVERHEAD,
}
LEGACY_PROCESSES = {"CPU functions": Kind.OP, "CUDA functions": Kind.GPU_ANNOTATION}  # before Kineto: no categories


def kind_of(category: str, name: str) -> Kind:
    """What a complete event is by its category; a step is an annotation, whatever its category was called."""
    folded = category.lower()
    kind = CATEGORIES.get(folded)
    if kind is Kind.OP and STEP.fullmatch(name):
        return Kind.ANNOTATION
    if kind is None and folded.endswith("_runtime"):
        return Kind.RUNTIME
    if kind is None and folded.endswith("_driver"):
        return Kind.DRIVER
    return Kind.OTHER if kind is None else kind


class Interned(dict[Any, int]):
    """Numbers things in the order they first come."""

    def __missing__(self, key: object) -> int:
        """The next number, which `key` keeps."""
        number = self[key] = len(self)
        return number


@dataclass(frozen=True, slots=True)
class Rows:
    """Complete events in file order; `start` and `dur` may still be `NEVER` or negative."""

    label: Int32
    lane: Int32
    start: Int64
    dur: Int64
    correlation: Int64
    external: Int64
    python: Int32

    @classmethod
    def joined(cls, blocks: Sequence[Self]) -> Self:
        """The blocks end to end; empty columns where there are none."""
        if not blocks:
            nothing, none = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
            return cls(none, none, nothing, nothing, nothing, nothing, none)
        return cls(*(np.concatenate([getattr(block, column.name) for block in blocks]) for column in fields(cls)))


class Columns:
    """Collects events; `rows`, `gpu`, `kinds`, `names` and `lanes` are what they came to."""

    def __init__(self) -> None:
        self._labels = Interned()  # (category, name) of a complete event
        self._kinds: list[Kind] = []  # of each label
        self._lanes = Interned()  # (pid, tid)
        self._blocks: list[Rows] = []
        self._gpu: list[GpuColumns] = []
        self._count = 0
        self._thread_names: dict[tuple[int | str, int | str], str] = {}

    def __len__(self) -> int:
        """The number of complete events so far."""
        return self._count

    def add(self, events: Sequence[Event], text: bytes) -> None:
        """Take in a block of events of any phase.

        Args:
            events: in file order.
            text: a JSON list with their `ts` and `dur` digit for digit, such as they were decoded from.
        """
        complete = [event for event in events if event.ph == "X"]
        if len(complete) < len(events):
            self._name_threads(event for event in events if event.ph == "M" and event.name == "thread_name")
        if not complete:
            return
        labels = [self._labels[event.cat, event.name] for event in complete]
        self._classify()
        lanes = [self._lanes[event.pid, event.tid] for event in complete]
        args = [event.args for event in complete]
        external = identifiers([each.external for each in args])
        start, dur = _times(events, complete, text)
        self._blocks.append(
            Rows(
                label=np.array(labels, dtype=np.int32),
                lane=np.array(lanes, dtype=np.int32),
                start=start,
                dur=dur,
                correlation=identifiers([each.correlation for each in args]),
                external=np.where(external == UNSAID, identifiers([each.external_1_8 for each in args]), external),
                python=narrow(integers([each.python for each in args])),
            )
        )
        work = np.flatnonzero(np.isin(self.kinds()[labels], GPU_WORK))
        if len(work):
            self._gpu.append(_gpu_columns([complete[number] for number in work], work + self._count))
        self._count += len(complete)

    def rows(self) -> Rows:
        """All complete events, in file order."""
        return Rows.joined(self._blocks)

    def gpu(self) -> GpuColumns:
        """What GPU rows have besides, in file order; `row` counts complete events."""
        blocks = self._gpu or [_gpu_columns([], np.empty(0, dtype=np.int64))]
        return GpuColumns(
            **{
                each.name: np.concatenate([getattr(block, each.name) for block in blocks])
                for each in fields(GpuColumns)
            }
        )

    def kinds(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The kind of each label."""
        return np.array(self._kinds, dtype=np.uint8)

    def names(self) -> list[tuple[str, str]]:
        """Category and name of each label."""
        return list(self._labels)

    def lanes(self) -> tuple[Lane, ...]:
        """The lanes that complete events ran on, by number."""
        return tuple(
            Lane(process=str(pid), thread=str(tid), label=self._thread_names.get((pid, tid), "").strip())
            for pid, tid in self._lanes
        )

    def _classify(self) -> None:
        new = list(self._labels)[len(self._kinds) :] if len(self._labels) > len(self._kinds) else []
        self._kinds += [kind_of(category, name) for category, name in new]

    def _name_threads(self, events: Iterable[Event]) -> None:
        for event in events:
            self._thread_names[event.pid, event.tid] = event.args.name


def _times(events: Sequence[Event], complete: Sequence[Event], text: bytes) -> tuple[Int64, Int64]:
    start = nanoseconds([event.ts for event in complete])
    dur = nanoseconds([event.dur for event in complete])
    if start is not None and dur is not None:
        return start, dur
    exact = [time for time, event in zip(decode_exact_times(text), events, strict=True) if event.ph == "X"]
    return exact_nanoseconds([time.ts for time in exact]), exact_nanoseconds([time.dur for time in exact])


def _gpu_columns(events: Sequence[Event], row: Int64) -> GpuColumns:
    args = [event.args for event in events]
    return GpuColumns(
        row=row,
        device=narrow(_or_number_in([each.device for each in args], [event.pid for event in events])),
        stream=_or_number_in([each.stream for each in args], [event.tid for event in events]),
        registers=narrow(integers([each.registers for each in args])),
        shared_bytes=integers([each.shared for each in args]),
        grid=shapes([each.grid for each in args]),
        block=shapes([each.block for each in args]),
        occupancy_percent=floats([each.occupancy for each in args]),
        bytes=integers([each.bytes for each in args]),
    )


def _or_number_in(values: Sequence[object], lanes: Sequence[int | str]) -> Int64:
    """The values, or where the trace does not give one the number that its lane is called by: 7 in "stream 7"."""
    column = integers(values)
    for row in np.flatnonzero(column == UNSAID).tolist():
        column[row] = integers([str(lanes[row]).rpartition(" ")[2]])[0]
    return column
