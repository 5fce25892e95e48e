"""The three layers of a step: facts come in; CPU dispatch, launch and GPU work by family go out as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foretrace import units
from foretrace.facts import QUANTITIES, Facts
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Table

CALLS = "Time in CUDA runtime and driver calls inside a step, under the profiler: the launch layer of the dispatch."
FAMILY = "Sum of the durations of this family's work in a step; overlapping work counts each time."
LAYERS = (
    Column(
        title="Layer", meaning="Who works: the CPU that dispatches, its calls that launch, the GPU by kind of work."
    ),
    Column(title="A step", meaning="Time in a step.", numeric=True),
    Column(title="Count", meaning="CUDA calls, kernels, copies or memsets in a step.", numeric=True),
    Column(title="How it was found", meaning="With or without the profiler, which slows the CPU's side down."),
)
AGAINST = (
    Column(
        title="Variant", meaning="Links to the variant; its partner differs from it in the compared parameter only."
    ),
    Column(title="CPU dispatch", meaning=QUANTITIES["dispatch_us"].meaning, numeric=True),
    Column(title="CUDA calls", meaning=CALLS, numeric=True),
    Column(title="GPU work", meaning=FAMILY),
)


def table(facts: Facts, here: str) -> Table | None:
    """The layers of one variant or trace; None where fewer than two are known, as without a GPU."""
    rows = tuple(_rows(facts))
    return Table(caption=f"Layers of a step of {here}", columns=LAYERS, rows=rows) if len(rows) > 1 else None


def against(pairs: Sequence[tuple[str, Facts, str, Facts]], slug: str, title: str) -> Table:
    """The layers of each pair, the baseline's and the other's."""
    rows = tuple(
        (
            Cell(text=name, detail=f"over {one}", to=addresses.variant(slug, name)),
            _turned(_dispatch(ours), _dispatch(theirs)),
            _turned(_calls_us(ours), _calls_us(theirs)),
            _families(ours, theirs),
        )
        for one, ours, name, theirs in pairs
    )
    return Table(caption=f"Layer by layer, {title}", columns=AGAINST, rows=rows).trimmed()


def families(facts: Facts) -> dict[str, tuple[float, float]]:
    """GPU time in µs and pieces of work in a mean recorded step, by family, copies and memsets apart, longest first."""
    found: dict[str, tuple[float, float]] = {}
    for row in facts.kernels if not {"kernel_us", "gpu_busy_us"} & facts.withheld.keys() else ():
        family = row.family if row.activity == "kernel" else row.activity
        time_us, pieces = found.get(family, (0.0, 0.0))
        found[family] = time_us + row.total_us / len(row.per_step), pieces + sum(row.per_step) / len(row.per_step)
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def _rows(facts: Facts) -> Iterable[tuple[Cell, ...]]:
    rounds = "step_us" in facts.quantities  # a trace that came along has none
    first = "first round's " if rounds else ""
    if "dispatch_us" in facts.quantities and "dispatch_us" not in facts.withheld:
        dispatch = cells.measured(facts, "dispatch_us")
        yield Cell(text="CPU dispatch"), dispatch, Cell(text=""), Cell(text="without the profiler, of all rounds")
    elif "profiled_step_us" in facts.quantities:
        width = cells.measured(facts, "profiled_step_us")
        yield Cell(text="CPU: the whole step"), width, Cell(text=""), Cell(text="under the profiler")
    if (calls := _calls_us(facts)) is not None:
        count = cells.amount(_calls(facts), "count")
        yield (
            Cell(text="CUDA calls"),
            cells.amount(calls, "us"),
            count,
            Cell(text=f"under the profiler{', in the first round' if rounds else ''}"),
        )
    for family, (time_us, pieces) in families(facts).items():
        yield (
            Cell(text=f"GPU: {family}"),
            cells.amount(time_us, "us"),
            cells.amount(pieces, "count"),
            Cell(text=f"durations in the {first}trace, mean of the recorded steps"),
        )


def _dispatch(facts: Facts) -> float | None:
    known = "dispatch_us" in facts.quantities and "dispatch_us" not in facts.withheld
    return facts.quantities["dispatch_us"].median if known else None


def _calls(facts: Facts) -> float:
    calls = (sum(call.per_step) / len(call.per_step) for call in facts.calls if _launching(call.kind) and call.per_step)
    return sum(calls)


def _calls_us(facts: Facts) -> float | None:
    """Time in CUDA calls in a mean recorded step; None where there is no step, or no call of the kind."""
    own = [call.self_us for call in facts.calls if _launching(call.kind)]
    return sum(own) / len(facts.steps) if facts.steps and own else None


def _launching(kind: str) -> bool:
    return kind in {"runtime", "driver"}


def _turned(ours: float | None, theirs: float | None) -> Cell:
    if ours is None or theirs is None:
        return cells.missing("not known on both sides")
    return Cell(text=f"{units.quantity(ours, 'us')} → {units.quantity(theirs, 'us')}", order=f"{theirs:.9g}")


def _families(ours: Facts, theirs: Facts) -> Cell:
    before, after = families(ours), families(theirs)
    if not before and not after:
        return cells.missing("the trace has no GPU work")
    both = dict.fromkeys((*before, *after))
    return Cell(text="; ".join(f"{family} {_time(before, family)} → {_time(after, family)}" for family in both))


def _time(found: Mapping[str, tuple[float, float]], family: str) -> str:
    return units.quantity(found[family][0], "us") if family in found else "none"
