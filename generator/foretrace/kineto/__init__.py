"""Kineto traces: a `.json` or `.json.gz` of PyTorch's profiler comes in, a `trace.Trace` goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foretrace.kineto.assembly import assemble
from foretrace.kineto.document import read_document
from foretrace.kineto.source import chunks, unpack

if TYPE_CHECKING:
    from pathlib import Path

    from foretrace.trace import Trace

__all__ = ["parse", "read"]


def read(path: Path) -> Trace:
    """The trace in a file.

    Raises:
        UnreadableInput: there is no such file, or it is not a whole trace; the sentence says which byte is wrong.
    """
    return assemble(*read_document(chunks(path), where=str(path)))


def parse(data: bytes, *, where: str) -> Trace:
    """The trace in the bytes of a file, packed or not.

    Args:
        data: what the file holds.
        where: what errors call it.

    Raises:
        UnreadableInput: `data` is not a whole trace.
    """
    return assemble(*read_document(unpack(iter([data]), where=where), where=where))
