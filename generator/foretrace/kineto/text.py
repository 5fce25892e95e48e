"""Text that is still arriving: chunks come in, and the part that is read but not yet used is what a reader sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(rb"\s*")


class Text:
    """A window on the text; `data` is what it shows, `offset` where in the whole that begins."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ended = False
        self.data = b""
        self.offset = 0

    @property
    def end(self) -> int:
        """The byte of the whole at which the window ends."""
        return self.offset + len(self.data)

    def fill(self, size: int) -> bool:
        """Show at least `size` bytes; False if the text ends before."""
        if len(self.data) >= size:
            return True
        parts, have = [self.data], len(self.data)
        while have < size and not self._ended:
            chunk = next(self._chunks, b"")
            self._ended = not chunk
            parts.append(chunk)
            have += len(chunk)
        self.data = b"".join(parts)
        return have >= size

    def grow(self) -> bool:
        """Show about twice as much; False if there is no more."""
        before = len(self.data)
        self.fill(2 * before + 1)
        return len(self.data) > before

    def drop(self, count: int) -> None:
        """Use up the first `count` bytes shown."""
        self.data = self.data[count:]
        self.offset += count

    def peek(self) -> bytes:
        """The next byte that is no white space, now the first one shown; empty at the end of the text."""
        while True:
            space = _SPACE.match(self.data)
            if space is not None and space.end():
                self.drop(space.end())
            if self.data or not self.fill(1):
                return self.data[:1]
