"""Kineto traces: a `.json` or `.json.gz` of PyTorch's profiler comes in, a `trace.Trace` goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foretrace.kineto.assembly import assemble
from foretrace.kineto.document import read_document
from foretrace.kineto.limits import GIGABYTE, USUAL, Limits
from foretrace.kineto.source import chunks, unpack

if TYPE_CHECKING:
    from pathlib import Path

    from foretrace.trace import Trace

__all__ = ["GIGABYTE", "USUAL", "Limits", "parse", "read"]


def read(path: Path, *, limits: Limits = USUAL) -> Trace:
    """The trace in a file.

    Raises:
        UnreadableInput: there is no such file, it is not a whole trace, or it is beyond the limits; the sentence says
            which byte is wrong.
    """
    return assemble(*read_document(chunks(path, limits=limits), where=str(path), limits=limits))


def parse(data: bytes, *, where: str) -> Trace:
    """The trace in the bytes of a file, packed or not.

    Args:
        data: what the file holds.
        where: what errors call it.

    Raises:
        UnreadableInput: `data` is not a whole trace.
    """
    return assemble(*read_document(unpack(iter([data]), where=where), where=where))
