"""What a process left behind, read: its answer, or the reason why there is none, in a sentence.

Everything in a job's folder was written by a process that ran foreign code, and is read as such.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from foretrace.privacy import scrub
from foretrace.record import Failure
from foretrace.wire import ANSWER, FAILURE, STDERR, Ended, Failed

_KEPT = 2000  # characters of standard error
_READ = 64 * 1024  # bytes of it that are looked at
_FAULTS = {"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"}  # brought upon oneself

_Answer = TypeVar("_Answer")


def read(
    folder: Path, kind: type[_Answer], *, ended: Ended, limit_s: float, private: Mapping[str, str]
) -> _Answer | Failure:
    """The answer of type `kind` in a job's folder; or the failure with the end of standard error, both scrubbed."""
    found: _Answer | Failed | None = _failure(folder, ended, limit_s)
    if found is None:
        found = _decode(folder, kind)
    if not isinstance(found, Failed):
        return found
    return Failure(
        reason=found.reason,
        message=scrub(found.message, private),
        stderr=scrub(_last(folder / STDERR), private)[-_KEPT:],
    )


def _failure(folder: Path, ended: Ended, limit_s: float) -> Failed | None:
    if ended.timed_out:
        return Failed(reason="time-limit", message=f"was stopped at the time limit of {limit_s:g} s")
    if ended.signal is not None:
        return _signalled(ended.signal)
    if ended.code == 0:
        return None
    try:
        return msgspec.json.decode((folder / FAILURE).read_bytes(), type=Failed)
    except (OSError, msgspec.DecodeError, RecursionError):
        return Failed(reason="crashed", message=f"ended with exit code {ended.code} and without a word")


def _signalled(number: int) -> Failed:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if name in _FAULTS:
        return Failed(reason="crashed", message=f"crashed with {name}")
    why = ", as the kernel does when the machine's memory runs out" if name == "SIGKILL" else ""
    return Failed(reason="killed", message=f"was killed by {name}{why}")


def _decode(folder: Path, kind: type[_Answer]) -> _Answer | Failed:
    try:
        return msgspec.json.decode((folder / ANSWER).read_bytes(), type=kind)
    except OSError:
        return Failed(reason="bad-result", message="ended as if all were well, and left no result")
    except (msgspec.DecodeError, RecursionError) as error:
        return Failed(reason="bad-result", message=f"left a result that cannot be read: {error}")


def _last(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _READ))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
