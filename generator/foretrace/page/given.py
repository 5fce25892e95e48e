"""Traces that came along: an examination comes in, a report's page with a page for each of its traces goes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from foretrace import units
from foretrace.analysis.alone import Look
from foretrace.analysis.usage import Usage
from foretrace.dossier import Kept, Report
from foretrace.examination import Examination, name
from foretrace.facts import Facts
from foretrace.page import addresses, cells, ranks, readings, runs, statements, variant
from foretrace.page.models import (
    Cell,
    Column,
    File,
    Link,
    Notice,
    ReportPage,
    Shown,
    Table,
    TracePage,
)
from foretrace.record import Ceilings

UNKNOWN = Ceilings(tflops={}, copy_gbps=None, how="")
"""What nobody measured of the device that a trace came from."""

MINOR = {"buffer_requests"}
"""Quantities whose absence is no news."""

USAGE = (
    Column(title="GPU", meaning="The device, as the trace names it."),
    Column(
        title="Window",
        meaning="From the start of the first recorded step to the end of the last one, or of the work launched in it.",
        numeric=True,
    ),
    Column(title="Busy", meaning="Union of kernels, copies and memsets over all streams, in the window.", numeric=True),
    Column(title="Idle", meaning="The rest of the window, under the profiler, which slows the CPU.", numeric=True),
    Column(title="Longest idle", meaning="The longest time in which nothing ran on the GPU.", numeric=True),
    Column(title="Communication", meaning="Union of the kernels that communicate between GPUs.", numeric=True),
    Column(title="Exposed", meaning="Communication while nothing else ran on this GPU.", numeric=True),
    Column(title="Streams", meaning="With any work in the window.", numeric=True),
)
REPORTS = (
    Column(title="Report", meaning="A trace, or the ranks of a job."),
    Column(title="Traces", meaning="How many it is about.", numeric=True),
    Column(title="Predictions", meaning="How many held, were refuted, stayed undecided."),
    Column(title="Device", meaning="As the traces name it."),
    Column(title="Added", meaning="When what was expected was sealed, and the trace read."),
)


def build(found: Examination) -> ReportPage:
    """The page of a report."""
    report = found.report
    address = addresses.report(report.id)
    traces = tuple(_trace(report, kept, found.looks[name(report, kept)]) for kept in report.traces)
    places = {name(report, kept): trace.address for kept, trace in zip(report.traces, traces, strict=True)}
    params = {title: look.facts.params for title, look in found.looks.items()}
    return ReportPage(
        name=report.id,
        address=address,
        title=report.title,
        date=runs.date(report.sealed_utc),
        command=report.command,
        sha256=report.seal,
        notices=tuple(_notices(report)),
        predictions=statements.expected(
            found.predictions, kind="prediction", params=params, address=places.__getitem__
        ),
        guesses=statements.expected(found.guesses, kind="guess", params=params, address=places.__getitem__),
        ranks=ranks.table(found.looks, places, title=report.title) if len(traces) > 1 else None,
        traces=traces,
        files=(
            File(what="the report: what was expected, the command", to=addresses.kept(report.id, "report.json")),
            *(trace.file for trace in traces),
        ),
    )


def listed(pages: Sequence[ReportPage]) -> Table | None:
    """All reports, for the front page."""
    rows = tuple(
        (
            Cell(text=page.title, to=page.address),
            cells.count(len(page.traces)),
            _fared(page),
            Cell(text=", ".join(dict.fromkeys(trace.device for trace in page.traces))),
            Cell(text=page.date),
        )
        for page in pages
    )
    return Table(caption="Reports on traces", columns=REPORTS, rows=rows) if rows else None


def _fared(page: ReportPage) -> Cell:
    states = [statement.state for statement in page.predictions]
    said = [f"{states.count(state)} {state}" for state in ("held", "refuted", "undecided") if state in states]
    return Cell(text=", ".join(said) or "none")


def _trace(report: Report, kept: Kept, look: Look) -> TracePage:
    several = len(report.traces) > 1
    address = addresses.rank(report.id, kept.rank) if several else addresses.report(report.id)
    here = f"{report.title}, {name(report, kept)}" if several else report.title
    facts = look.facts
    return TracePage(
        **msgspec.structs.asdict(_shown(look, here, address=address)),
        address=address,
        title=name(report, kept) if several else report.title,
        report=Link(report.title, addresses.report(report.id)),
        device=", ".join(look.devices) or ("unnamed GPU" if look.facts.kernels or look.others else "no GPU recorded"),
        bound=facts.bound.limiter,
        bound_evidence=_sentence(facts.bound.evidence),
        notices=tuple(_doubts(facts)),
        timeline=variant.picture(look.timeline, here, title=here, stem=addresses.beside(address, "timeline")),
        file=File(
            what=f"{name(report, kept)}, as published",
            to=addresses.kept(report.id, kept.name),
            sha256=kept.sha256,
            size=units.quantity(kept.size_bytes, "bytes"),
        ),
        source=kept.source,
    )


def _shown(look: Look, here: str, *, address: str) -> Shown:
    shown = variant.shown(look.facts, here, address=address, ceilings=UNKNOWN)
    read = len(variant.to_read(look.facts.kernels))
    beyond = variant.to_read((*look.facts.kernels, *look.others))[read:]
    names = (*shown.names, *readings.readings(beyond, first=len(shown.names) + 1))
    caption = f"GPU work that no recorded step launched, {here}"
    return msgspec.structs.replace(
        shown,
        names=names,
        usage=_usage(look.usage, here) if look.usage else None,
        others=variant.kernels(look.others, names, caption, address=address, untimed=look.facts.untimed)
        if look.others
        else None,
    )


def _usage(used: Sequence[Usage], here: str) -> Table:
    typical = cells.smallest(each.busy_us for each in used)
    rows = tuple(
        (
            Cell(text=f"{each.device}" if each.device >= 0 else "unnumbered", detail=each.name),
            cells.amount(each.span_us, "us"),
            _part(each.busy_us, each.span_us, typical),
            _part(each.idle_us, each.span_us, typical),
            _part(each.longest_idle_us, each.span_us, typical),
            *(
                (_part(each.communication_us, each.span_us, typical), _part(each.exposed_us, each.span_us, typical))
                if each.communication_us
                else (cells.missing("no kernel that communicates was recorded"),) * 2
            ),
            cells.count(each.streams),
        )
        for each in used
    )
    graphs = sum(each.from_graphs for each in used)
    said = f"{graphs:,} pieces of work come from graphs: gaps between them can be the profiler's." if graphs else ""
    return Table(caption=f"Busy and idle, {here}", columns=USAGE, rows=rows, left_out=said).trimmed()


def _part(value: float, whole: float, typical: float | None) -> Cell:
    """A time, and its share of the window."""
    cell = cells.amount(value, "us", typical=typical)
    return msgspec.structs.replace(cell, detail=units.quantity(value / whole, "share"))


def _doubts(facts: Facts) -> Iterator[Notice]:
    """What a reader must know before the figures: each check for which more than a minor figure is withheld.

    What is said of the step's limit is not said twice.
    """
    for check in facts.checks:
        if not check.passed and set(check.withholds) - MINOR and check.found != facts.bound.evidence:
            yield Notice(kind="warning", title=check.name, text=_sentence(check.found))


def _sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}."


def _notices(report: Report) -> Iterator[Notice]:
    number = len(report.traces)
    if report.numbered:
        text = (
            "The traces do not say which rank each is, or two say the same: here they are in the order of file names."
        )
        yield Notice(kind="warning", title="Ranks by file name", text=text)
    if report.world > number:
        here = f"{number} traces are" if number > 1 else "one trace is"
        text = f"The job had {report.world:,} ranks, {here} here: what the others did is not known."
        yield Notice(kind="info", title="Not all ranks", text=text)
    if report.keep_paths:
        text = "Host, user and folder names are left in this report, as --keep-paths asked."
        yield Notice(kind="info", title="Paths kept", text=text)
