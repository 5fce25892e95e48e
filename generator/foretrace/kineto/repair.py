"""JSON that is nearly right: bytes come in, the value that was meant goes out, with what was wrong and where.

For the few values that the strict decoder refuses. What profilers have been seen to write is understood: bare NaN, inf
or N/A, raw control characters, quotes and backslashes without their escape, keys without their quote or value, lists
cut by an ellipsis, commas too many or too few, bytes that are not UTF-8. Valid JSON gives what it always gives.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

DEEPEST = 64
_SPACE = re.compile(rb"\s*")
_COMMAS = re.compile(rb"[\s,]*+")
_WORD = re.compile(rb'[^\s,:\[\]{}"]+')
_NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_TO_QUOTE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_KEY = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*+:'
_AFTER = {  # what may follow the quote that ends a string, and what might become that if more text came
    "key": (rb"\s*:", rb"\s*\Z"),
    "member": (
        rb"\s*(?:\}|,\s*(?:" + _KEY + rb'|[A-Za-z_]\w*"?\s*:|[},]))',
        rb'\s*(?:,\s*(?:"[^"\\]*(?:\\.[^"\\]*)*\\?(?:"\s*)?|[A-Za-z_]\w*"?\s*)?)?\Z',
    ),
    "item": (rb"\s*[,\]]", rb"\s*\Z"),
}
_AFTER["element"] = _AFTER["item"]  # an item of the list of events
_FOLLOWER = {role: re.compile(pattern, re.DOTALL) for role, (pattern, _) in _AFTER.items()}
_UNFINISHED = {role: re.compile(pattern, re.DOTALL) for role, (_, pattern) in _AFTER.items()}
_MEMBER_INSIDE = re.compile(
    rb'[,{]\s*"(?:ph|cat|name|pid|tid|ts|dur|args|id|s|bp)"\s*:'
)  # a string swallowed its neighbours
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4})|)')
_MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONTROL = re.compile(rb"[\x00-\x1f]")
_WORDS = {b"true": True, b"false": False, b"null": None}


class Short(Exception):  # noqa: N818 - not an error until the file has no more
    """The text ends within a value; more of it may complete the value."""

    def __init__(self, inside: str) -> None:
        super().__init__(inside)
        self.inside = inside


class Broken(Exception):  # noqa: N818
    """No value can be made of the text at `at`."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.what, self.at = what, at


