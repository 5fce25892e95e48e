"""What a terminal or a log is told: the progress of a run, lists of scenarios, verdicts, names read.

Text from a trace or a declaration goes through `visible` before it is printed.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from foretrace import grammars
from foretrace.analysis.inspection import counted, visible
from foretrace.prediction import Verdict
from foretrace.record import Outcome, Run
from foretrace.scenario import Sealed
from foretrace.study import Investigation


class Lines:
    """The progress of a run in plain lines, for logs and pipes."""

    def __init__(self) -> None:
        self._total = 0
        self._outcomes: list[Outcome] = []

    def started(self, run: Run, total: int) -> None:
        """Say what is measured on what."""
        self._total = total
        device = run.environment.gpu.name if run.environment.gpu else run.environment.cpu_model
        work = f"{counted(total, 'measurement')} on {device}, {counted(run.options.rounds, 'round')}"
        self._say(f"{run.id}: {work}")

    def variant_started(self, slug: str, variant: str) -> None:
        """Nothing: the line comes when there is a result."""

    def variant_done(self, slug: str, outcome: Outcome) -> None:
        """One line a variant."""
        self._outcomes.append(outcome)
        count = f"[{len(self._outcomes):>{len(str(self._total))}}/{self._total}]"
        self._say(f"{count} {slug}/{outcome.variant.name}: {_result(outcome)}")

    def note(self, text: str) -> None:
        """One line."""
        self._say(text)

    def ended(self) -> None:
        """How many were measured, and what measuring cost beyond the variants' own work; nothing where none was."""
        if self._outcomes:
            self._say(summary(self._outcomes))

    def _say(self, text: str) -> None:
        click.echo(visible(text), err=True)


class Bar(Lines):
    """The progress of a run as a bar with the variant at work, for a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True, highlight=False, markup=False),
            transient=True,
        )
        self._task: TaskID | None = None

    def started(self, run: Run, total: int) -> None:
        """Show the bar."""
        super().started(run, total)
        self._task = self._progress.add_task("", total=total)
        self._progress.start()

    def variant_started(self, slug: str, variant: str) -> None:
        """Name the variant at work."""
        if self._task is not None:
            self._progress.update(self._task, description=visible(f"{slug}/{variant}"))

    def variant_done(self, slug: str, outcome: Outcome) -> None:
        """Move on, and leave a line."""
        super().variant_done(slug, outcome)
        if self._task is not None:
            self._progress.advance(self._task)

    def ended(self) -> None:
        """Take the bar away."""
        self._progress.stop()
        super().ended()

    def _say(self, text: str) -> None:
        self._progress.console.print(visible(text), soft_wrap=True)


def watcher() -> Lines:
    """A bar where standard error is a terminal, else lines."""
    return Bar() if sys.stderr.isatty() else Lines()


def summary(outcomes: Iterable[Outcome]) -> str:
    """How many measurements were made and failed, and what one cost beyond the variant's own work."""
    known = list(outcomes)
    failed, missing = sum(outcome.failed for outcome in known), sum(map(_unavailable, known))
    last = [outcome.rounds[-1] for outcome in known if outcome.failure is None]
    costs = [cost for found in last if (cost := found.overhead_s) is not None]
    said = f"{len(last)} measured, {failed} failed" + (f", {missing} not possible here" if missing else "")
    if not costs:
        return said
    return f"{said}; beyond the variant's own work {statistics.median(costs):.2f} s each, {max(costs):.2f} s at most"


def listing(sealed: Sealed) -> list[str]:
    """A scenario in a few lines: its question, its size, its variants."""
    scenario = sealed.scenario
    return [
        f"{sealed.slug}: {visible(scenario.title)}",
        f"  {visible(scenario.question)}",
        f"  {len(scenario.variants)} variants, {len(scenario.predictions)} predictions, {len(scenario.claims)} claims",
        *(f"    {variant.name}" for variant in scenario.variants),
    ]


def verdicts(found: Investigation) -> str:
    """How a scenario's predictions and the published claims fared, in one line."""
    said = (_count(judged.verdict for judged in each) for each in (found.predictions, found.claims))
    return "predictions {}; claims {}".format(*said)


def print_readings(names: Iterable[str]) -> None:
    """Print each name broken into coloured tokens with their meaning; control characters in names are made visible."""
    console = Console(highlight=False)
    colours = {"A": "green", "B": "cyan", "C": "yellow", "": "dim"}
    for name in names:
        reading = grammars.decode(name)
        tokens = grammars.tokens(name)
        console.print(Text().join(Text(visible(token.text), style=colours[token.confidence]) for token in tokens))
        console.print(Text(f"  {reading.family} · {reading.library} · {visible(grammars.label(name))}", style="bold"))
        table = Table(box=None, show_header=False, padding=(0, 2))
        for token in tokens:
            if token.meaning:
                piece = Text(visible(token.text), style=colours[token.confidence])
                table.add_row(piece, Text(visible(token.meaning)), token.confidence)
        console.print(table)
        for note in reading.notes:
            console.print(Text(f"  note: {visible(note)}"))
        if reading.unread:
            console.print(Text(f"  unread: {visible(' '.join(reading.unread))}", style="yellow"))


def _result(outcome: Outcome) -> str:
    if outcome.failure is not None and _unavailable(outcome):
        return f"not possible here: {outcome.failure.message}"
    if outcome.failure is not None:
        return f"{outcome.failure.reason} after {outcome.failure.after_s:.1f} s: {outcome.failure.message}"
    last = outcome.rounds[-1]
    cost = last.overhead_s
    beyond = "" if cost is None else f", {cost:.2f} s of it beyond its own work"
    return f"round {len(outcome.rounds)} in {last.seconds.get('wall', 0.0):.1f} s{beyond}"


def _unavailable(outcome: Outcome) -> bool:
    return outcome.failure is not None and not outcome.failed


def _count(found: Iterable[Verdict]) -> str:
    states = [verdict.state for verdict in found]
    return ", ".join(f"{states.count(state)} {state}" for state in ("held", "refuted", "undecided"))
