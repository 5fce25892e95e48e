"""What a run tells while it goes on, as a protocol that a terminal or a log can implement."""

from __future__ import annotations

from typing import Protocol

from foretrace.record import Outcome, Run


class Progress(Protocol):
    """Somebody who watches a run."""

    def started(self, run: Run, total: int) -> None:
        """The record is there, and `total` variants are about to be measured."""

    def variant_started(self, slug: str, variant: str) -> None:
        """A variant's process is being started."""

    def variant_done(self, slug: str, outcome: Outcome) -> None:
        """A variant's outcome, good or bad, has been recorded."""

    def note(self, text: str) -> None:
        """Something else worth a line."""


class Silence:
    """Nobody watches."""

    def started(self, run: Run, total: int) -> None:
        """Nothing."""

    def variant_started(self, slug: str, variant: str) -> None:
        """Nothing."""

    def variant_done(self, slug: str, outcome: Outcome) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""
