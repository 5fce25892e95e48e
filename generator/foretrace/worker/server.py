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

from foretrace.wire import Ended, Hello, Job
from foretrace.worker import child, process

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
        while line := jobs.readline():
            _say(answers, _perform(decode(line), jobs=jobs, answers=answers))
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
        with suppress(ImportError):
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


def _perform(job: Job, *, jobs: BinaryIO, answers: BinaryIO) -> Ended:
    """Run a job in a fork; it is over when the process ends, its time is up, or the parent goes away."""
    sys.stdout.flush()
    sys.stderr.flush()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        jobs.close()
        answers.close()
        child.run(job, began)
    handle = os.pidfd_open(pid)
    try:
        ended, _, _ = select.select([handle, jobs.fileno()], [], [], job.limit_s)
    finally:
        os.close(handle)
    if not ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
        time.sleep(_DUMP_S)
    process.stop(pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    process.sweep()
    return Ended(code=status if status >= 0 else None, signal=-status if status < 0 else None, timed_out=not ended)
