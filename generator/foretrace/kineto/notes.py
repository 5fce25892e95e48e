"""What was wrong with a document that could be read all the same: places come in, one sentence a kind goes out."""

from __future__ import annotations

MOST_KINDS = 12


class Notes:
    """Collects flaws by kind; places are bytes of the unpacked text."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}  # the first byte and the number of places

    def add(self, what: str, at: int) -> None:
        """Note a flaw of the kind `what` at byte `at`."""
        place = self._places.setdefault(what, [at, 0])
        place[1] += 1

    def warnings(self) -> list[str]:
        """A sentence for each kind of flaw, in the order they were met."""
        sentences = []
        for what, (first, count) in list(self._places.items())[:MOST_KINDS]:
            more = f" and at {count - 1:,} more places" if count > 1 else ""
            sentences.append(f"{what} at byte {first}{more}")
        if beyond := len(self._places) - MOST_KINDS:
            sentences += [f"{beyond} more kinds of flaws in the JSON"] if beyond > 0 else []
        return sentences
