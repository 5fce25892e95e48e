"""The page models: one frozen struct a template, every number already text.

Names that came from a trace are plain text in here; the templates escape whatever they print. Addresses are relative to
the site's source folder: `reports/matmul-add.md` for a page, `runs/…` for a recorded file.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from foretrace.facts import Timeline
from foretrace.prediction import State
from foretrace.stats import Summary


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column's head and the definition that is shown with it."""

    title: str
    meaning: str
    numeric: bool = False


class Link(msgspec.Struct, frozen=True):
    """Words and the address they lead to, a page, a file of the site, or a place elsewhere."""

    text: str
    to: str


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a table."""

    text: str
    order: str = ""  # the number that the column sorts by; "" sorts by the text
    detail: str = ""  # a second, smaller line
    full: str = ""  # the unabridged name, opened on demand
    exact: str = ""  # the unabridged name, for the files beside the page
    hint: str = ""  # shown when pointed at
    to: str = ""  # where the text leads
    kind: Literal["text", "code", "missing", "good", "bad"] = "text"
    depth: int = 0  # indentation


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows under defined columns; see `trimmed` for leaving empty ones out."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[tuple[int, str], ...] = ()  # before which row a group begins, and its title
    left_out: str = ""  # what is not shown, in words
    most: int = 0  # how many rows a page shows, 0 for all; the files beside it have every one
    tall: bool = False  # scrolls within itself

    @property
    def shown(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows that a page shows."""
        return self.rows[: self.most] if self.most else self.rows

    def trimmed(self) -> Table:
        """The table without the columns in which nothing is known of any row."""
        known = [
            place
            for place in range(len(self.columns))
            if not self.rows or any(row[place].kind != "missing" or row[place].text != "n/a" for row in self.rows)
        ]
        return msgspec.structs.replace(
            self,
            columns=tuple(self.columns[place] for place in known),
            rows=tuple(tuple(row[place] for place in known) for row in self.rows),
        )


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one line in a figure: what is drawn, not what is read."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class Samples(msgspec.Struct, frozen=True, kw_only=True):
    """All samples of a quantity, a row a variant."""

    unit: str
    rows: tuple[tuple[str, Summary, tuple[float, ...]], ...]  # label, what the tables say of them, the samples


class CpuGpu(msgspec.Struct, frozen=True, kw_only=True):
    """CPU time beside GPU time, a pair a variant, in µs."""

    rows: tuple[tuple[str, Summary, Summary], ...]  # label, CPU dispatch, GPU busy


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """Quantities over a numeric parameter."""

    parameter: str
    unit: str
    series: tuple[Series, ...]


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """Which kernel a library ran at which value of a numeric parameter."""

    parameter: str
    rows: tuple[tuple[str, str, tuple[float, ...]], ...]  # the kernel's label, its family, the values at which it ran


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Achieved rates, each beside the ceiling that the hardware sets, where one is known."""

    unit: str
    rows: tuple[tuple[str, Summary, float | None], ...]  # label, achieved, ceiling


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """A quantity on two sides: what it was, and what it became."""

    unit: str
    sides: tuple[str, str]  # what `before` and `after` are, in words
    rows: tuple[tuple[str, Summary, Summary], ...]  # label, before, after


class Families(msgspec.Struct, frozen=True, kw_only=True):
    """Where the GPU's time goes, by families of its work."""

    rows: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]  # label, (family, µs a step), the longest first


