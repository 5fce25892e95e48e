"""A Kineto trace of any size, made up: a training loop with Python stacks, operators, launches, flows and kernels.

    python benchmarks/large_trace.py MEGABYTES TRACE.json.gz

Written as it is made, so that it takes no memory; packed if the name ends in `.gz`. The same size gives the same bytes.
A call of a module is four Python frames, eight operators, a launch and its kernel with two flows each: 18 events in
about 4 kB, as PyTorch spells them. Names repeat as they do in a model of a few hundred layers.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL_US = 120
CALLS_A_STEP = 2000
MODULES = 800
FIRST_US = 5_163_956_876_000
HEAD = b"""
  {
    "schemaVersion": 1,
    "deviceProperties": [
    {
      "id": 0, "name": "Made-up GPU", "totalGlobalMem": 80000000000, "computeMajor": 9, "computeMinor": 0,
      "warpSize": 32, "numSms": 100
    }
    ],
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1700000000000000000,
  "traceEvents": ["""
TAIL = b'\n  ],\n  "traceName": "large.json"\n}\n'
STEP = """
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 100, "tid": 100,
    "ts": %d.000, "dur": %d.000,
    "args": {
      "External id": %d,"Record function id": 0, "Ev Idx": %d
    }
  },"""
FRAME = """
  {
    "ph": "X", "cat": "python_function", "name": "model/layers/block_%d.py(%d): forward", "pid": 100, "tid": 100,
    "ts": %d.%03d, "dur": %d.500,
    "args": {
      "Python parent id": %d, "Python id": %d, "Ev Idx": %d
    }
  },"""
OPERATOR = """
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::made_up_operator_%d", "pid": 100, "tid": 100,
    "ts": %d.%03d, "dur": %d.750,
    "args": {
      "External id": %d,"Record function id": 0, "Sequence number": %d, "Fwd thread id": 0, "Ev Idx": %d
    }
  },"""
LAUNCHED = """
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100,
    "ts": %(launch)d.125, "dur": 4.250,
    "args": {
      "External id": %(external)d, "cbid": 211, "correlation": %(correlation)d
    }
  },
  {
    "ph": "s", "id": %(correlation)d, "pid": 100, "tid": 100, "ts": %(launch)d.125,
    "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "X", "cat": "kernel", "name": "void made_up::gemm_kernel<made_up::Tile<128, 256, 64>, \
made_up::Type_%(module)d, made_up::Layout<made_up::RowMajor, made_up::ColumnMajor>, \
made_up::Epilogue<float, 1, true> >(made_up::Arguments<float>)", "pid": 0, "tid": 7,
    "ts": %(run)d.375, "dur": 61.875,
    "args": {
      "queued": 0, "device": 0, "context": 1,
      "stream": 7, "correlation": %(correlation)d,
      "registers per thread": 168,
      "shared memory": 213248,
      "blocks per SM": 2.560000,
      "warps per SM": 30.720000,
      "grid": [256, 1, 1],
      "block": [384, 1, 1],
      "est. achieved occupancy %%": 0,
      "External id": %(external)d
    }
  },
  {
    "ph": "f", "id": %(correlation)d, "pid": 0, "tid": 7, "ts": %(run)d.375,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  },
  {
    "ph": "s", "id": %(external)d, "pid": 100, "tid": 100, "ts": %(launch)d.125,
    "cat": "fwdbwd", "name": "fwdbwd"
  },
  {
    "ph": "f", "id": %(external)d, "pid": 100, "tid": 101, "ts": %(run)d.375,
    "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"
  },"""


def call(number: int) -> str:
    """The events of one call of a module."""
    begin, module = FIRST_US + number * CALL_US, number % MODULES
    frames = (
        FRAME
        % (module, 10 * depth, begin + depth, depth, 100 - 2 * depth, 4 * number + depth, 4 * number + depth + 1, 0)
        for depth in range(4)
    )
    operators = (
        OPERATOR % (module % 50 * 8 + nth, begin + 5 + 10 * nth, nth, 9, 8 * number + nth + 1, number, nth)
        for nth in range(8)
    )
    places = {"launch": begin + 86, "run": begin + 100, "module": module % 200}
    launched = LAUNCHED % {**places, "external": 8 * number + 8, "correlation": number + 1}
    return "".join((*frames, *operators, launched))


def text(size: int) -> Iterator[bytes]:
    """A whole trace of about `size` bytes, piece by piece."""
    yield HEAD
    made = number = 0
    while made < size:
        begin, us = FIRST_US + number * CALL_US, CALLS_A_STEP * CALL_US
        piece = STEP % (number // CALLS_A_STEP, begin - 1, us - 1, number, number) if number % CALLS_A_STEP == 0 else ""
        piece += "".join(call(nth) for nth in range(number, number + 50))
        made, number = made + len(piece), number + 50
        yield piece.encode() if made < size else piece.rstrip(",").encode()
    yield TAIL


def write(path: Path, size: int) -> None:
    """Write a trace of about `size` bytes of JSON."""
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
        for piece in text(size):
            file.write(piece)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(Path(sys.argv[2]), int(float(sys.argv[1]) * 1e6))