class Repair:
    """Reads values from `data`; `flaws` tells what was not JSON and at which byte of `data`, `work` what it cost.

    Args:
        data: text with the values in it.
        end: where it is to be taken for ending; None for where it does.
    """

    def __init__(self, data: bytes, end: int | None = None) -> None:
        self._data = data
        self._end = len(data) if end is None else end
        self.flaws: list[tuple[int, str]] = []
        self.work = 0  # values and doubtful quotes, about 3 µs each

    def value(self, at: int, role: str, depth: int = 0) -> tuple[Any, int]:
        """The value that starts at `at`, and where it ends.

        Raises:
            Short: `data` ends within the value.
            Broken: what is there resembles no value.
        """
        at = self._skip_space(at, "a value")
        self.work += 1
        first = self._data[at : at + 1]
        if depth > DEEPEST:
            raise Broken(f"values nested deeper than {DEEPEST}", at)
        if first == b'"':
            return self._string(at, role)
        if first == b"{":
            return self._object(at, depth)
        if first == b"[":
            return self._list(at, depth)
        return self._bare(at, role)

    def key(self, at: int) -> tuple[str, int]:
        """The key of a member at `at`, and where its value starts."""
        if self._data[at : at + 1] == b'"':
            name, at = self._string(at, "key")
        elif word := _WORD.match(self._data, at, self._end):
            self._note(at, "a key without its quotes")
            name, at = word[0].decode(errors="replace"), word.end()
            at += at < self._end and self._data[at : at + 1] == b'"'
        else:
            raise Broken(f"{self._data[at : at + 1]!r} where a key must be", at)
        at = self._skip_space(at, "an object")
        if self._data[at : at + 1] != b":":
            raise Broken("a key without a colon", at)
        return name, at + 1

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        at = self._skip_space(at + 1, "an object")
        while self._data[at] != ord("}"):
            name, at = self.key(at)
            members[name], at = self.value(at, "member", depth + 1)
            at = self._next(at, b"}", "an object")
        return members, at + 1

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        at = self._skip_space(at + 1, "a list")
        while self._data[at] != ord("]"):
            item, at = self.value(at, "item", depth + 1)
            items.append(item)
            at = self._next(at, b"]", "a list")
        return items, at + 1

    def _next(self, at: int, close: bytes, inside: str) -> int:
        """Past the comma after a member or item, to the next one or to `close`."""
        at = self._skip_space(at, inside)
        sign = self._data[at : at + 1]
        if sign == close:
            return at
        if sign != b",":
            if sign in b"}]:":
                raise Broken(f"{sign.decode()!r} inside {inside}", at)
            self._note(at, "a missing comma")
            return at
        after = _COMMAS.match(self._data, at + 1, self._end).end()  # type: ignore[union-attr] # it matches the empty text, too
        if after >= self._end:
            raise Short(inside)
        if self._data[after : after + 1] == close or self._data.find(b",", at + 1, after) >= 0:
            self._note(at, "a comma too many")
        return after

    def _bare(self, at: int, role: str) -> tuple[Any, int]:
        word = _WORD.match(self._data, at, self._end)
        if word is None:
            if role == "element" or self._data[at : at + 1] == b":":
                raise Broken(f"{self._data[at : at + 1].decode()!r} where a value must be", at)
            self._note(at, "a missing value")
            return None, at
        if word.end() == self._end:
            raise Short("a value")
        if word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        if _NUMBER.fullmatch(word[0]):
            return _number(word[0]), word.end()
        self._note(at, f"{word[0][:20].decode(errors='replace')!r} where a JSON value must be")
        return None, word.end()

    def _string(self, at: int, role: str) -> tuple[str, int]:
        end, repaired = at + 1, False
        while True:
            end = _TO_QUOTE.match(self._data, end, self._end).end()  # type: ignore[union-attr] # it matches no text, too
            if end >= self._end or self._data[end : end + 1] != b'"':
                raise Short("a string")
            if _FOLLOWER[role].match(self._data, end + 1, self._end):
                break
            if _UNFINISHED[role].match(self._data, end + 1, self._end):
                raise Short("a list" if role in ("item", "element") else "an object")
            end, repaired = end + 1, True
            self.work += 1
        body = self._data[at + 1 : end]
        if repaired:
            if _MEMBER_INSIDE.search(body):
                raise Broken("a string that is not closed", at)
            self._note(at, "an unescaped quote in a string")
        return self._text(body, at), end + 1

    def _text(self, body: bytes, at: int) -> str:
        if _CONTROL.search(body):
            self._note(at, "a raw control character in a string")
        try:
            text = body.decode()
        except UnicodeDecodeError:
            self._note(at, "a string that is not UTF-8")
            text = body.decode(errors="replace")
        if "\\" in text:
            text = _ESCAPE.sub(lambda escape: self._unescape(escape, at), text)
            paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if paired.count("\ufffd") > text.count("\ufffd"):
                self._note(at, "half a surrogate pair in a string")
            text = paired
        return text

    def _unescape(self, escape: re.Match[str], at: int) -> str:
        sign, code = escape.groups()
        if code:
            return chr(int(code, 16))
        if sign:
            return _MEANT.get(sign, sign)
        self._note(at, "a backslash without its escape in a string")
        return "\\"

    def _skip_space(self, at: int, inside: str) -> int:
        at = _SPACE.match(self._data, at, self._end).end()  # type: ignore[union-attr] # it matches the empty text, too
        if at >= self._end:
            raise Short(inside)
        return at

    def _note(self, at: int, what: str) -> None:
        self.flaws.append((at, what))


def plain(value: Any) -> Any:
    """A value as JSON libraries give it: numbers with a fraction as floats, None where they are beyond those."""
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return float(value) if math.isfinite(float(value)) else None
    return value


def _number(text: bytes) -> int | Decimal | None:
    try:
        return int(text) if text.lstrip(b"-").isdigit() else Decimal(text.decode())
    except (ValueError, InvalidOperation):
        return None  # more digits than any id or time has
