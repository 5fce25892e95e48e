"""Gathered columns made a `Trace`: rows in start order, flawed ones counted out loud, exact duplicates dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from foretrace.kineto.columns import LEGACY_PROCESSES, UNCOUNTED, Interned
from foretrace.kineto.numerals import NEVER
from foretrace.trace import GPU_WORK, LAUNCHERS, Device, GpuColumns, Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from foretrace.kineto.columns import Columns, Rows
    from foretrace.trace import Int64

_N = TypeVar("_N", np.int32, np.int64)
DEVICE_PROPERTIES = {
    "multiprocessors": "numSms",
    "warp_size": "warpSize",
    "registers_per_multiprocessor": "regsPerMultiprocessor",
    "shared_bytes_per_multiprocessor": "sharedMemPerMultiprocessor",
    "shared_bytes_per_block_optin": "sharedMemPerBlockOptin",
    "threads_per_multiprocessor": "maxThreadsPerMultiprocessor",
    "threads_per_block": "maxThreadsPerBlock",
    "memory_bytes": "totalGlobalMem",
}


def assemble(columns: Columns, metadata: Mapping[str, Any], warnings: Sequence[str]) -> Trace:
    """The trace of all events in `columns`.

    Args:
        columns: every event of the file.
        metadata: the members of the document beside `traceEvents`.
        warnings: what was noticed while reading; what is noticed here is added.
    """
    rows, notes = columns.rows(), list(warnings)
    kind = columns.kinds()[rows.label]
    _place_legacy_rows(columns, rows, kind, notes)
    _note_uncounted(columns, rows, notes)
    order = _distinct(rows, _sound_rows(rows, kind, notes), notes)
    base = metadata.get("baseTimeNanoseconds")
    first = int(rows.start[order[0]]) if len(order) else 0
    names = Interned()
    name_of_label = np.array([names[name] for _, name in columns.names()], dtype=np.int32)
    kind = kind[order]
    gpu = _gpu_in_order(columns.gpu(), kind, order)
    start = _in_order(rows.start, order)
    start -= first
    dur = _in_order(rows.dur, order)
    unmeasured = np.flatnonzero(dur < 0)
    dur[unmeasured] = 0
    name = _in_order(rows.label, order)
    name[:] = name_of_label[name]
    trace = Trace(
        names=tuple(names),
        kind=kind,
        name=name,
        start_ns=start,
        dur_ns=dur,
        lane=_in_order(rows.lane, order),
        correlation=_in_order(rows.correlation, order),
        external=_in_order(rows.external, order),
        gpu=gpu,
        lanes=columns.lanes(),
        devices=_devices(metadata.get("deviceProperties"), gpu),
        origin_ns=first + (base if isinstance(base, int) and not isinstance(base, bool) else 0),
        unmeasured=unmeasured,
        warnings=tuple(notes),
        metadata={key: value for key, value in metadata.items() if key != "deviceProperties"},
    )
    trace.check()
    return trace


def _in_order(column: NDArray[_N], order: Int64) -> NDArray[_N]:
    """The rows of `order`, put into the column itself: there is no room for two of each."""
    kept = column[: len(order)]
    kept[:] = column[order]
    return kept


def _place_legacy_rows(columns: Columns, rows: Rows, kind: NDArray[np.uint8], notes: list[str]) -> None:
    """Give a kind to rows of the autograd profiler before Kineto, which has processes instead of categories."""
    bare = np.array([not category for category, _ in columns.names()] or [False])
    if not bare.any():
        return
    processes = [lane.process for lane in columns.lanes()]
    for process, legacy in LEGACY_PROCESSES.items():
        ours = bare[rows.label] & np.array([each == process for each in processes])[rows.lane]
        kind[ours] = legacy
        if ours.any():
            notes.append(
                f"{process!r} as the autograd profiler before Kineto wrote them: ranges, but no kernels or launches"
            )


def _note_uncounted(columns: Columns, rows: Rows, notes: list[str]) -> None:
    for category in UNCOUNTED:
        labels = np.array([name.lower() == category for name, _ in columns.names()] or [False])
        if labels.any():
            count = int(np.count_nonzero(labels[rows.label]))
            notes.append(f"work on a device that is neither kernel, copy nor memset, {category!r}: {count} not counted")


def _sound_rows(rows: Rows, kind: NDArray[np.uint8], notes: list[str]) -> Int64:
    """The rows to keep, in start order.

    A GPU activity or a launch without a duration still happened and is counted; anything else is left out.
    """
    nowhere = rows.start == NEVER
    endless = (rows.dur < 0) & ~nowhere
    happened = np.isin(kind, (*GPU_WORK, *LAUNCHERS))
    if lost := int(np.count_nonzero(nowhere)):
        notes.append(f"events without a usable start time left out: {lost}")
    if lost := int(np.count_nonzero(endless & ~happened)):
        notes.append(f"unfinished events left out (duration missing or negative): {lost}")
    if kept := int(np.count_nonzero(endless & happened)):
        notes.append(f"GPU activities and launches counted without time (duration missing or negative): {kept}")
    keep = ~nowhere & (happened | ~endless)
    order = np.argsort(rows.start, kind="stable")
    return order if keep.all() else order[keep[order]]


def _distinct(rows: Rows, order: Int64, notes: list[str]) -> Int64:
    """`order` without repeats: one thing cannot happen twice on one lane in the same nanoseconds."""
    start = rows.start[order]
    same = start[1:] == start[:-1]
    suspects = np.flatnonzero(np.append(same, False) | np.append(False, same))
    suspects = suspects[rows.dur[order[suspects]] > 0]
    if not len(suspects):
        return order
    columns = (rows.start, rows.dur, rows.label, rows.lane, rows.correlation, rows.external, rows.python)
    for column in columns:  # sorted by all of them, one after the other; alike ones stay in file order
        suspects = suspects[np.argsort(column[order[suspects]], kind="stable")]
    at = order[suspects]
    alike = np.ones(len(at) - 1, dtype=bool)
    for column in columns:
        alike &= column[at[1:]] == column[at[:-1]]
    repeats = suspects[1:][alike]
    if len(repeats):
        notes.append(f"exact duplicates of other events dropped (a file merged from parts?): {len(repeats)}")
    return np.delete(order, repeats)


def _gpu_in_order(gpu: GpuColumns, kind: NDArray[np.uint8], order: Int64) -> GpuColumns:
    """The GPU columns of the rows in `order`, whose kinds are given."""
    row = np.flatnonzero(np.isin(kind, GPU_WORK))
    at = np.searchsorted(gpu.row, order[row])
    return GpuColumns(
        row=row,
        device=gpu.device[at],
        stream=gpu.stream[at],
        registers=gpu.registers[at],
        shared_bytes=gpu.shared_bytes[at],
        grid=gpu.grid[at],
        block=gpu.block[at],
        occupancy_percent=gpu.occupancy_percent[at],
        bytes=gpu.bytes[at],
    )


def _devices(properties: object, gpu: GpuColumns) -> tuple[Device, ...]:
    """The devices that the document describes, and those that only its events name."""
    described = [each for each in properties if isinstance(each, dict)] if isinstance(properties, list) else []
    devices = {}
    for place, each in enumerate(described):
        index = each.get("id", place)
        if isinstance(index, int):
            devices[index] = _device(index, each)
    for index in np.unique(gpu.device).tolist():
        devices.setdefault(index, Device(index=index))
    return tuple(devices[index] for index in sorted(devices))


def _device(index: int, properties: Mapping[str, Any]) -> Device:
    numbers = {name: properties.get(theirs) for name, theirs in DEVICE_PROPERTIES.items()}
    capability = [properties.get("computeMajor"), properties.get("computeMinor")]
    return Device(
        index=index,
        name=str(properties.get("name", "")),
        compute_capability="" if None in capability else "{}.{}".format(*capability),
        **{name: number for name, number in numbers.items() if isinstance(number, int)},
    )
