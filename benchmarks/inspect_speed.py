"""How fast `foretrace inspect` is: its time and memory beside the least that any reader of the same file must do.

    python benchmarks/inspect_speed.py TRACE.json.gz [ROUNDS]
    python benchmarks/inspect_speed.py --large [GB ...]

The floor is gunzip plus one typed msgspec decode of the whole text, in a process that does nothing else and is timed
from within. `inspect` is timed from the shell, with the interpreter's start. `--large` makes up traces of several sizes
(by default up to 1.9 GB of JSON) and sees to it that time follows size. Exits with 1 if a bound is broken.
"""

from __future__ import annotations

import gzip
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import large_trace
import msgspec
import numpy as np

MOST_TIMES_THE_FLOOR = 2.0
MOST_MEGABYTES = 250.0
MOST_MEGABYTES_LARGE = 600.0
MOST_GROWTH = 1.2  # of the seconds a GB, from the smallest size to the largest
SIZES = (0.25, 0.5, 1.0, 1.9)
FLOOR_MEMORY = 5  # bytes that the floor takes for a byte of text, about


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


class Cost(NamedTuple):
    """What a command cost."""

    seconds: float
    megabytes: float
    output: str


def measured(*command: str) -> Cost:
    """Run a command, which must succeed."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        output = child.stdout.read() if child.stdout else ""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed with {child.returncode}")
    return Cost(time.perf_counter() - start, usage.ru_maxrss / 1024, output)


def floor_of(path: Path) -> tuple[Cost, int]:
    """What the floor costs, timed from within, and how many events there are."""
    cost = measured(sys.executable, __file__, "--floor", str(path))
    seconds, events = cost.output.split()
    return cost._replace(seconds=float(seconds)), int(events)


def inspect_of(path: Path) -> Cost:
    """What `foretrace inspect` costs."""
    return measured(sys.executable, "-m", "foretrace", "inspect", "--json", str(path))


def compare(path: Path, rounds: int) -> bool:
    """Measure both in turns, print the best of each, and say whether the bounds hold."""
    floors, times, peaks, events = [], [], [], 0
    for _ in range(rounds):
        cost, events = floor_of(path)
        floors.append(cost.seconds)
        seconds, peak, _ = inspect_of(path)
        times.append(seconds)
        peaks.append(peak)
    ratio = min(times) / min(floors)
    sys.stdout.write(
        f"{path.name}: {events:,} events\n"
        f"floor    {min(floors):.3f} s (best of {rounds}; worst {max(floors):.3f})\n"
        f"inspect  {min(times):.3f} s (best of {rounds}; worst {max(times):.3f}), "
        f"{ratio:.2f} times the floor, bound {MOST_TIMES_THE_FLOOR}\n"
        f"peak     {max(peaks):.0f} MB, bound {MOST_MEGABYTES:.0f}\n"
    )
    return ratio <= MOST_TIMES_THE_FLOOR and max(peaks) <= MOST_MEGABYTES


def scale(sizes: list[float]) -> bool:
    """Measure both on made-up traces of several GB of JSON, and say whether time is linear and memory within bounds."""
    sys.stdout.write("  GB     events   floor         inspect       times   inspect\n")
    sys.stdout.write("                  s      MB     s      MB     floor   s/GB\n")
    rates, peaks = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.json.gz"
        for size in sizes:
            large_trace.write(path, int(size * 1e9))
            seconds, peak, _ = inspect_of(path)
            rates.append(seconds / size)
            peaks.append(peak)
            least, ratio = "    (too little memory)    ", "    -"
            if FLOOR_MEMORY * size * 1e9 < os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
                cost, events = floor_of(path)
                least = f"{events:>10,}   {cost.seconds:5.2f} {cost.megabytes:6.0f} "
                ratio = f"{seconds / cost.seconds:5.2f}"
            sys.stdout.write(f"{size:5.2f} {least} {seconds:5.2f} {peak:6.0f}    {ratio}   {rates[-1]:5.2f}\n")
            sys.stdout.flush()
    growth = rates[-1] / rates[0]
    sys.stdout.write(
        f"peak {max(peaks):.0f} MB, bound {MOST_MEGABYTES_LARGE:.0f}; "
        f"seconds a GB grew {growth:.2f} times, bound {MOST_GROWTH}\n"
    )
    return max(peaks) <= MOST_MEGABYTES_LARGE and growth <= MOST_GROWTH


def machine() -> str:
    """What this is measured on, in a line."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    versions = f"Python {platform.python_version()}, msgspec {msgspec.__version__}, numpy {np.__version__}"
    return f"{model}, {os.cpu_count()} threads, load {os.getloadavg()[0]:.1f}; {versions}"


def main(arguments: list[str]) -> int:
    """Run the floor alone, or a comparison."""
    if arguments[:1] == ["--floor"]:
        sys.stdout.write("{} {}\n".format(*floor(Path(arguments[1]))))
        return 0
    if not arguments:
        sys.exit(__doc__)
    sys.stdout.write(f"{machine()}\n")
    if arguments[0] == "--large":
        return 0 if scale([float(size) for size in arguments[1:]] or list(SIZES)) else 1
    return 0 if compare(Path(arguments[0]), int(arguments[1]) if arguments[1:] else 5) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
