"""One value of the baseline's parameter against the baseline: facts come in, a table with its reach goes out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from foretrace import stats, units
from foretrace.facts import QUANTITIES, Facts, Params
from foretrace.page import addresses, cells, fusion, layers, questions, savings
from foretrace.page.models import Cell, Changes, Column, Comparison, Picture, Table
from foretrace.page.questions import Pair
from foretrace.prediction import Unmeasured, change, worded
from foretrace.record import Ceilings
from foretrace.scenario import Work
from foretrace.stats import Summary

COMPARED = {"dispatch_us": "CPU dispatch ratio", "step_us": "Step ratio", "gpu_busy_us": "GPU busy ratio"}
"""The quantities whose ratio is shown, with its column's head: the CPU's first, the GPU's never without it."""

TIMED = ("dispatch_us", "step_us")
NOISY = 1.1  # largest over smallest median from which a variant counts as not the same in each process
NOISE = (
    Column(title="Variant", meaning="Links to the variant, which was measured in several processes."),
    *(
        column
        for quantity in TIMED
        for column in (
            Column(
                title=QUANTITIES[quantity].title,
                meaning="The lowest and the highest of the processes' medians.",
                numeric=True,
            ),
            Column(
                title=f"{QUANTITIES[quantity].title}, apart",
                meaning="Largest over smallest of these medians: how much the variant differs from itself.",
                numeric=True,
            ),
        )
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
    Column(
        title="GEMM",
        meaning="How the two sides' longest matrix-multiply kernels are related, as far as their names tell: tile, "
        "types, layout; both names, to be opened.",
    ),
    Column(title="Limited by", meaning="The baseline's limiter, and this variant's."),
)


def noise(facts: Mapping[str, Facts | Unmeasured], *, slug: str) -> Table | None:
    """How much each variant differs from itself, from process to process; None where each was measured once."""
    rows = tuple(
        (Cell(text=name, to=addresses.variant(slug, name)), *(cell for key in TIMED for cell in _apart(found, key)))
        for name, found in facts.items()
        if isinstance(found, Facts) and any(stats.apart(found.samples.get(key, ())) for key in TIMED)
    )
    return Table(caption="The same variant in several processes", columns=NOISE, rows=rows) if rows else None


def own_noise(facts: Mapping[str, Facts | Unmeasured]) -> tuple[str, str]:
    """How far apart the rounds of the middle variant and of the worst one lie, as text; "" where each ran once."""
    ratios = _all_apart(facts)
    if not ratios:
        return "", ""
    return units.quantity(ratios[len(ratios) // 2], "ratio"), units.quantity(ratios[-1], "ratio")


def drift(facts: Mapping[str, Facts | Unmeasured]) -> str:
    """On how many variants the machine was not the same from process to process, in words; "" where on none."""
    ratios = _all_apart(facts)
    far = [ratio for ratio in ratios if ratio > NOISY]
    if not far:
        return ""
    return (
        f"{QUANTITIES[TIMED[0]].title} of {len(far)} of {len(ratios)} variants differs from process to process by "
        f"more than {units.quantity(NOISY - 1, 'share')}, at worst {units.quantity(far[-1], 'ratio')}."
    )


def _all_apart(facts: Mapping[str, Facts | Unmeasured]) -> list[float]:
    known = (stats.apart(found.samples.get(TIMED[0], ())) for found in facts.values() if isinstance(found, Facts))
    return sorted(ratio for ratio in known if ratio is not None)


def _apart(facts: Facts, quantity: str) -> tuple[Cell, Cell]:
    rounds = facts.samples.get(quantity, ())
    ratio = stats.apart(rounds)
    if ratio is None:
        return cells.missing("measured once"), cells.missing("measured once")
    medians = [stats.summarise(samples).median for samples in rounds if samples]
    said = units.interval(min(medians), max(medians), QUANTITIES[quantity].unit)
    return Cell(text=said, detail=f"of {len(medians)} processes"), Cell(
        text=units.quantity(ratio, "ratio"), order=f"{ratio!r}"
    )


def comparisons(
    facts: Mapping[str, Facts | Unmeasured],
    baseline: Params,
    *,
    slug: str,
    works: Mapping[str, Work],
    ceilings: Ceilings,
) -> tuple[Comparison, ...]:
    """One for each other value of the baseline's parameters; none where nothing is declared or paired.

    Args:
        facts: by variant name.
        baseline: what comparisons start from.
        slug: of the scenario.
        works: what each variant's step has to do, where that was declared.
        ceilings: the rates that the device reached in this run.
    """
    found = []
    for other in _others(facts.values(), baseline):
        pairs = _pairs(facts, baseline, other)
        if pairs:
            title = f"{worded(other)} against {worded(baseline)}"
            anchor = re.sub(r"[^A-Za-z0-9]+", "-", f"against-{worded(other)}").strip("-")
            found.append(
                Comparison(
                    title=worded(other),
                    anchor=anchor,
                    answers=questions.answers(pairs, reach=extent(_rest(pairs, baseline))),
                    changes=_changes(pairs, stem=addresses.picture(slug, anchor), sides=(baseline, other)),
                    table=_table(pairs, slug, title),
                    layers=layers.against(pairs, slug, title),
                    savings=savings.table(pairs, works, ceilings, slug=slug, title=title),
                    fusion=fusion.table(pairs, slug=slug, title=title),
                )
            )
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


def _changes(pairs: Sequence[Pair], *, stem: str, sides: tuple[Params, Params]) -> tuple[Picture, ...]:
    """What became of the GPU's time and, where it changed, of the number of kernels; a row a pair."""
    before, after = (worded(side) for side in sides)
    busy = tuple((name, *known) for _, ours, name, theirs in pairs if (known := _both(ours, theirs, "gpu_busy_us")))
    counted = tuple((name, *known) for _, ours, name, theirs in pairs if (known := _counts(ours, theirs)))
    drawn = []
    if busy:
        drawn.append(
            Picture(
                stem=f"{stem}-busy",
                title=f"GPU busy, {before} → {after}",
                alt=f"GPU busy time of each pair, {before} and {after}",
                caption="",
                drawing=Changes(unit="us", sides=(before, after), rows=busy),
            )
        )
    if any(one.median != other.median for _, one, other in counted):
        drawn.append(
            Picture(
                stem=f"{stem}-kernels",
                title=f"Kernels a step, {before} → {after}",
                alt=f"Kernels that each pair launches in a step, {before} and {after}",
                caption="Copies and memsets are not counted.",
                drawing=Changes(unit="count", sides=(before, after), rows=counted),
            )
        )
    return tuple(drawn)


def _both(ours: Facts, theirs: Facts, quantity: str) -> tuple[Summary, Summary] | None:
    """A quantity on both sides; None where one of them does not have it."""
    if any(quantity in facts.withheld or quantity not in facts.quantities for facts in (ours, theirs)):
        return None
    return ours.quantities[quantity], theirs.quantities[quantity]


def _counts(ours: Facts, theirs: Facts) -> tuple[Summary, Summary] | None:
    """The kernels of a step on both sides; None where the trace of one has no GPU work that can be trusted."""
    if any("activities" in facts.withheld or not facts.kernels for facts in (ours, theirs)):
        return None
    one, other = (stats.summarise(step.activities.kernel for step in facts.steps) for facts in (ours, theirs))
    return one, other


def _table(pairs: Sequence[Pair], slug: str, title: str) -> Table:
    rows = []
    for one, ours, name, theirs in pairs:
        ratios = [_ratio(theirs, ours, quantity) for quantity in COMPARED]
        rows.append(
            (
                Cell(text=name, detail=f"over {one}", to=addresses.variant(slug, name)),
                *ratios,
                _turned(cells.activities(ours), cells.activities(theirs)),
                _gemm(ours, theirs),
                _turned(ours.bound.limiter, theirs.bound.limiter),
            )
        )
    return Table(caption=title, columns=PAIR, rows=tuple(rows)).trimmed()


def _ratio(theirs: Facts, ours: Facts, quantity: str) -> Cell:
    found = change(theirs, ours, quantity)
    return cells.missing(found) if isinstance(found, str) else cells.spread_out(found, "ratio")


def _turned(ours: str, theirs: str) -> Cell:
    if not ours and not theirs:
        return cells.missing("no GPU work is known")
    if ours == theirs:
        return Cell(text=f"{ours} in both")
    return Cell(text=f"{ours or 'not known'} → {theirs or 'not known'}")


def _gemm(ours: Facts, theirs: Facts) -> Cell:
    found = questions.gemm(ours, theirs)
    if found is None:
        return cells.missing("no GEMM kernel on one side")
    return Cell(text=found.relation, full=found.names)


def _rest(pairs: Sequence[Pair], baseline: Params) -> list[Params]:
    """The parameters that the two of each pair share."""
    return [{key: value for key, value in theirs.params.items() if key not in baseline} for *_, theirs in pairs]
