"""Text that is still arriving: chunks come in, and the part that is read but not yet used is what a reader sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(rb"\s*")


class Text:
    """A window on the text: what is read and not yet used is `data` from `at` on."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ended = False
        self._before = 0  # bytes of the whole before `data`
        self.data = b""
        self.at = 0

    def __len__(self) -> int:
        """How many bytes are shown."""
        return len(self.data) - self.at

    @property
    def offset(self) -> int:
        """The byte of the whole at which the window begins."""
        return self._before + self.at

    @property
    def end(self) -> int:
        """The byte of the whole at which the window ends."""
        return self._before + len(self.data)

    def byte(self, at: int) -> int:
        """The byte of the whole at a place in `data`."""
        return self._before + at

    def place(self, byte: int) -> int:
        """The place in `data` of a byte of the whole."""
        return byte - self._before

    def fill(self, size: int) -> bool:
        """Show at least `size` bytes; False if the text ends before."""
        have = len(self)
        if have >= size or self._ended:
            return have >= size
        parts = [self.data[self.at :]]
        while have < size and not self._ended:
            chunk = next(self._chunks, b"")
            self._ended = not chunk
            parts.append(chunk)
            have += len(chunk)
        self._before, self.data, self.at = self.offset, b"".join(parts), 0
        return have >= size

    def grow(self, most: int) -> bool:
        """Show about twice as much, up to more than `most` bytes; False if there is no more."""
        before = len(self)
        self.fill(min(2 * before, most) + 1)
        return len(self) > before

    def drop(self, count: int) -> None:
        """Use up the first `count` bytes shown."""
        self.at += count

    def peek(self) -> bytes:
        """The next byte that is no white space, now the first one shown; empty at the end of the text."""
        while True:
            self.at = _SPACE.match(self.data, self.at).end()  # type: ignore[union-attr] # it matches the empty text, too
            if self.at < len(self.data) or not self.fill(1):
                return self.data[self.at : self.at + 1]
