"""The server: torch imported once, CUDA untouched, one forked process a job.

A cold measurement needs a process in which nothing has run yet, and importing torch takes seconds: a fork of a process
that has imported everything and initialised nothing is both cold and quick. Jobs come in on standard input, a line
each; how they ended goes out on standard output. When the input ends, so does everything.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from foretrace.wire import DeviceName, Ended, Hello, Job
from foretrace.worker import child, process

_READY_LIMIT_S = 60.0  # for a process to get its CUDA context and take its job
_DUMP_S = 0.3  # for a process that is about to be killed to write down where it hangs


def serve(*, preload: Sequence[str]) -> NoReturn:
    """Say `Hello`, then answer jobs until standard input ends or the process that started this one does."""
    process.die_with_parent()
    process.adopt_orphans()
    jobs, answers = _own_streams()
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)  # no thread of ours holds a lock
    decode = msgspec.json.Decoder(Job).decode
    with suppress(BrokenPipeError):
        _say(answers, _prepare(preload))
        served = Jobs(jobs=jobs, answers=answers)
        while line := jobs.readline():
            _say(answers, served.perform(decode(line)))
    os._exit(0)  # there is nothing to tidy up, and the interpreter would take its time over torch


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent; whatever else is printed in this process goes to standard error."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return jobs, answers


def _say(answers: BinaryIO, message: Hello | Ended) -> None:
    answers.write(msgspec.json.encode(message) + b"\n")
    answers.flush()


def _prepare(preload: Sequence[str]) -> Hello:
    try:
        importlib.import_module("torch")
    except ImportError as error:
        return Hello(problem=f"torch cannot be imported ({error})")
    for name in preload:
        with suppress(Exception):  # whoever needs it will tell what is wrong with it
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a child's collector need not look at what was here before it
    return Hello(touched_cuda=_touched_cuda())


def _touched_cuda() -> bool:
    """Whether the CUDA driver is initialised in this process, which would make it unusable in every fork."""
    if "libcuda.so" not in Path("/proc/self/maps").read_text(errors="replace"):
        return False
    succeeded = ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int())) == 0
    return bool(succeeded)


class Runner:
    """A forked process that waits for one job, does it and ends; until then it may make itself ready for a device."""

    def __init__(self, *, device: DeviceName | None, close: Sequence[BinaryIO]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        taken, given = os.pipe()
        told, tell = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for stream in close:
                stream.close()
            os.close(given)
            os.close(told)
            child.wait(taken, tell, device=device)
        os.close(taken)
        os.close(tell)
        self.handle, self._given, self.told = os.pidfd_open(self.pid), given, told

    def give(self, job: Job) -> bool:
        """Let it do a job; whether it took it, which a process that could not make itself ready does not."""
        with suppress(BrokenPipeError), os.fdopen(self._given, "wb") as stream:
            stream.write(msgspec.json.encode(job))
        ready, _, _ = select.select([self.told, self.handle], [], [], _READY_LIMIT_S)
        return self.told in ready and bool(os.read(self.told, 1))

    def end(self) -> int:
        """Kill it and its group, and return its status as `os.waitstatus_to_exitcode` has it."""
        process.stop(self.pid)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.handle)
        os.close(self.told)
        return status


class Jobs:
    """Jobs one after the other, each in a process of its own; never two at work at once.

    Once a variant is measured, while its process writes its trace and goes away, the next process gets its CUDA
    context, so that nothing has to wait for it. It is given its job when the process before it is gone.
    """

    def __init__(self, *, jobs: BinaryIO, answers: BinaryIO) -> None:
        self._jobs, self._close = jobs, (jobs, answers)
        self._spare: Runner | None = None

    def perform(self, job: Job) -> Ended:
        """Do a job; it is over when the process ends, its time is up, or the parent goes away."""
        runner = self._start(job)
        until = time.monotonic() + job.limit_s
        watched = [runner.handle, runner.told, self._jobs.fileno()]
        while runner.told in (ready := select.select(watched, [], [], max(0.0, until - time.monotonic()))[0]):
            watched.remove(runner.told)
            if os.read(runner.told, 1):
                self._spare = Runner(device=job.task.device, close=self._close)
        if not ready:
            with suppress(ProcessLookupError):
                os.kill(runner.pid, signal.SIGUSR1)
            time.sleep(_DUMP_S)
        status = runner.end()
        process.sweep(keep=[self._spare.pid] if self._spare else [])
        return Ended(code=status if status >= 0 else None, signal=-status if status < 0 else None, timed_out=not ready)

    def _start(self, job: Job) -> Runner:
        """A process that is at the job: the one that stands ready, if it still does, else a new one."""
        spare, self._spare = self._spare, None
        if spare is not None:
            if spare.give(job):
                return spare
            spare.end()
        runner = Runner(device=None, close=self._close)
        runner.give(job)
        return runner
