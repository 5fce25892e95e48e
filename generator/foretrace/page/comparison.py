"""One value of the baseline's parameter against the baseline: facts come in, a table with its reach goes out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from foretrace.facts import QUANTITIES, Facts, Params
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Comparison, Table
from foretrace.prediction import Unmeasured, change, said
from foretrace.stats import Summary

COMPARED = {"dispatch_us": "CPU dispatch ratio", "step_us": "Step ratio", "gpu_busy_us": "GPU busy ratio"}
"""The quantities whose ratio is shown, with its column's head: the CPU's first, the GPU's never without it."""

NOISE = (
    Column(title="Quantity", meaning="What was measured twice."),
    Column(title="First", meaning="Median of the first measurement.", numeric=True),
    Column(
        title="Second", meaning="Median of the second one, of the same variant, at the end of the run.", numeric=True
    ),
    Column(
        title="Second over first",
        meaning="Where this interval does not hold 1, the run drifted by more than its own spread.",
        numeric=True,
    ),
)
PAIR = (
    Column(
        title="Variant", meaning="Links to the variant; its partner differs from it in the compared parameter only."
    ),
    *(
        Column(title=title, meaning=f"Over the baseline's: {QUANTITIES[quantity].meaning}", numeric=True)
        for quantity, title in COMPARED.items()
    ),
    Column(title="Launched a step", meaning="The baseline's GPU work in a step, and this variant's."),
    Column(title="GEMM names", meaning="Whether the matrix-multiply kernels are spelt alike on both sides."),
    Column(title="Limited by", meaning="The baseline's limiter, and this variant's."),
)

Pair = tuple[str, Facts, str, Facts]  # the baseline's name and facts, the other's


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """The A/A control of one scenario."""

    variant: str
    ratios: dict[str, Summary]  # quantity -> second over first
    table: Table


def noise(facts: Mapping[str, Facts | Unmeasured], repeats: Mapping[str, Facts], *, slug: str) -> Noise | None:
    """How much a variant differs from itself; None where none was measured twice."""
    for name, again in repeats.items():
        first = facts.get(name)
        if not isinstance(first, Facts):
            continue
        found = {quantity: change(again, first, quantity) for quantity in _TWICE}
        ratios = {quantity: ratio for quantity, ratio in found.items() if isinstance(ratio, Summary)}
        rows = tuple(
            (
                Cell(text=QUANTITIES[quantity].title, to=f"{addresses.DEFINITIONS}#{quantity}"),
                cells.measured(first, quantity),
                cells.measured(again, quantity),
                cells.spread_out(ratio, "ratio"),
            )
            for quantity, ratio in ratios.items()
        )
        caption = f"{name} of {addresses.scenario(slug).split('/')[-1].removesuffix('.md')}, measured twice"
        return Noise(variant=name, ratios=ratios, table=Table(caption=caption, columns=NOISE, rows=rows))
    return None


def drift(control: Noise | None) -> str:
    """Where the control differs from itself by more than its own spread, in words; "" where it does not."""
    moved = {key: ratio for key, ratio in control.ratios.items() if not ratio.low <= 1 <= ratio.high} if control else {}
    listed = [f"{QUANTITIES[key].title} {said(ratio, 'ratio')}" for key, ratio in moved.items()]
    if not listed:
        return ""
    return f"The second measurement came out otherwise: {', '.join(listed)}. Smaller differences say nothing here."


def comparisons(
    facts: Mapping[str, Facts | Unmeasured], baseline: Params, *, slug: str, control: Noise | None
) -> tuple[Comparison, ...]:
    """One for each other value of the baseline's parameters; none where nothing is declared or paired."""
    found = []
    for other in _others(facts.values(), baseline):
        pairs = _pairs(facts, baseline, other)
        if pairs:
            table = _table(pairs, slug, f"{worded(other)} against {worded(baseline)}", control)
            anchor = re.sub(r"[^A-Za-z0-9]+", "-", f"against-{worded(other)}").strip("-")
            reach = _reach(pairs, tuple(baseline), worded(other), control)
            found.append(Comparison(title=worded(other), anchor=anchor, table=table, reach=reach))
    return tuple(found)


def extent(params: Sequence[Params]) -> tuple[str, ...]:
    """The values that each parameter took, and which one took a single value and so carries no general conclusion."""
    keys = dict.fromkeys(key for found in params for key in found)
    varied: list[str] = []
    single: list[str] = []
    for key in keys:
        values = list(dict.fromkeys(found[key] for found in params if key in found))
        words = f"{key} {', '.join(map(str, values))}"
        (varied if len(values) > 1 else single).append(words)
    sentences = [f"Varied: {'; '.join(varied)}."] if varied else []
    return (
        *sentences,
        *([f"Held fixed, so nothing is said about other values: {'; '.join(single)}."] if single else []),
    )


