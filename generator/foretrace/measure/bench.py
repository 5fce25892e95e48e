"""The bench: a handle on the worker's server, through which tasks are given to fresh processes.

A task goes in; out comes its answer, of the type asked for, or a `record.Failure` that says why there is none. The
server is started when it is first needed, and again after it died.
"""

from __future__ import annotations

import itertools
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

import msgspec

from foretrace.errors import CannotMeasure
from foretrace.measure import answer
from foretrace.record import Failure
from foretrace.wire import NVML_CHECK, TRACE, Ended, Hello, Job, Look, Roofs, Trial

PRELOADED = ("torch.profiler", "torch._dynamo", "torch._inductor.compile_fx", "pynvml")
"""Imported by the server beside torch, so that no variant has to wait for them."""

_START_LIMIT_S = 300.0
_GRACE_S = 30.0  # beyond a job's limit, for the server to tell of it
_STOP_LIMIT_S = 5.0
_QUIET = {  # no compile worker may be at work while a loop is timed; the user's environment can say otherwise
    "TORCH_WARM_POOL": "0",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}

_MARK = "FORETRACE_SCRATCH"  # in the environment of all that a bench starts

_Answer = TypeVar("_Answer")
_Line = TypeVar("_Line", Hello, Ended)


@dataclass(frozen=True)
class Result(Generic[_Answer]):
    """What came of a task."""

    answer: _Answer | Failure
    trace: bytes | None
    seconds: float  # from asking to having read the answer


class Bench:
    """A context in which tasks can be run; on leaving it, every process it started is gone.

    Args:
        private: what to replace in the text that is read back.
        preload: what the server imports beside torch; what is not installed is passed over.
    """

    def __init__(self, private: Mapping[str, str], *, preload: Sequence[str] = PRELOADED) -> None:
        self._private = private
        self._preload = preload
        self._scratch = tempfile.TemporaryDirectory(prefix="foretrace-", ignore_cleanup_errors=True)
        self._folder = Path(self._scratch.name).resolve()
        self._numbers = itertools.count(1)
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Bench:
        """Nothing is started yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server and what it runs, and remove what they left on disk."""
        self._stop()
        self._scratch.cleanup()

    def run(self, task: Look | Roofs | Trial, kind: type[_Answer], *, limit_s: float) -> Result[_Answer]:
        """Run a task in a fresh process; `CannotMeasure` where no server can be started."""
        server = self._running()
        folder = self._folder / f"{next(self._numbers):04}"
        folder.mkdir()
        began = time.monotonic()
        ended = self._ask(server, Job(folder=str(folder), limit_s=limit_s, task=task))
        if ended is None:
            found: _Answer | Failure = self._lost(server, limit_s)
            self._stop()
        else:
            found = answer.read(folder, kind, ended=ended, limit_s=limit_s, private=self._private)
        trace = folder / TRACE
        data = trace.read_bytes() if trace.exists() and not isinstance(found, Failure) else None
        seconds = time.monotonic() - began
        shutil.rmtree(folder, ignore_errors=True)
        return Result(answer=found, trace=data, seconds=seconds)

    def _ask(self, server: subprocess.Popen[bytes], job: Job) -> Ended | None:
        assert server.stdin is not None
        with suppress(BrokenPipeError):
            server.stdin.write(msgspec.json.encode(job) + b"\n")
            server.stdin.flush()
        return _line(server, Ended, job.limit_s + _GRACE_S)

    def _lost(self, server: subprocess.Popen[bytes], limit_s: float) -> Failure:
        try:
            server.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            return Failure(reason="time-limit", message=f"could not be stopped at the time limit of {limit_s:g} s")
        return Failure(reason="crashed", message="took the process that started it down with it")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._server is not None and self._server.poll() is None:
            return self._server
        self._stop()
        hello = self._start(self._preload)
        if hello.touched_cuda and self._preload:
            self._stop()
            hello = self._start(())
        if hello.touched_cuda:
            raise CannotMeasure(
                "importing torch initialises CUDA, so that no forked process can use it",
                remedy="remove what does it from this environment: a .pth file, sitecustomize, a torch backend",
            )
        if hello.problem:
            raise CannotMeasure(hello.problem, remedy="install torch into this environment")
        assert self._server is not None
        return self._server

    def _start(self, preload: Sequence[str]) -> Hello:
        ours = {
            _MARK: str(self._folder),
            NVML_CHECK: "1",
            "TORCHINDUCTOR_CACHE_DIR": str(self._folder / "inductor"),
            "TRITON_CACHE_DIR": str(self._folder / "triton"),
        }
        log = self._folder / "server.txt"
        with log.open("wb") as errors:
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", "foretrace.worker", *preload],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._folder,
                env=_QUIET | os.environ | ours,
                start_new_session=True,  # Ctrl-C is the parent's to handle
            )
        hello = _line(self._server, Hello, _START_LIMIT_S)
        if hello is None:
            said = log.read_text(errors="replace").strip().splitlines()
            raise CannotMeasure(
                f"the process that runs workloads did not start ({said[-1] if said else 'it said nothing'})",
                remedy="try `python -m foretrace.worker` in this environment",
            )
        return hello

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        assert server.stdin is not None
        assert server.stdout is not None
        with suppress(BrokenPipeError):
            server.stdin.close()  # it kills what it runs, and ends
        try:
            server.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()
        self._sweep()

    def _sweep(self) -> None:
        """Kill what a server that was itself killed could not: every process with this bench's mark."""
        mark = os.fsencode(f"{_MARK}={self._folder}")
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # it is gone, or somebody else's
                if mark in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)


def _line(server: subprocess.Popen[bytes], kind: type[_Line], limit_s: float) -> _Line | None:
    """The server's next line; None where none comes in time, or none that can be read."""
    assert server.stdout is not None
    ready, _, _ = select.select([server.stdout], [], [], limit_s)
    try:
        return msgspec.json.decode(server.stdout.readline(), type=kind) if ready else None
    except msgspec.DecodeError:
        return None
