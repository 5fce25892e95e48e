"""What the CPU does for a step: facts come in, a table of dispatch with and without the profiler goes out.

And operator by operator: how often a step runs it, what it costs the CPU, and what it starts on the GPU.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretrace.facts import Call, Facts
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Table

CPU = (
    Column(title="Variant", meaning="Links to all that is known of it."),
    *(cells.head(quantity) for quantity in ("dispatch_us", "profiled_step_us", "profiler_factor", "ops")),
    cells.head("ops_per_kernel"),
    cells.head("opaque_share"),
    Column(title="Opaque operator", meaning="The operator that this share is about, in the first round's trace."),
)
CALL = (
    Column(title="Name", meaning="Of the operator, label or CUDA call."),
    Column(title="Kind", meaning="Operator, label, runtime call, driver call or the profiler's own overhead."),
    Column(title="Runs a step", meaning="Occurrences in each recorded step.", numeric=True),
    Column(title="Outside", meaning="Occurrences outside every recorded step.", numeric=True),
    Column(title="CPU time a step", meaning="Under the profiler, children included; mean of the steps.", numeric=True),
    Column(title="Self CPU a step", meaning="The same without its children.", numeric=True),
    Column(title="Kernels a step", meaning="GPU kernels launched inside it, by it or its children.", numeric=True),
    Column(
        title="GPU time a step",
        meaning="Sum of the durations of the kernels, copies and memsets launched inside it.",
        numeric=True,
    ),
)
OPERATORS = (CALL[0], CALL[2], *CALL[4:])
SHORT = 30
"""The most characters of an operator's name in a table of variants; a longer one opens."""

KINDS = {
    "op": "operator",
    "annotation": "label",
    "runtime": "runtime call",
    "driver": "driver call",
    "overhead": "profiler",
}


def table(found: Mapping[str, Facts], *, slug: str, title: str) -> Table | None:
    """A row a variant; None where nothing was recorded under the profiler."""
    if cells.typical(found.values(), "profiled_step_us") is None:
        return None
    shown = ("dispatch_us", "profiled_step_us", "profiler_factor", "ops", "ops_per_kernel", "opaque_share")
    rows = tuple(
        (
            Cell(text=name, to=addresses.variant(slug, name)),
            *(cells.measured(facts, key, typical=cells.typical(found.values(), key)) for key in shown),
            _opaque(facts),
        )
        for name, facts in found.items()
    )
    return Table(caption=f"The CPU's side of {title}", columns=CPU, rows=rows).trimmed()


def calls(facts: Facts, here: str, *, most: int) -> Table:
    """All operators, labels and CUDA calls, those with most CPU time first; per step, as everything on a page."""
    on_gpu = any(call.kernels or call.gpu_us for call in facts.calls)
    columns = CALL if on_gpu else CALL[:-2]
    rows = tuple(
        (cells.code(call.name), Cell(text=KINDS[call.kind]), *_counted(call), *_spent(call, facts.untimed))[
            : len(columns)
        ]
        for call in facts.calls
    )
    return Table(caption=f"Operators and calls of {here}", columns=columns, rows=rows, most=most, tall=True).trimmed()


def operators(facts: Facts, here: str, *, most: int) -> Table | None:
    """The operators alone, in the order of a step: which of them reach the GPU, and which never do."""
    order = {link.name: place for place, link in reversed(list(enumerate(facts.chain)))}
    rows = [call for call in facts.calls if call.kind == "op" and any(call.per_step)]
    rows.sort(key=lambda call: order.get(call.name, len(order)))
    if not rows or not facts.kernels or "activities" in facts.withheld:
        return None
    return Table(
        caption=f"Operators of {here}, and what each launches",
        columns=OPERATORS,
        rows=tuple((cells.code(call.name), _counted(call)[0], *_spent(call, facts.untimed)) for call in rows),
        most=most,
        tall=True,
    )


def short(name: str) -> str:
    """An operator's name as it can stand in a cell or a sentence."""
    return name if len(name) <= SHORT else f"{name[:SHORT]}…"


def _opaque(facts: Facts) -> Cell:
    name = facts.opaque
    if not name or "opaque_share" not in facts.quantities:
        return cells.missing("no operator was recorded")
    return cells.code(name) if len(name) <= SHORT else Cell(text=short(name), full=name, kind="code")


def _counted(call: Call) -> tuple[Cell, Cell]:
    return cells.each(call.per_step), cells.count(call.outside)


def _spent(call: Call, untimed: str) -> tuple[Cell, ...]:
    """CPU time, self CPU time, kernels and GPU time of a mean step; a call that starts nothing says so."""
    steps = len(call.per_step)
    if not steps:
        return (cells.missing("no step was recorded"),) * 4
    launched = cells.amount(call.kernels / steps, "count")
    time = cells.amount(call.gpu_us / steps, "us") if call.gpu_us else Cell(text="none", order="0")
    gpu = cells.unless(untimed, time)
    return (cells.amount(call.total_us / steps, "us"), cells.amount(call.self_us / steps, "us"), launched, gpu)
