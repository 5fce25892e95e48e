"""A report on traces that came along, read: each trace analysed once, each expectation judged once.

A `Dossier` goes in, an `Examination` comes out: the counterpart of `study` for traces without a scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from foretrace import analysis, kineto
from foretrace.analysis.alone import Look
from foretrace.dossier import Dossier, Kept, Report
from foretrace.facts import Facts
from foretrace.prediction import Kind, Unmeasured, judge
from foretrace.study import Judged


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """What the traces of one report show, and how the expectations fared."""

    report: Report
    looks: dict[str, Look]  # by `title` of the trace, by rank
    predictions: tuple[Judged, ...]
    guesses: tuple[Judged, ...]


def examine(dossier: Dossier) -> Examination:
    """Analyse every trace of a report, one at a time, and judge what was sealed in it."""
    report = dossier.report
    looks = {name(report, kept): _look(dossier, kept) for kept in report.traces}
    facts: dict[str, Facts | Unmeasured] = {title: look.facts for title, look in looks.items()}
    return Examination(
        report=report,
        looks=looks,
        predictions=_judged(report.predictions, facts),
        guesses=_judged(report.guesses, facts),
    )


def name(report: Report, kept: Kept) -> str:
    """What a trace is called within its report."""
    return f"rank {kept.rank}" if len(report.traces) > 1 else "the trace"


def _look(dossier: Dossier, kept: Kept) -> Look:
    trace = kineto.parse(dossier.trace(kept), where=str(dossier.folder / kept.name))
    return analysis.of_trace(trace, params={"rank": kept.rank})


def _judged(expected: Iterable[Kind], facts: Mapping[str, Facts | Unmeasured]) -> tuple[Judged, ...]:
    return tuple(Judged(expectation=each, verdict=judge(each, facts)) for each in expected)
