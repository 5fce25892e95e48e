"""The ranks of one job side by side: what each trace shows comes in, a table with the slowest rank marked goes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from foretrace import units
from foretrace.analysis.alone import Look
from foretrace.analysis.usage import Usage
from foretrace.facts import QUANTITIES, Facts
from foretrace.page import cells
from foretrace.page.models import Cell, Column, Table

MOST_RANKS = 256
"""The most ranks in the table on the page."""
MOST = 3
"""The most differences from the other ranks that a cell names."""

RANKS = (
    Column(title="Rank", meaning="Links to all that its trace shows."),
    Column(title="Steps", meaning="Recorded steps.", numeric=True),
    Column(
        title="Step", meaning=QUANTITIES["profiled_step_us"].meaning + " Marked where it is the longest.", numeric=True
    ),
    Column(title="Kernels", meaning="Kernels that a step launched; copies and memsets apart.", numeric=True),
    Column(title="GPU busy", meaning=QUANTITIES["traced_busy_share"].meaning, numeric=True),
    Column(
        title="Communication",
        meaning="Share of the recorded window in which a kernel communicated. The rank that spends least in it comes "
        "last to collective operations: the others wait for it.",
        numeric=True,
    ),
    Column(
        title="Exposed",
        meaning="Share of the window in which a kernel communicated and nothing else ran.",
        numeric=True,
    ),
    Column(title="Differs", meaning="Kernels launched more or less often than on most ranks, over all recorded steps."),
)


def table(looks: Mapping[str, Look], places: Mapping[str, str], *, title: str) -> Table:
    """A row a rank.

    Args:
        looks: what each rank's trace shows.
        places: the address of each rank's page.
        title: of the report.
    """
    facts = {name: look.facts for name, look in looks.items()}
    usual, counted = _usual(facts), {name: _launched(each) for name, each in facts.items()}
    slowest, last = _slowest(facts), _last(looks)
    typical = cells.typical(facts.values(), "profiled_step_us")
    rows = tuple(
        (
            Cell(text=name, to=places[name]),
            _steps(look.facts),
            _marked(cells.measured(look.facts, "profiled_step_us", typical=typical), "the slowest", name == slowest),
            _kernels(look.facts),
            cells.measured(look.facts, "traced_busy_share"),
            _marked(_share(look.usage, "communication_us"), "the others wait for it", name == last),
            _share(look.usage, "exposed_us"),
            Cell(text=_difference(counted[name], usual)),
        )
        for name, look in looks.items()
    )
    return Table(
        caption=f"Ranks of {title}", columns=RANKS, rows=rows, left_out=_said(facts, slowest), most=MOST_RANKS
    ).trimmed()


def _steps(facts: Facts) -> Cell:
    if "profiled_step_us" in facts.withheld:
        return cells.missing(facts.withheld["profiled_step_us"])
    return cells.count(len(facts.steps))


def _kernels(facts: Facts) -> Cell:
    if "activities" in facts.withheld:
        return cells.missing(facts.withheld["activities"], text="withheld")
    return cells.each(tuple(step.activities.kernel for step in facts.steps))


def _share(used: Sequence[Usage], field: str) -> Cell:
    """A time's share of the window, of several GPUs the mean; missing where nothing communicates."""
    if not any(each.communication_us for each in used):
        return cells.missing("no kernel that communicates was recorded")
    return cells.amount(sum(getattr(each, field) / each.span_us for each in used) / len(used), "share")


def _marked(cell: Cell, words: str, marked: bool) -> Cell:  # noqa: FBT001 - the whole function is the flag
    return Cell(text=cell.text, order=cell.order, detail=words, hint=cell.hint, kind=cell.kind) if marked else cell


def _slowest(facts: Mapping[str, Facts]) -> str:
    """The rank whose step is longer than every other's, beyond their intervals; "" where none is."""
    known = {
        name: each.quantities["profiled_step_us"]
        for name, each in facts.items()
        if "profiled_step_us" in each.quantities
    }
    return next(
        (
            name
            for name, step in known.items()
            if len(known) > 1 and all(step.low > other.high for at, other in known.items() if at != name)
        ),
        "",
    )


def _last(looks: Mapping[str, Look]) -> str:
    """The rank that communicates for a smaller part of its window than every other, as printed; "" where none does."""
    said = {name: _share(look.usage, "communication_us") for name, look in looks.items()}
    known = {name: float(cell.order) for name, cell in said.items() if cell.order}
    if len(known) < len(looks) or len(known) < 2:
        return ""
    least = min(known, key=known.__getitem__)
    alike = [name for name in known if said[name].text == said[least].text]
    return least if len(alike) == 1 else ""


def _launched(facts: Facts) -> Counter[str]:
    """How often the recorded steps launched each kernel, by its short name."""
    found: Counter[str] = Counter()
    for row in facts.kernels if "activities" not in facts.withheld else ():
        if row.activity == "kernel":
            found[row.label] += sum(row.per_step)
    return found


def _usual(facts: Mapping[str, Facts]) -> Counter[str]:
    """What most ranks launched, kernel by kernel: the middle one's count, of two the smaller."""
    counted = [_launched(each) for each in facts.values()]
    names = {name for each in counted for name in each}
    return Counter({name: sorted(each[name] for each in counted)[(len(counted) - 1) // 2] for name in names})


def _difference(found: Counter[str], usual: Counter[str]) -> str:
    changed = {name: found[name] - usual[name] for name in sorted(found | usual) if found[name] != usual[name]}
    ordered = sorted(changed.items(), key=lambda item: -abs(item[1]))
    said = [f"{abs(by):,} {'more' if by > 0 else 'fewer'} {name}" for name, by in ordered[:MOST]]
    more = f"; and {len(ordered) - MOST} more kernels" if len(ordered) > MOST else ""
    return ", ".join(said) + more if said else "in nothing"


def _said(facts: Mapping[str, Facts], slowest: str) -> str:
    if slowest:
        return ""
    known = [each.quantities["profiled_step_us"] for each in facts.values() if "profiled_step_us" in each.quantities]
    if len(known) < 2:
        return "Without marked steps on every rank no slowest one can be named."
    apart = units.quantity(max(step.median for step in known) / min(step.median for step in known), "ratio")
    return f"No rank is the slowest beyond doubt: the steps' intervals meet, and their medians lie {apart} apart."
