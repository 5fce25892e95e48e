"""Who dies with whom: the few promises that Linux makes about parents, children and orphans."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def die_with_parent() -> None:
    """Let the kernel kill this process as soon as the one that started it is gone."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of whatever a child of this process leaves behind."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def stop(leader: int) -> None:
    """Kill a process and its group."""
    for kill in (os.kill, os.killpg):
        with suppress(ProcessLookupError, PermissionError):
            kill(leader, signal.SIGKILL)


def sweep(*, keep: Collection[int] = ()) -> None:
    """Kill and await every process that has this one as its parent, but those to keep, until there is none."""
    while left := [child for child in _children() if child not in keep]:
        for child in left:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in left:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children() -> list[int]:
    me, found = os.getpid(), []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = path.read_text(errors="replace").rpartition(")")[2].split()[1]
            if int(parent) == me:
                found.append(int(path.parent.name))
    return found


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value)