Drawing = Timeline | Samples | CpuGpu | Sweep | Choices | Rates | Changes | Families


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An image in light and dark."""

    stem: str  # address without `-light.svg` and `-dark.svg`
    title: str  # inside the image
    alt: str
    caption: str
    drawing: Drawing


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What the reader must know before the figures."""

    kind: Literal["info", "warning", "failure"]
    title: str
    text: str
    block: str = ""  # preformatted, such as the end of stderr


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What one variant, or a pair, says about a statement."""

    variants: tuple[Link, ...]
    state: State
    measured: str
    part: str


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that decided a verdict, with the variants that it was found for."""

    measured: str
    part: str  # of a statement of several parts: which one, in words
    variants: tuple[Link, ...]
    others: str  # how many more variants, in words


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a statement in words, and the variants it speaks of."""

    text: str
    where: str


StatementKind = Literal["prediction", "claim", "guess"]


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction or a published claim, with what came of it."""

    key: str  # the claim's id, or the prediction's number
    anchor: str
    kind: StatementKind
    words: str  # a claim's own words; "" for a prediction
    parts: tuple[Said, ...]
    because: str
    state: State
    untold: str  # why this run could not have told, in words; "" where it was judged
    measured: str  # what decided it, in short
    lines: tuple[Line, ...]  # the same, one by one
    more: str  # what `lines` leaves out, in words
    evidence: tuple[Evidence, ...]
    parts_held: str = ""  # of several, where it did not hold: `2 of 3 parts held`
    figure: str = ""  # as published; "" where the source gives none
    on: str = ""
    source: str = ""

    @property
    def mismatch(self) -> bool:
        """Whether what was measured is not what was said, or does not decide it: what asks for a reason."""
        return self.state != "held" and not self.untold


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """When and how the predictions were fixed."""

    sha256: str
    commit: str
    date: str
    changed: str  # what to say where the declaration is no longer the sealed one; "" where it is


class RunCard(msgspec.Struct, frozen=True, kw_only=True):
    """One run in short, and all of its environment."""

    id: str
    date: str
    device: str  # the GPU's name, or "CPU"
    commit: str
    command: str
    record: str  # address of run.json
    environment: tuple[tuple[str, str], ...]


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """How many statements came out how."""

    title: str
    held: str
    refuted: str
    undecided: str
    total: str


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that did not hold, as the front page lists it."""

    slug: str
    scenario: str
    to: str
    statement: Statement


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One of the questions that every comparison answers."""

    question: str
    short: str  # `yes`, `no`, or what stands between
    said: tuple[str, ...]  # what it rests on, a sentence each


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One value of the baseline's parameter against the baseline."""

    title: str
    anchor: str
    answers: tuple[Answer, ...]
    changes: tuple[Picture, ...]  # what became of the GPU's time and of the number of kernels
    table: Table
    layers: Table
    savings: Table | None  # in memory traffic
    fusion: Table | None


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a kernel's name; `meaning` and `confidence` are empty where nothing is known."""

    text: str
    meaning: str
    confidence: Literal["A", "B", "C", ""]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel's name, read; the texts of the pieces, joined, are the name, or its beginning."""

    anchor: str
    name: str
    label: str
    library: str
    family: str
    pieces: tuple[Piece, ...]
    told: tuple[Piece, ...]  # the pieces that have a meaning, each once
    notes: tuple[str, ...]  # what the name cannot tell, or tells only as likely
    unread: str  # what no rule explains
    explained: str  # address of the rules that read it; "" where none did
    more: str  # how much of the name is not shown, in words


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a page's figures rest on."""

    what: str
    to: str
    sha256: str = ""
    size: str = ""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a trace shows: the sections that a variant's page and a given trace's have in common."""

    layers: Table | None = None
    quantities: Table | None = None
    withheld: tuple[tuple[str, str], ...] = ()  # what is not given, and why
    kernels: Table | None = None
    names: tuple[Reading, ...] = ()  # of the kernels, each once
    more_names: str = ""  # how many of them are not read here
    sequence: Table | None = None  # a step's GPU work in order
    operators: Table | None = None
    steps: Table | None = None
    outside: str = ""  # GPU work that no recorded step launched, in words; "" where none
    chain: Table | None = None
    calls: Table | None = None
    checks: Table | None = None
    notes: tuple[str, ...] = ()  # what the reader of the trace noticed
    usage: Table | None = None  # busy and idle, by GPU
    others: Table | None = None  # the GPU work that no recorded step launched


class VariantPage(Shown, frozen=True, kw_only=True):
    """All that is known of one variant."""

    slug: str
    address: str
    name: str
    scenario: Link
    run: RunCard
    parameters: tuple[tuple[str, str], ...]
    command: str  # that measures this variant alone
    bound: str  # the limiter; "" where nothing was measured
    bound_evidence: str
    notices: tuple[Notice, ...]
    timeline: Picture | None
    device: Table | None
    files: tuple[File, ...]
    trace: str  # address; "" where there is none


class TracePage(Shown, frozen=True, kw_only=True):
    """All that one trace shows that came along without a scenario."""

    address: str
    title: str
    report: Link  # the page itself where it is about this trace alone
    device: str
    bound: str
    bound_evidence: str
    notices: tuple[Notice, ...]
    timeline: Picture | None
    file: File
    source: str  # what the file was called


class ReportPage(msgspec.Struct, frozen=True, kw_only=True):
    """One report: a trace, or the ranks of a job."""

    name: str
    address: str
    title: str
    date: str
    command: str
    sha256: str  # of what was expected, as sealed
    notices: tuple[Notice, ...]
    predictions: tuple[Statement, ...]
    guesses: tuple[Statement, ...]
    ranks: Table | None  # where there are several
    traces: tuple[TracePage, ...]
    files: tuple[File, ...]


class KeyVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One variant as the scenario's page shows it."""

    link: Link
    timeline: Picture
    kernels: Table | None
    operators: Table | None
    chain: Table | None


