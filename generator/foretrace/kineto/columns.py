"""Events gathered block by block: what comes in are lists of `Event`s, what stays are numpy columns and interned names.

Memory follows the columns, not the JSON: no event outlives the block it came in.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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

    from numpy.typing import NDArray

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
    "hpu_op": Kind.RUNTIME,  # the host's side of Gaudi, in spite of its name
}
UNCOUNTED = ("mtia_ccp_events",)  # work on a device, but no kernel, copy or memset
BYTES_AN_ENTRY = 200  # of a tuple, in a dict and a list
LEGACY_PROCESSES = {"CPU functions": Kind.OP, "CUDA functions": Kind.GPU_ANNOTATION}  # before Kineto: no categories


_T = TypeVar("_T", "Rows", "GpuColumns")


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
    """Numbers things in the order they first come; `nbytes` is the memory that they take, about."""

    def __init__(self) -> None:
        super().__init__()
        self.things: list[Any] = []
        self.nbytes = 0

    def __missing__(self, key: Any) -> int:
        """The next number, which `key` keeps."""
        number = self[key] = len(self)
        self.things.append(key)
        self.nbytes += BYTES_AN_ENTRY + sum(map(getsizeof, key if isinstance(key, tuple) else (key,)))
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


class Growing(Generic[_T]):
    """Columns that grow: blocks of them come in, each a dataclass of arrays, and go out as one such block.

    Each column is one buffer that grows in place, so that there are never two of it.
    """

    def __init__(self, like: _T) -> None:
        self._like: _T = like
        self._buffers = {name: bytearray() for name in self._columns(like)}

    @property
    def nbytes(self) -> int:
        """The memory that the columns take."""
        return sum(map(len, self._buffers.values()))

    def add(self, block: _T) -> None:
        """Put a block behind the others."""
        for (name, column), like in zip(self._columns(block).items(), self._columns(self._like).values(), strict=True):
            assert column.dtype == like.dtype
            self._buffers[name] += column.data

    def whole(self) -> _T:
        """All blocks end to end, no copies: nothing can be added as long as they are in use."""
        whole = {
            name: np.frombuffer(self._buffers[name], dtype=like.dtype).reshape(-1, *like.shape[1:])
            for name, like in self._columns(self._like).items()
        }
        return replace(self._like, **whole)

    @staticmethod
    def _columns(block: _T) -> dict[str, NDArray[Any]]:
        return {each.name: getattr(block, each.name) for each in fields(block)}


class Columns:
    """Collects events; `rows`, `gpu`, `kinds`, `names` and `lanes` are what they came to."""

    def __init__(self) -> None:
        nothing, none = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        self._labels = Interned()  # (category, name) of a complete event
        self._kinds = bytearray()  # of each label
        self._lanes = Interned()  # (pid, tid)
        self._rows = Growing(Rows(none, none, nothing, nothing, nothing, nothing, none))
        self._gpu = Growing(_gpu_columns([], nothing))
        self._count = 0
        self._thread_names = Interned()  # (pid, tid, name)

    def __len__(self) -> int:
        """The number of complete events so far."""
        return self._count

    @property
    def nbytes(self) -> int:
        """The memory that all of it takes, about."""
        return sum(each.nbytes for each in (self._rows, self._gpu, self._labels, self._lanes, self._thread_names))

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
        self._rows.add(
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
            self._gpu.add(_gpu_columns([complete[number] for number in work], work + self._count))
        self._count += len(complete)

    def rows(self) -> Rows:
        """All complete events, in file order; nothing can be added as long as they are in use."""
        return self._rows.whole()

    def gpu(self) -> GpuColumns:
        """What GPU rows have besides, in file order; `row` counts complete events."""
        return self._gpu.whole()

    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each label."""
        return np.frombuffer(bytes(self._kinds), dtype=np.uint8)

    def names(self) -> list[tuple[str, str]]:
        """Category and name of each label."""
        return self._labels.things

    def lanes(self) -> tuple[Lane, ...]:
        """The lanes that complete events ran on, by number."""
        names = {(pid, tid): name.strip() for pid, tid, name in self._thread_names}
        return tuple(
            Lane(process=str(pid), thread=str(tid), label=names.get((pid, tid), "")) for pid, tid in self._lanes
        )

    def _classify(self) -> None:
        self._kinds += bytes(kind_of(*label) for label in self._labels.things[len(self._kinds) :])

    def _name_threads(self, events: Iterable[Event]) -> None:
        for event in events:
            _ = self._thread_names[event.pid, event.tid, event.args.name]


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
