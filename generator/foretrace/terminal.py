"""What a terminal or a log is told: the progress of a run, lists of scenarios, verdicts, names read.

Text from a trace or a declaration goes through `visible` before it is printed.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from foretrace import grammars, predict
from foretrace.analysis.inspection import counted, visible
from foretrace.errors import WrongUsage
from foretrace.facts import Limiter
from foretrace.prediction import Kind, Verdict
from foretrace.record import Outcome, Run
from foretrace.scenario import Sealed
from foretrace.study import Investigation

if TYPE_CHECKING:
    from foretrace.examination import Examination


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


def fared(found: Examination) -> str:
    """What a report is about, and how its guesses and predictions fared, in one line."""
    said = {"predictions": found.predictions, "guesses": found.guesses}
    judged = [f"{what} {_count(each.verdict for each in those)}" for what, those in said.items() if those]
    return "; ".join([counted(len(found.report.traces), "trace"), *judged])


def ask() -> tuple[Kind, ...]:
    """Ask for a guess, question by question; an empty answer is none.

    Raises:
        WrongUsage: there is nobody to ask, or nothing was guessed.
    """
    if not sys.stdin.isatty():
        raise WrongUsage("asks in a terminal, and there is none", where="--guess", remedy="use --expect with a file")
    click.echo("Your guess, before the trace is opened; an empty answer is none.", err=True)
    found = [guess for question, meant in QUESTIONS.items() if (guess := _answer(question, meant)) is not None]
    if not found:
        raise WrongUsage("nothing was guessed", where="--guess", remedy="answer a question, or leave it out")
    return tuple(found)


def _answer(question: str, meant: Callable[[str], Kind]) -> Kind | None:
    """The guess that an answer means; asked again where it means none."""
    while answer := str(click.prompt(question, default="", show_default=False, err=True)).strip():
        try:
            return meant(answer)
        except (ValueError, WrongUsage) as error:
            click.echo(f"  {visible(str(error))}", err=True)
    return None


def _range(answer: str, scale: float = 1.0) -> tuple[float, float]:
    """`40-60`, `40 … 60` or `50` as an interval; `ValueError` says what is wanted."""
    numbers = re.findall(r"\d+(?:\.\d+)?", answer)
    if not 1 <= len(numbers) <= 2 or re.search(r"[A-Za-z]", answer):
        raise ValueError("a number, or two such as 40-60")
    return float(numbers[0]) * scale, float(numbers[-1]) * scale


def _limiter(answer: str) -> Kind:
    fitting = [limiter for limiter in LIMITERS if limiter.startswith(answer.lower())]
    if len(fitting) != 1:
        raise ValueError(f"one of {', '.join(LIMITERS)}")
    return predict.bound(fitting[0])


def _kernels(answer: str) -> Kind:
    if not re.fullmatch(r"\d{1,9}", answer):
        raise ValueError("a whole number")
    return predict.count("kernel", int(answer))


LIMITERS: tuple[Limiter, ...] = ("overhead", "compute", "memory", "communication", "sync")
QUESTIONS: Mapping[str, Callable[[str], Kind]] = {
    f"What limits a step ({', '.join(LIMITERS)})?": _limiter,
    "How many kernels does a step launch?": _kernels,
    "How many launches does a step make, graphs, copies and memsets among them (such as 10-20)?": lambda answer: (
        predict.within("launches", _range(answer))
    ),
    "For which share of the time, in %, is the GPU busy (such as 40-60)?": lambda answer: predict.within(
        "traced_busy_share", _range(answer, 0.01)
    ),
    "Which share of the GPU's time, in %, is matrix multiplication (such as 40-60)?": lambda answer: predict.share(
        "gemm", _range(answer, 0.01)
    ),
}
"""What is asked, and from an answer to the guess."""


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