def _others(found: Iterable[Facts | Unmeasured], baseline: Params) -> list[Params]:
    others: list[Params] = []
    for facts in found:
        values = {key: facts.params[key] for key in baseline if key in facts.params}
        if values.keys() == baseline.keys() and values not in (baseline, *others):
            others.append(values)
    return others if baseline else []


def _pairs(facts: Mapping[str, Facts | Unmeasured], baseline: Params, other: Params) -> list[Pair]:
    known = {name: found for name, found in facts.items() if isinstance(found, Facts)}
    return [
        (one, known[one], name, theirs)
        for name, theirs in known.items()
        for one in known
        if theirs.params == {**theirs.params, **other} and known[one].params == {**theirs.params, **baseline}
    ]


def _table(pairs: Sequence[Pair], slug: str, title: str, control: Noise | None) -> Table:
    rows = []
    for one, ours, name, theirs in pairs:
        ratios = [_ratio(theirs, ours, quantity, control) for quantity in COMPARED]
        rows.append(
            (
                Cell(text=name, detail=f"over {one}", to=addresses.variant(slug, name)),
                *ratios,
                _turned(cells.activities(ours), cells.activities(theirs)),
                _names(ours, theirs),
                _turned(ours.bound.limiter, theirs.bound.limiter),
            )
        )
    return Table(caption=title, columns=PAIR, rows=tuple(rows)).trimmed()


def _ratio(theirs: Facts, ours: Facts, quantity: str, control: Noise | None) -> Cell:
    found = change(theirs, ours, quantity)
    if isinstance(found, str):
        return cells.missing(found)
    cell = cells.spread_out(found, "ratio")
    low, high = _noise_of(quantity, control)
    within = control is not None and low <= found.median <= high
    return msgspec.structs.replace(cell, detail=f"{cell.detail}, within noise") if within else cell


def _turned(ours: str, theirs: str) -> Cell:
    if not ours and not theirs:
        return cells.missing("the trace has no GPU work")
    return Cell(text=f"{ours} in both") if ours == theirs else Cell(text=f"{ours} → {theirs}")


def _names(ours: Facts, theirs: Facts) -> Cell:
    one, other = _gemms(ours), _gemms(theirs)
    if not one or not other:
        return cells.missing("no GEMM kernel on one side")
    spelt = f"{' + '.join(sorted(one))}" if one == other else f"{' + '.join(sorted(one))} → {' + '.join(sorted(other))}"
    return Cell(text="same" if one == other else "different", full=spelt)


def _gemms(facts: Facts) -> Counter[str]:
    return Counter({row.name: sum(row.per_step) for row in facts.kernels if row.family == "gemm"})


def _reach(pairs: Sequence[Pair], keys: Sequence[str], what: str, control: Noise | None) -> tuple[str, ...]:
    noise = {quantity: _noise_of(quantity, control) for quantity in COMPARED}
    directions = [sentence for key in COMPARED if (sentence := _direction(pairs, key, what, noise=noise[key]))]
    rest = [{key: value for key, value in theirs.params.items() if key not in keys} for *_, theirs in pairs]
    return (*directions, *extent(rest))


def _noise_of(quantity: str, control: Noise | None) -> tuple[float, float]:
    """The ratios that the control reaches against itself, 1 among them."""
    own = control.ratios.get(quantity) if control else None
    return (min(own.low, 1.0), max(own.high, 1.0)) if own else (1.0, 1.0)


def _direction(pairs: Sequence[Pair], quantity: str, what: str, *, noise: tuple[float, float]) -> str:
    """On how many pairs a quantity is higher, lower, or not told apart from the run's noise."""
    ratios = [found for _, ours, _, theirs in pairs if isinstance(found := change(theirs, ours, quantity), Summary)]
    if not ratios:
        return ""
    higher, lower = sum(found.low > noise[1] for found in ratios), sum(found.high < noise[0] for found in ratios)
    counted = {"higher": higher, "lower": lower, "within noise": len(ratios) - higher - lower}
    parts = [f"{word} on {number}" for word, number in counted.items() if number]
    pairs_said = "the one pair" if len(ratios) == 1 else f"{len(ratios)} pairs"
    return f"{QUANTITIES[quantity].title} of {what}, over {pairs_said}: {', '.join(parts)}."


def worded(params: Params) -> str:
    """Parameters in words: `mode eager`."""
    return ", ".join(f"{key} {value}" for key, value in params.items())


_TWICE = ("dispatch_us", "step_us", "latency_us", "event_us", "gpu_busy_us", "top_kernel_us")
