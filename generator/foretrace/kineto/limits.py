"""How much of a file is read before it is refused: one number is chosen, the bounds on a whole trace follow from it."""

from __future__ import annotations

from dataclasses import dataclass

GIGABYTE = 1_000_000_000
RAISE = "if you trust it, foretrace inspect reads more with --max-gb"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one trace, in bytes but for `events` and `repairs`.

    Args:
        json: of unpacked text. The ratios below leave room for everything that profilers write: 100 bytes are a
            short event, and one that is kept takes at most a quarter of its text in memory.
    """

    json: int = 4 * GIGABYTE

    @property
    def events(self) -> int:
        """Elements of traceEvents, of any phase."""
        return self.json // 64

    @property
    def memory(self) -> int:
        """The columns, with all names."""
        return self.json // 3

    @property
    def event(self) -> int:
        """One event."""
        return self.json // 1_000

    @property
    def beside(self) -> int:
        """All members beside traceEvents."""
        return self.json // 250

    @property
    def repairs(self) -> int:
        """Values of malformed events, which are read one by one: a million events, a minute."""
        return self.json // 250


USUAL = Limits()
