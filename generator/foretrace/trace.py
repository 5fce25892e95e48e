"""A trace as columns: what every reader produces and every analysis takes.

Rows are complete (`X`) events ordered by start time. Times are integer nanoseconds since `origin_ns`; nothing here
is ever a float that could lose one. `-1` in an integer column means "the trace does not say".
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Kind(enum.IntEnum):
    """What a row is."""

    OP = 0  # aten:: and other framework operators
    ANNOTATION = 1  # record_function labels and ProfilerStep#n
    PYTHON = 2  # python_function frames
    RUNTIME = 3  # cudaLaunchKernel and its like, any vendor
    DRIVER = 4  # cuLaunchKernel and its like
    KERNEL = 5
    MEMCPY = 6
    MEMSET = 7
    GPU_ANNOTATION = 8  # labels mirrored on the GPU lane: ranges, never work
    OVERHEAD = 9  # the profiler's own: Activity Buffer Request, Command Buffer Full, …
    OTHER = 10


STEP = re.compile(r"ProfilerStep#(\d{1,18})")
"""The label that the profiler puts around a step, with its number: as many digits as an int64 holds."""

GPU_WORK = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)
LAUNCHERS = (Kind.RUNTIME, Kind.DRIVER)
CPU_SIDE = (Kind.OP, Kind.ANNOTATION, Kind.PYTHON, Kind.RUNTIME, Kind.DRIVER, Kind.OVERHEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One accelerator as the trace describes it; 0 where it does not say."""

    index: int
    name: str = ""
    multiprocessors: int = 0
    warp_size: int = 0
    registers_per_multiprocessor: int = 0
    shared_bytes_per_multiprocessor: int = 0
    shared_bytes_per_block_optin: int = 0
    threads_per_multiprocessor: int = 0
    threads_per_block: int = 0
    memory_bytes: int = 0
    compute_capability: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The thread or stream a row ran on, as the trace names it."""

    process: str
    thread: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuColumns:
    """What only GPU rows have; entry `i` belongs to trace row `row[i]` (ascending)."""

    row: Int64
    device: Int32
    stream: Int64
    registers: Int32  # per thread
    shared_bytes: Int64  # per block, static and dynamic
    grid: Int32  # shape (rows, 3)
    block: Int32  # shape (rows, 3)
    occupancy_percent: NDArray[np.float32]  # as the profiler estimates it; NaN where it does not
    bytes: Int64  # moved by a copy or set by a memset


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A whole trace: the event columns, the GPU columns, and what was noticed while reading."""

    names: tuple[str, ...]
    kind: NDArray[np.uint8]
    name: Int32  # index into names
    start_ns: Int64
    dur_ns: Int64  # never negative
    lane: Int32  # index into lanes
    correlation: Int64
    external: Int64
    gpu: GpuColumns
    lanes: tuple[Lane, ...]
    devices: tuple[Device, ...]
    origin_ns: int
    unmeasured: Int64 = field(
        default_factory=lambda: np.empty(0, dtype=np.int64)
    )  # rows whose `dur_ns` is 0 for unknown
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.start_ns)

    @property
    def end_ns(self) -> Int64:
        """Where each row ends, in ns since `origin_ns`."""
        return self.start_ns + self.dur_ns

    def rows(self, *kinds: Kind) -> Int64:
        """The row numbers of the given kinds, in start order."""
        return np.flatnonzero(np.isin(self.kind, kinds))

    def text(self, row: int) -> str:
        """The name of one row."""
        return self.names[int(self.name[row])]

    def check(self) -> None:
        """Assert the invariants; a reader calls it once before it hands a trace out."""
        count = len(self)
        for column in (self.kind, self.name, self.dur_ns, self.lane, self.correlation, self.external):
            assert len(column) == count
        assert bool(np.all(np.diff(self.start_ns) >= 0))
        assert bool(np.all(self.dur_ns >= 0))
        work = np.isin(self.kind, GPU_WORK)
        assert bool(np.array_equal(np.flatnonzero(work), self.gpu.row))
        assert self.gpu.grid.shape == self.gpu.block.shape == (len(self.gpu.row), 3)
