"""The document around the events: chunks of JSON text come in, columns, metadata and warnings go out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from foretrace.errors import UnreadableInput
from foretrace.kineto.columns import Columns
from foretrace.kineto.events import decode_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def read_document(chunks: Iterator[bytes], *, where: str) -> tuple[Columns, Mapping[str, Any], list[str]]:
    """Everything in a trace document."""
    text = b"".join(chunks).removeprefix(b"\xef\xbb\xbf")
    columns = Columns()
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        if "traceEvents" not in members:
            raise UnreadableInput("has no traceEvents", where=where, remedy="export it with export_chrome_trace")
        events = bytes(members.pop("traceEvents"))
        columns.add(decode_events(events), events)
        return columns, {key: msgspec.json.decode(value) for key, value in members.items()}, []
    except msgspec.DecodeError as error:
        raise UnreadableInput(f"is not a trace ({error})", where=where, remedy="record it again") from None
