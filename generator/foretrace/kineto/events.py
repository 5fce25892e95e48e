"""One Kineto event as typed fields: what comes in is JSON text, what goes out are `Event`s, all else dropped.

Field names are Kineto's own, in every spelling it has used since PyTorch 1.8. Times stay what the text says them to be;
`columns` turns them into nanoseconds.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

Number = int | float | str | None  # a JSON number, or text that holds one


class Args(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The members of an event's `args` that some column is made of."""

    correlation: Number = -1
    external: Number = msgspec.field(default=-1, name="External id")
    external_1_8: Number = msgspec.field(default=-1, name="external id")
    python: Number = msgspec.field(default=-1, name="Python id")
    device: Number = -1
    stream: Number = -1
    registers: Number = msgspec.field(default=-1, name="registers per thread")
    shared: Number = msgspec.field(default=-1, name="shared memory")
    occupancy: Number = msgspec.field(default=None, name="est. achieved occupancy %")
    bytes: Number = -1
    grid: list[int] | None = None
    block: list[int] | None = None
    name: str = ""  # of a process or thread, in metadata events
    labels: str = ""


class Event(msgspec.Struct, gc=False, kw_only=True):
    """One event, as the trace file spells it."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: Number = None
    dur: Number = None
    args: Args = Args()


class ExactTimes(msgspec.Struct, gc=False):
    """The two times of an event as the JSON text has them, digit for digit."""

    ts: msgspec.Raw = msgspec.Raw(b"null")
    dur: msgspec.Raw = msgspec.Raw(b"null")


decode_events = msgspec.json.Decoder(list[Event]).decode
decode_exact_times = msgspec.json.Decoder(list[ExactTimes]).decode


def times_as_json(event: Event) -> bytes:
    """A JSON object that holds nothing but the times of an event, digit for digit."""
    return msgspec.json.encode({"ts": event.ts, "dur": event.dur})


def coerce(value: dict[str, Any]) -> Event:
    """The event in a freely decoded JSON object, with members of a wrong type left at "does not say"."""
    fields: dict[str, Any] = {}
    for field in ("ph", "cat", "name", "pid", "tid"):
        if (member := value.get(field)) is not None:
            keep = isinstance(member, str) or (field in ("pid", "tid") and type(member) is int)
            fields[field] = member if keep else str(member)
    for field in ("ts", "dur"):
        member = value.get(field)
        if isinstance(member, int | float | Decimal | str) and not isinstance(member, bool):
            fields[field] = str(member)  # digit for digit
    args = value.get("args")
    return Event(**fields, args=_coerce_args(args) if isinstance(args, dict) else Args())


def _coerce_args(value: dict[str, Any]) -> Args:
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(Args):
        member = value.get(field.encode_name)
        try:
            fields[field.name] = msgspec.convert(float(member) if isinstance(member, Decimal) else member, field.type)
        except (msgspec.ValidationError, OverflowError):
            continue
    return Args(**fields)
