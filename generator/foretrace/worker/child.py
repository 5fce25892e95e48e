"""One job in its own process: a task goes in, files in the job's folder come out, and the process ends."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import textwrap
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import msgspec

from foretrace.errors import CannotMeasure, ForetraceError
from foretrace.files import write_atomically
from foretrace.record import Reason
from foretrace.wire import ANSWER, FAILURE, NVML_CHECK, STDERR, DeviceName, Failed, Job, Look, Roofs, Trial
from foretrace.worker import process

_LONGEST_MESSAGE = 400
_PACKAGE = str(Path(__file__).parents[1])


def wait(taken: int, tell: int, *, device: DeviceName | None) -> NoReturn:
    """Do the job that comes through a pipe and end this process, without the exit handlers of what it imported.

    Args:
        taken: the file descriptor that the job is read from; where none comes, this process ends.
        tell: one that a byte is written to when the job is taken, and another once a variant is measured.
        device: to make ready for meanwhile.
    """
    process.die_with_parent()
    os.environ.pop(NVML_CHECK, None)  # meant for the server; here it would make every look for CUDA slow
    try:
        if device is not None:
            from foretrace.worker.device import open_device

            open_device(device)
        with os.fdopen(taken, "rb") as stream:
            asked = stream.read()
        if asked:
            os.write(tell, b"!")
            _run(msgspec.json.decode(asked, type=Job), time.monotonic(), measured=lambda: os.write(tell, b"!"))
    finally:
        os._exit(1)


def _run(job: Job, began: float, *, measured: Callable[[], object]) -> NoReturn:
    code = 1
    try:
        _settle(Path(job.folder))
        code = _answer(job, began, measured)
    except SystemExit as ending:  # the workload's, not ours
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:  # noqa: BLE001 - nothing may get back into the server's code
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _settle(folder: Path) -> None:
    """Own session, own folder, own streams; no core file; say where it hangs when asked by SIGUSR1."""
    os.setsid()
    os.chdir(folder)
    stream = os.open(STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    os.close(stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)


def _answer(job: Job, began: float, measured: Callable[[], object]) -> int:
    try:
        answer = _perform(job, began, measured)
    except CannotMeasure as missing:
        write_atomically(Path(FAILURE), msgspec.json.encode(Failed(reason="unavailable", message=_message(missing))))
        return 1
    except Exception as error:  # noqa: BLE001 - whatever the workload raises is a finding
        traceback.print_exception(_without_ours(error))
        write_atomically(Path(FAILURE), msgspec.json.encode(Failed(reason=_reason(error), message=_message(error))))
        return 1
    write_atomically(Path(ANSWER), msgspec.json.encode(answer))
    return 0


def _perform(job: Job, began: float, measured: Callable[[], object]) -> msgspec.Struct:
    from foretrace.worker import machine, roofs, trial

    match job.task:
        case Look(device=device):
            return machine.look(device)
        case Roofs(device=device):
            return roofs.measure(device)
        case Trial() as task:
            return trial.measure(task, began, measured=measured)


def _without_ours(error: Exception) -> Exception:
    """The exception, its traceback beginning in the workload's code where it got that far."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith((_PACKAGE, "<frozen importlib")):
        frames = frames.tb_next
    return error.with_traceback(frames) if frames else error


def _reason(error: BaseException) -> Reason:
    for link in _chain(error):
        said = str(link).lower()
        if isinstance(link, MemoryError) or "out of memory" in said or "alloc_failed" in said:
            return "out-of-memory"
    return "error"


def _message(error: BaseException) -> str:
    """Our own sentence; else the exception's type and the first line of what it says, or two where one announces."""
    if isinstance(error, ForetraceError):
        return str(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = " ".join(lines[:2]) if lines and lines[0].endswith(":") else "".join(lines[:1])
    message = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return textwrap.shorten(message, _LONGEST_MESSAGE, placeholder=" …")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
