"""What was wrong with a document that could be read all the same: places come in, one sentence a kind goes out."""

from __future__ import annotations

MOST_KINDS = 12


class Notes:
    """Collects flaws by kind; places are bytes of the unpacked text."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}  # the first byte and the number of places
        self._others = 0  # flaws of kinds beyond the first

    def add(self, what: str, at: int) -> None:
        """Note a flaw of the kind `what` at byte `at`."""
        if what in self._places:
            self._places[what][1] += 1
        elif len(self._places) < MOST_KINDS:
            self._places[what] = [at, 1]
        else:
            self._others += 1

    def warnings(self) -> list[str]:
        """A sentence for each kind of flaw, in the order they were met."""
        sentences = []
        for what, (first, count) in self._places.items():
            more = f" and at {count - 1:,} more places" if count > 1 else ""
            sentences.append(f"{what} at byte {first}{more}")
        if self._others:
            sentences.append(f"{self._others:,} more flaws of other kinds in the JSON")
        return sentences
