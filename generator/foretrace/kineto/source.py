"""Trace files as bytes: what comes in is a path or raw bytes, what goes out are chunks of JSON text, in bounds.

Gzip is recognised by content, never by name; a file may hold several gzip members. A file that cannot be read whole is
refused in one sentence.
"""

from __future__ import annotations

import zlib
from itertools import chain
from typing import TYPE_CHECKING

from foretrace.errors import UnreadableInput
from foretrace.kineto.limits import RAISE, USUAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foretrace.kineto.limits import Limits

GZIP_MAGIC = b"\x1f\x8b"
READ_BYTES = 1 << 16
CHUNK_BYTES = 1 << 20
MOST_RATIO = 1000  # gzip reaches 1032 on zeros; traces reach about 30


def chunks(path: Path, *, limits: Limits = USUAL) -> Iterator[bytes]:
    """The JSON text of a trace file, piece by piece.

    Raises:
        UnreadableInput: the file is missing, a folder, not permitted, empty, not whole gzip or beyond the limits.
    """
    where = str(path)
    try:
        with path.open("rb") as file:
            pieces = iter(lambda: file.read(READ_BYTES), b"")
            yield from unpack(pieces, where=where, limits=limits)
    except FileNotFoundError:
        raise UnreadableInput("there is no such file", where=where, remedy="check the path") from None
    except IsADirectoryError:
        raise UnreadableInput("is a folder", where=where, remedy="name one trace file in it") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableInput(f"cannot be read ({reason})", where=where, remedy="check its permissions") from error


def unpack(pieces: Iterator[bytes], *, where: str, limits: Limits = USUAL) -> Iterator[bytes]:
    """The given bytes, gunzipped if they are gzip.

    Raises:
        UnreadableInput: there are no bytes, too many, or they are gzip that is cut, damaged or a bomb.
    """
    first = next(pieces, b"")
    while len(first) < len(GZIP_MAGIC) and (more := next(pieces, b"")):
        first += more
    if not first:
        raise UnreadableInput("is empty (0 bytes)", where=where, remedy="record the trace again")
    packed = first.startswith(GZIP_MAGIC)
    size = 0
    for chunk in _gunzip(first, pieces, where=where) if packed else chain((first,), pieces):
        size += len(chunk)
        if size > limits.json:
            what = f"{'unpacks to' if packed else 'holds'} more than {limits.json:,} bytes"
            raise UnreadableInput(what, where=where, remedy=RAISE)
        yield chunk


def _gunzip(first: bytes, pieces: Iterator[bytes], *, where: str) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=31)
    packed, unpacked, rest = len(first), 0, first
    while True:
        if not rest:
            rest = next(pieces, b"")
            packed += len(rest)
            if not rest:
                break
        if inflater.eof:
            if not rest.strip(b"\0"):  # padding after the last member, as tapes and gzip itself allow
                rest = b""
                continue
            inflater = zlib.decompressobj(wbits=31)
        try:
            chunk = inflater.decompress(rest, CHUNK_BYTES)
        except zlib.error as error:
            what = f"the gzip data is damaged within its bytes {packed - len(rest)} to {packed} ({error})"
            raise UnreadableInput(what, where=where, remedy="copy or record the trace again") from None
        rest = inflater.unconsumed_tail or inflater.unused_data
        unpacked += len(chunk)
        if unpacked > 64 * CHUNK_BYTES and unpacked > MOST_RATIO * packed:
            what = f"unpacks to more than {unpacked - 1} bytes from {packed}, which no trace does"
            raise UnreadableInput(what, where=where, remedy="unpack it yourself if you trust it")
        if chunk:
            yield chunk
    if not inflater.eof:
        what = f"the gzip data ends early, after {packed} packed and {unpacked} unpacked bytes"
        raise UnreadableInput(what, where=where, remedy="copy or record the trace again")
    if not unpacked:
        raise UnreadableInput("is empty (gzip of 0 bytes)", where=where, remedy="record the trace again")
