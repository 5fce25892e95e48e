"""Numbers and verdicts for other tools: facts and claims come in, CSV tables and JSON files go out as bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec

from foretrace.analysis.inspection import cell
from foretrace.facts import QUANTITIES, Facts
from foretrace.page.models import ClaimsPage
from foretrace.prediction import State
from foretrace.study import Investigation

_HEAD = ("variant", "quantity", "unit", "median", "low", "high", "minimum", "maximum", "mean", "count")


class ClaimRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one scenario found of a published claim; the fields are the columns of the table."""

    id: str
    statement: str
    figure: str  # as published; "" where the source gives none
    gpu: str  # that the figure was measured on
    source: str
    verdict: State  # on the claim, from all scenarios that carry it
    measured: str
    scenario: str
    scenario_verdict: State
    measured_on: str
    explained: bool | None  # whether the author says why it did not hold; None where it held


def quantities(found: Investigation) -> bytes:
    """A row for each variant and quantity that is known and trusted, numbers in full."""
    rows: list[tuple[str, ...]] = []
    measured = {name: facts for name, facts in found.facts.items() if isinstance(facts, Facts)}
    for name, facts in measured.items():
        for key in QUANTITIES:
            if key in facts.quantities and key not in facts.withheld:
                it = facts.quantities[key]
                numbers = (it.median, it.low, it.high, it.minimum, it.maximum, it.mean)
                rows.append((cell(name), key, QUANTITIES[key].unit, *map(repr, numbers), str(it.count)))
    return sheet(_HEAD, rows)


def known(found: Facts) -> bytes:
    """All that is known of a variant, as JSON."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


def claims(page: ClaimsPage, explained: Mapping[str, Container[str]]) -> tuple[ClaimRow, ...]:
    """A row for each claim and scenario, in the order of the page.

    Args:
        page: all claims.
        explained: by scenario, the keys of the statements whose mismatch its author explains.
    """
    return tuple(
        ClaimRow(
            id=claim.key,
            statement=found.statement.words,
            figure=found.statement.figure,
            gpu=found.statement.on,
            source=found.statement.source,
            verdict=claim.state,
            measured=found.statement.measured,
            scenario=found.slug,
            scenario_verdict=found.statement.state,
            measured_on=found.device,
            explained=None if found.statement.state == "held" else found.statement.key in explained[found.slug],
        )
        for claim in page.claims
        for found in claim.judgements
    )


def table(rows: Sequence[ClaimRow]) -> bytes:
    """The rows as CSV; `explained` is yes, no, or empty."""
    words = {True: "yes", False: "no", None: ""}
    said = (msgspec.structs.asdict(row) | {"explained": words[row.explained]} for row in rows)
    return sheet(ClaimRow.__struct_fields__, (tuple(cell(text) for text in row.values()) for row in said))


def listed(rows: Sequence[ClaimRow]) -> bytes:
    """The rows as JSON, texts as they are."""
    return msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n"


def sheet(head: Iterable[str], rows: Iterable[Iterable[str]]) -> bytes:
    """A CSV file of texts that are fit for it, see `inspection.cell`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue().encode(errors="replace")
