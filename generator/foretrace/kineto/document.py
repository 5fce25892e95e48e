"""The document around the events: chunks of JSON text come in, columns, metadata and warnings go out.

Events are decoded in blocks as they arrive, so that the text is never in memory as a whole. A block is cut where an
event seems to end; whether it does, the strict decoder tells, because a cut in any other place is malformed to it. A
block that it refuses is halved until the event at fault stands alone, and that one goes through `repair`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from foretrace.errors import UnreadableInput
from foretrace.kineto.columns import Columns
from foretrace.kineto.events import Event, coerce, decode_events, times_as_json
from foretrace.kineto.limits import RAISE, USUAL, Limits
from foretrace.kineto.notes import Notes
from foretrace.kineto.repair import DEEPEST, Broken, Repair, Short, plain
from foretrace.kineto.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

BLOCK_BYTES = 1 << 20
SMALLEST_BLOCK_BYTES = 1 << 9
MOST_KEPT_BYTES = 1 << 20  # of members beside the events, as metadata
MOST_MEMBERS = 1_000
MOST_LOST = 100_000  # elements of traceEvents; beyond, what is left is no trace
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_FORMATS = {
    b"PK": "a zip archive",
    b"\x1f\x8b": "gzip packed twice",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"SQLite format 3": "an SQLite database, perhaps one of Nsight Systems",
    b"\x80": "a pickle",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"<": "HTML or XML",
}
MOST_TRIES = 64  # to find the end of an event from behind
WIDEST_GAP = 256  # of white space between two events
_T = TypeVar("_T")
_NOT_STRICT = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_BETWEEN_EVENTS = re.compile(rb'\}\s*+(,)\s*+\{\s*+"(?:ph|cat|name|pid|tid|ts|dur|args)"\s*+:')
_AFTER_EVENTS = re.compile(rb'\}\s*+(\])\s*+(?:,\s*+"\w+"\s*+:|\}\s*+\Z)')
_COUNTED = re.compile(rb'"cat"\s*+:\s*+"[^"]*(?:kernel|memcpy|memset|runtime|driver)"', re.IGNORECASE)
_BRACKETED = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}\[\]]*+)*+([{}\[\]])', re.DOTALL)
_AGAIN = "record or copy it again"
_EXPORTED = "give the .json or .json.gz that the profiler exported"


def read_document(
    chunks: Iterator[bytes], *, where: str, limits: Limits = USUAL
) -> tuple[Columns, Mapping[str, Any], list[str]]:
    """Everything in a trace document: its events, its other members, and what was wrong with it.

    Raises:
        UnreadableInput: it is no trace, not a whole one, or beyond the limits.
    """
    document = _Document(Text(chunks), where, limits)
    document.read()
    return document.columns, document.metadata, document.notes.warnings()


class _Document:
    """Reads one document from its first byte to its last."""

    def __init__(self, text: Text, where: str, limits: Limits) -> None:
        self._text = text
        self._where = where
        self._limits = limits
        self._has_events = self._in_events = False
        self._elements = 0  # of the lists of events
        self._lost = 0  # of those
        self._work = 0  # done by repair
        self._doubtful = 0  # up to this byte, an event that was not closed may have taken others for its own
        self._next = 0  # byte at which the next event was seen
        self._members = 0
        self._beside = self._kept = 0  # bytes of members beside the events
        self._phases = False
        self._pending: list[Event] = []
        self._pending_text: list[bytes] = []
        self._pending_bytes = 0
        self.columns = Columns()
        self.metadata: dict[str, Any] = {}
        self.notes = Notes()

    def read(self) -> None:
        """Read it all, or raise."""
        self._open()
        if self._text.peek() == b"[":
            self._list_of_events()
        else:
            self._object()
        end = self._text.offset
        if self._text.peek():
            self._refuse(
                f"has extra data after the JSON document, which ends at byte {end}",
                remedy="several ranks or runs may have written to one path: give each its own",
            )
        if not self._has_events:
            members = ", ".join(name[:40] for name in list(self.metadata)[:8]) or "none"
            self._refuse(f"has no traceEvents (its members: {members})", remedy=_EXPORTED)
        if self._elements and not self._phases:
            self._refuse(f"has {self._elements:,} traceEvents, but none that is an event", remedy=_EXPORTED)

    def _open(self) -> None:
        """Step over a byte order mark, to what must be the document; refuse the formats that are taken for it."""
        self._text.fill(16)
        if self._text.data.startswith(BYTE_ORDER_MARK):
            self._text.drop(len(BYTE_ORDER_MARK))
        head = self._text.data[self._text.at : self._text.at + 16]
        for magic, form in OTHER_FORMATS.items():
            if head.startswith(magic):
                self._refuse(f"is {form}, not JSON", remedy=_EXPORTED)
        if head[:2].strip(b"{[ \n") == b"\0":
            self._refuse("is UTF-16 or UTF-32 text, not UTF-8", remedy="save it as UTF-8")
        first = self._text.peek()
        if not first:
            self._refuse("holds nothing but white space", remedy=_AGAIN)
        if first not in b"{[":
            self._refuse(f"is no trace: it begins with {str(head)[1:]}", remedy=_EXPORTED)

    def _object(self) -> None:
        """Read the object at the head of the text, `traceEvents` and all."""
        self._text.drop(1)
        while (sign := self._text.peek()) != b"}":
            if not sign:
                self._refuse_cut("the document")
            self._members += 1
            if self._members > MOST_MEMBERS:
                self._refuse(f"has more than {MOST_MEMBERS:,} members beside its traceEvents", remedy=_EXPORTED)
            name = self._at_head(lambda repair, at: repair.key(at), self._limits.event)
            if name != "traceEvents":
                self._member(name)
            elif self._text.peek() == b"[":
                self._list_of_events()
            else:
                self._refuse(f"has a traceEvents at byte {self._text.offset} that is no list", remedy=_EXPORTED)
            self._separator(b"}")
        self._text.drop(1)

    def _member(self, name: str) -> None:
        """Keep the value at the head of the text as metadata, as long as there is room for it."""
        bracketed = self._text.peek() in (b"{", b"[")
        left, begin = self._limits.beside - self._beside, self._text.offset
        end = self._bracketed_end(left) if bracketed else 0
        head = self._text.data[self._text.at : self._text.at + end]
        value: Any = None
        if self._kept + end > MOST_KEPT_BYTES:
            self._text.drop(end)
        else:
            try:
                value = msgspec.json.decode(head)
                self._text.drop(end)
            except _NOT_STRICT:
                value = plain(self._at_head(lambda repair, at: repair.value(at, "member"), left))
        size = self._text.offset - begin
        self._beside += size
        if self._beside > self._limits.beside:
            self._refuse_much_beside()
        if self._kept + size > MOST_KEPT_BYTES:
            self.notes.add(f"a member too long to be kept, {name[:40]!r},", begin)
        else:
            self._kept += size
            self.metadata[name] = value

    def _bracketed_end(self, most: int) -> int:
        """Where the list or object at the head of the text ends, if it does and its strings are sound; else 0."""
        end = depth = 0
        while True:
            data, head = self._text.data, self._text.at
            while bracket := _BRACKETED.match(data, head + end):
                end = bracket.end() - head
                depth += 1 if bracket[1] in b"{[" else -1
                if not 0 < depth <= DEEPEST:
                    return 0 if depth else end
            if len(self._text) > most:
                self._refuse_much_beside()
            if not self._text.grow(most):
                return 0

    def _list_of_events(self) -> None:
        """Read the list of events at the head of the text."""
        self._has_events = self._in_events = True
        self._text.drop(1)
        size = BLOCK_BYTES
        while (sign := self._text.peek()) != b"]":
            if not sign:
                self._refuse_cut("the list")
            if self._block(size):
                size = min(2 * size, BLOCK_BYTES)
            elif size > SMALLEST_BLOCK_BYTES:
                size //= 2
            else:
                self._single_element()
                self._separator(b"]")
        self._text.drop(1)
        self._flush()
        self._in_events = False

    def _block(self, size: int) -> bool:
        """Take in the events that seem to end within `size` bytes, if the strict decoder accepts them."""
        self._text.fill(size)
        at = self._text.at
        cut = _last_event_end(self._text.data, at, at + size)
        if not cut:
            return False
        block = b"".join((b"[", memoryview(self._text.data)[at:cut], b"]"))
        try:
            events = decode_events(block)
        except _NOT_STRICT:
            return False
        self._add(events, block)
        self._text.drop(cut + 1 - at)
        return True

    def _single_element(self) -> None:
        """Take in the one element at the head of the text, repaired if need be, or give it up."""
        begin = self._text.offset
        try:
            element = self._element()
        except Broken as broken:
            self._lose(f"an unreadable event left out ({broken.what})", begin)
        else:
            self._take_in(element, begin)
        if self._work > self._limits.repairs:
            what = f"has too many malformed events, {self._elements:,} of all kinds up to byte {begin}"
            self._refuse(what, remedy=RAISE)

    def _take_in(self, element: Any, at: int) -> None:
        if isinstance(element, dict):
            event = coerce(element)
            if event.ph:
                self._add([event], b"[%b]" % times_as_json(event))
            else:
                self._lose("an object in traceEvents that is no event", at)
        elif isinstance(element, list) and not self._phases:
            self._refuse("is a list of lists, not of trace events", remedy=_EXPORTED)
        else:
            self._lose("an element of traceEvents that is no object", at)

    def _lose(self, what: str, at: int) -> None:
        """Note an element that is no event, or cannot be read as one."""
        self._elements += 1
        self._lost += 1
        self.notes.add(what, at)
        if self._lost > MOST_LOST:
            self._refuse(f"has more than {MOST_LOST:,} unreadable events, up to byte {at}", remedy=_AGAIN)

    def _separator(self, close: bytes) -> None:
        """Step over the comma after a member or an element."""
        sign = self._text.peek()
        if sign == b",":
            self._text.drop(1)
            while (sign := self._text.peek()) in (b",", close):
                self.notes.add("repaired a comma too many", self._text.offset)
                if sign == close:
                    return
                self._text.drop(1)
        elif sign and sign != close:
            self.notes.add("repaired a missing comma", self._text.offset)

    def _at_head(self, read: Callable[[Repair, int], tuple[_T, int]], most: int) -> _T:
        """What `read` makes of the head of the text, of which there must be enough, but not more than `most` bytes."""
        while True:
            repair = Repair(self._text.data)
            try:
                value, end = read(repair, self._text.at)
            except Short as short:
                if len(self._text) > most:
                    self._refuse_much_beside()
                if not self._text.grow(most):
                    self._refuse_cut(short.inside)
            except Broken as broken:
                self._refuse_malformed(broken.what, self._text.byte(broken.at))
            else:
                return self._use(repair, value, end)

    def _element(self) -> Any:
        """The element at the head of the text.

        Raises:
            Broken: it cannot be read, no figure rests on it, and the text now begins after it.
        """
        most = self._limits.event
        while True:
            last = self._last_end()
            repair = Repair(self._text.data, last)
            try:
                value, end = repair.value(self._text.at, "element")
            except Short as short:
                self._work += repair.work
                if last is None and len(self._text) <= most and self._text.grow(most):
                    continue
                self._doubtful = max(self._doubtful, self._text.end)
                self._give_up(f"{short.inside} that is not closed", self._text.offset)
                if len(self._text) <= most:
                    self._refuse_cut(short.inside)
                what = f"has an event of more than {most:,} bytes at byte {self._text.offset}, inside {short.inside}"
                self._refuse(what, remedy=RAISE)
            except Broken as broken:
                self._work += repair.work
                place = self._text.byte(broken.at)
                self._doubtful = max(self._doubtful, place)
                if len(self._text) < most:
                    self._text.fill(2 * most)
                self._give_up(broken.what, place)
                self._refuse_malformed(broken.what, place)
            else:
                return self._use(repair, value, end)

    def _last_end(self) -> int | None:
        """Where the element at the head must end at the latest; None where none before took others for its own.

        Without it, the end of each of a thousand events that are not closed would be sought in all those behind it.
        """
        offset = self._text.offset
        if offset < self._doubtful and self._next <= offset:
            resume = _next_event(self._text)
            self._next = self._text.byte(resume)
            self._doubtful = self._doubtful if resume else 0
        return self._text.place(self._next) if offset < self._doubtful else None

    def _give_up(self, what: str, place: int) -> None:
        """Raise `Broken` and begin the text where the next event begins or the list ends, if that can be seen.

        An event that a figure rests on is not given up: a count that is silently short is worse than none.
        """
        resume = _next_event(self._text)
        if not resume:
            return
        if _COUNTED.search(self._text.data, self._text.at, resume):
            self._refuse_malformed(what, place)
        self._text.drop(resume - self._text.at)
        raise Broken(what, place)

    def _use(self, repair: Repair, value: _T, end: int) -> _T:
        self._work += repair.work
        for at, what in repair.flaws:
            self.notes.add(f"repaired {what}", self._text.byte(at))
        self._text.drop(end - self._text.at)
        return value

    def _add(self, events: list[Event], text: bytes) -> None:
        """Put the events of the JSON list `text` with those that wait for the columns."""
        self._elements += len(events)
        self._phases = self._phases or any(event.ph for event in events)
        self._pending += events
        self._pending_text.append(text)
        self._pending_bytes += len(text)
        if self._pending_bytes > BLOCK_BYTES // 2:
            self._flush()
        if self._elements > self._limits.events:
            self._refuse(f"has more than {self._limits.events:,} events", remedy=RAISE)

    def _flush(self) -> None:
        """Hand the events that have come together to the columns."""
        if self._pending:
            one, *more = self._pending_text
            text = b"[%b]" % b",".join(block[1:-1] for block in (one, *more)) if more else one
            self.columns.add(self._pending, text)
        self._pending, self._pending_text, self._pending_bytes = [], [], 0
        if self.columns.nbytes > self._limits.memory:
            what = f"needs more than {self._limits.memory:,} bytes of memory for its first {self._elements:,} events"
            self._refuse(what, remedy=RAISE)

    def _refuse_much_beside(self) -> NoReturn:
        what = f"has more than {self._limits.beside:,} bytes beside its traceEvents, at byte {self._text.offset}"
        self._refuse(what, remedy=RAISE)

    def _refuse_cut(self, inside: str) -> NoReturn:
        place = f"{inside} of traceEvents, after {self._elements:,} whole events" if self._in_events else inside
        self._refuse(f"is cut off: it ends at byte {self._text.end}, inside {place}", remedy=_AGAIN)

    def _refuse_malformed(self, what: str, place: int) -> NoReturn:
        self._refuse(f"is malformed at byte {place}: {what}", remedy=_AGAIN)

    def _refuse(self, what: str, *, remedy: str) -> NoReturn:
        raise UnreadableInput(what, where=self._where, remedy=remedy)


def _last_event_end(text: bytes, begin: int, limit: int) -> int:
    """Where the last comma from `begin` to `limit` stands that looks like one between two events; 0 if none does."""
    end = min(limit, len(text))
    for _ in range(MOST_TRIES):
        end = text.rfind(b"{", begin + 1, end)
        if end < 0:
            break
        gap = max(begin, end - WIDEST_GAP)
        before = text[gap:end].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            return gap + len(before) - 1
    return 0


def _next_event(text: Text) -> int:
    """The place in the window where the event at its head is over, if the next one or the end of the list is seen."""
    resume = _BETWEEN_EVENTS.search(text.data, text.at) or _AFTER_EVENTS.search(text.data, text.at)
    return resume.start(1) if resume else 0