class ScenarioPage(msgspec.Struct, frozen=True, kw_only=True):
    """One question and its answer."""

    slug: str
    address: str
    title: str
    question: str
    run: RunCard
    seal: Seal
    notices: tuple[Notice, ...]
    limiters: tuple[str, ...]  # what a reader can guess
    predictions: tuple[Statement, ...]
    claims: tuple[Statement, ...]
    steps: Table | None
    samples: Picture | None
    cpu_gpu: Table | None
    beside: Picture | None
    cpu: Table | None  # dispatch with and without the profiler
    families: Picture | None  # where the GPU's time goes
    rates: tuple[Picture, ...]  # against the measured ceilings
    parts: Table | None  # of a step, with the kernel that does each
    sweep: Table | None
    swept: tuple[Picture, ...]
    chosen: Table | None  # which kernel at which point of a sweep
    choices: tuple[Picture, ...]
    key_variants: tuple[KeyVariant, ...]  # a handful that stands for the rest
    baseline: str  # what comparisons start from, in words
    comparisons: tuple[Comparison, ...]
    noise: Table | None
    own_noise: tuple[str, str]  # how far apart rounds lie: the middle variant's, the worst one's
    drift: str  # where variants differ from themselves, in words
    reach: tuple[str, ...]
    variants: Table
    failures: tuple[tuple[Link, Notice], ...]
    files: tuple[File, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Predictions, then claims."""
        return self.predictions + self.claims


class FrontPage(msgspec.Struct, frozen=True, kw_only=True):
    """All scenarios at a glance."""

    address: str
    runs: tuple[RunCard, ...]
    scores: tuple[Score, ...]
    mismatches: tuple[Mismatch, ...]
    untold: str  # how many statements these runs could not have told, in words; "" where none
    scenarios: Table
    failures: tuple[tuple[Link, Notice], ...]
    reports: Table | None = None  # on traces that came along


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What one scenario found of a published claim."""

    slug: str
    scenario: Link  # its title, and the claim's place on its page
    device: str
    statement: Statement


class PublishedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim as the first scenario that carries it says it, with one verdict from all that do."""

    key: str
    anchor: str
    words: str
    state: State
    parts_held: str  # where one scenario alone judged it
    figure: str
    on: str
    source: str
    judgements: tuple[Judgement, ...]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The claims that were published in one place."""

    anchor: str
    title: str  # the address without its scheme
    to: str  # "" where none was given
    claims: tuple[PublishedClaim, ...]


class ClaimsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Every published claim of every scenario."""

    address: str
    score: Score
    setting: str  # where the published figures were measured, and where ours
    reach: tuple[tuple[Link, tuple[str, ...]], ...]  # by scenario
    sources: tuple[Source, ...]

    @property
    def claims(self) -> tuple[PublishedClaim, ...]:
        """All of them, in the order of the page."""
        return tuple(claim for source in self.sources for claim in source.claims)


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """The rules by which one library's kernel names are read."""

    anchor: str
    title: str
    about: tuple[str, ...]  # paragraphs; code in backticks
    source: str  # a link
    terms: Table
    examples: tuple[str, ...]  # whole names


class Glossary(msgspec.Struct, frozen=True, kw_only=True):
    """All libraries whose kernel names are read."""

    address: str
    libraries: tuple[Library, ...]


class Definitions(msgspec.Struct, frozen=True, kw_only=True):
    """What every quantity, column and verdict means."""

    address: str
    states: tuple[tuple[State, str], ...]  # a verdict and what it means
    quantities: tuple[tuple[str, Column, str], ...]  # anchor, head and meaning, unit
    tables: tuple[tuple[str, str, tuple[Column, ...]], ...]  # anchor, title, columns
