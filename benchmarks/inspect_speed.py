"""How fast `foretrace inspect` is: its time and memory beside the least that any reader of the same file must do.

    python benchmarks/inspect_speed.py TRACE.json.gz [ROUNDS]

The floor is gunzip plus one typed msgspec decode of the whole text, in a process that does nothing else and is timed
from within. `inspect` is timed from the shell, with the interpreter's start. Exits with 1 if a bound is broken.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec

MOST_TIMES_THE_FLOOR = 2.0
MOST_MEGABYTES = 250.0


class Args(msgspec.Struct, gc=False):
    """What a reader needs of an event's args at least."""

    correlation: int | str | None = None
    external: int | str | None = msgspec.field(default=None, name="External id")
    device: int | None = None
    stream: int | str | None = None
    grid: list[int] | None = None
    block: list[int] | None = None
    bytes: int | None = None


class Event(msgspec.Struct, gc=False):
    """What a reader needs of an event at least."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: float = 0
    dur: float = 0
    args: Args | None = None


class Document(msgspec.Struct):
    """The events and nothing else."""

    traceEvents: list[Event]  # noqa: N815 - Kineto's name


def floor(path: Path) -> tuple[float, int]:
    """Seconds to unpack and decode the file at `path`, and the number of its events."""
    packed = path.read_bytes()
    start = time.perf_counter()
    document = msgspec.json.decode(gzip.decompress(packed), type=Document)
    return time.perf_counter() - start, len(document.traceEvents)


def measured(*command: str) -> tuple[float, float, str]:
    """Seconds, peak megabytes and output of a command."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        output = child.stdout.read() if child.stdout else ""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed with {child.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, output


def compare(path: Path, rounds: int) -> bool:
    """Measure both in turns, print the best of each, and say whether the bounds hold."""
    floors, times, peaks, events = [], [], [], ""
    for _ in range(rounds):
        floor_seconds, events = measured(sys.executable, __file__, "--floor", str(path))[2].split()
        floors.append(float(floor_seconds))
        seconds, peak, _ = measured(sys.executable, "-m", "foretrace", "inspect", "--json", str(path))
        times.append(seconds)
        peaks.append(peak)
    ratio = min(times) / min(floors)
    sys.stdout.write(
        f"{path.name}: {int(events):,} events\n"
        f"floor    {min(floors):.3f} s (best of {rounds}; worst {max(floors):.3f})\n"
        f"inspect  {min(times):.3f} s (best of {rounds}; worst {max(times):.3f}), "
        f"{ratio:.2f} times the floor, bound {MOST_TIMES_THE_FLOOR}\n"
        f"peak     {max(peaks):.0f} MB, bound {MOST_MEGABYTES:.0f}\n"
    )
    return ratio <= MOST_TIMES_THE_FLOOR and max(peaks) <= MOST_MEGABYTES


def main(arguments: list[str]) -> int:
    """Run the floor alone, or the comparison."""
    if arguments[:1] == ["--floor"]:
        sys.stdout.write("{} {}\n".format(*floor(Path(arguments[1]))))
        return 0
    if not arguments:
        sys.exit(__doc__)
    return 0 if compare(Path(arguments[0]), int(arguments[1]) if arguments[1:] else 5) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
