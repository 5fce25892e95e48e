"""Gathered columns made a `Trace`: rows in start order, flawed ones counted out loud, exact duplicates dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foretrace.kineto.columns import LEGACY_PROCESSES, Interned
from foretrace.kineto.numerals import NEVER
from foretrace.trace import GPU_WORK, LAUNCHERS, Device, GpuColumns, Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from foretrace.kineto.columns import Columns, Rows
    from foretrace.trace import Int64

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
    rows, lanes, notes = columns.rows(), columns.lanes(), list(warnings)
    kind = columns.kinds()[rows.label]
    _place_legacy_rows(columns, rows, kind, notes)
    order, unmeasured = _sound_rows(rows, kind, notes)
    order = _distinct(rows, order, notes)
    base = metadata.get("baseTimeNanoseconds")
    first = int(rows.start[order[0]]) if len(order) else 0
    names = Interned()
    name_of_label = np.array([names[name] for _, name in columns.names()], dtype=np.int32)
    gpu = _gpu_in_order(columns.gpu(), order, len(rows.start))
    trace = Trace(
        names=tuple(names),
        kind=kind[order],
        name=name_of_label[rows.label[order]],
        start_ns=rows.start[order] - first,
        dur_ns=np.where(unmeasured[order], 0, rows.dur[order]),
        lane=rows.lane[order],
        correlation=rows.correlation[order],
        external=rows.external[order],
        gpu=gpu,
        lanes=lanes,
        devices=_devices(metadata.get("deviceProperties"), gpu),
        origin_ns=first + (base if isinstance(base, int) and not isinstance(base, bool) else 0),
        unmeasured=np.flatnonzero(unmeasured[order]),
        warnings=tuple(notes),
        metadata={key: value for key, value in metadata.items() if key != "deviceProperties"},
    )
    trace.check()
    return trace


def _place_legacy_rows(columns: Columns, rows: Rows, kind: NDArray[np.uint8], notes: list[str]) -> None:
    """Give a kind to rows of the autograd profiler before Kineto, which has processes instead of categories."""
    bare = np.array([not category for category, _ in columns.names()] or [False])[rows.label]
    for process, legacy in LEGACY_PROCESSES.items():
        ours = np.array([lane.process == process for lane in columns.lanes()] or [False])[rows.lane]
        kind[bare & ours] = legacy
        if np.any(bare & ours):
            notes.append(
                f"{process!r} as the autograd profiler before Kineto wrote them: ranges, but no kernels or launches"
            )


def _sound_rows(rows: Rows, kind: NDArray[np.uint8], notes: list[str]) -> tuple[Int64, NDArray[np.bool_]]:
    """The rows to keep, in start order, and which of all rows have no usable duration.

    A GPU activity or a launch without a duration still happened and is counted; anything else is left out.
    """
    nowhere = rows.start == NEVER
    endless = rows.dur < 0
    happened = np.isin(kind, (*GPU_WORK, *LAUNCHERS))
    if lost := int(np.count_nonzero(nowhere)):
        notes.append(f"events without a usable start time left out: {lost}")
    if lost := int(np.count_nonzero(endless & ~happened & ~nowhere)):
        notes.append(f"unfinished events left out (duration missing or negative): {lost}")
    if kept := int(np.count_nonzero(endless & happened & ~nowhere)):
        notes.append(f"GPU activities and launches counted without time (duration missing or negative): {kept}")
    keep = np.flatnonzero(~nowhere & ~(endless & ~happened))
    return keep[np.argsort(rows.start[keep], kind="stable")], endless


def _distinct(rows: Rows, order: Int64, notes: list[str]) -> Int64:
    """`order` without repeats: one thing cannot happen twice on one lane in the same nanoseconds."""
    start = rows.start[order]
    same = start[1:] == start[:-1]
    suspects = np.flatnonzero(np.append(same, False) | np.append(False, same))
    suspects = suspects[rows.dur[order[suspects]] > 0]
    if not len(suspects):
        return order
    at = order[suspects]
    keys = np.stack(
        [
            rows.start[at],
            rows.dur[at],
            rows.label[at],
            rows.lane[at],
            rows.correlation[at],
            rows.external[at],
            rows.python[at],
        ]
    )
    _, first = np.unique(keys, axis=1, return_index=True)
    repeats = np.delete(suspects, first)
    if len(repeats):
        notes.append(f"exact duplicates of other events dropped (a file merged from parts?): {len(repeats)}")
    return np.delete(order, repeats)


def _gpu_in_order(gpu: GpuColumns, order: Int64, count: int) -> GpuColumns:
    place = np.full(count, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    row = place[gpu.row]
    keep = np.flatnonzero(row >= 0)
    keep = keep[np.argsort(row[keep])]
    return GpuColumns(
        row=row[keep],
        device=gpu.device[keep],
        stream=gpu.stream[keep],
        registers=gpu.registers[keep],
        shared_bytes=gpu.shared_bytes[keep],
        grid=gpu.grid[keep],
        block=gpu.block[keep],
        occupancy_percent=gpu.occupancy_percent[keep],
        bytes=gpu.bytes[keep],
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
