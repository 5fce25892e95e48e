"""One scenario's page: its investigation comes in, a `ScenarioPage` and its variants' pages go out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from foretrace.facts import Facts, Timeline
from foretrace.page import addresses, cells, comparison, cpu, layers, pieces, rates, runs, statements, sweep, variant
from foretrace.page.models import (
    Cell,
    Column,
    CpuGpu,
    Families,
    File,
    KeyVariant,
    Link,
    Notice,
    Picture,
    Samples,
    ScenarioPage,
    Seal,
    Table,
    VariantPage,
)
from foretrace.prediction import Unmeasured, fits, worded
from foretrace.record import Run
from foretrace.scenario import Scenario
from foretrace.study import Investigation, limits

LIMITERS = ("overhead", "compute", "memory", "communication", "sync")
KEY_VARIANTS = 4
"""How many timelines the scenario's own page shows; each variant's page has its own."""

_VARIANT = Column(title="Variant", meaning="The parameters' values, joined; links to all that is known of it.")
_LIMITED = Column(title="Limited by", meaning="What a step's time is limited by; the variant's page has the evidence.")
STEPS = (
    _VARIANT,
    cells.head("step_us"),
    Column(title="Spread", meaning="Half the interval's width as a share of the median step time.", numeric=True),
    Column(title="Range", meaning="The smallest and the largest step time; none is dropped.", numeric=True),
    Column(title="Samples", meaning="Blocks of steps that were timed.", numeric=True),
    cells.head("latency_us"),
    cells.head("profiler_factor"),
)
BESIDE = (
    _VARIANT,
    cells.head("dispatch_us"),
    cells.head("gpu_busy_us"),
    cells.head("step_us"),
    cells.head("busy_share"),
    Column(title="Launched a step", meaning="Kernels, and apart from them copies and memsets, in each recorded step."),
    _LIMITED,
)
VARIANTS = (
    _VARIANT,
    Column(title="Measured", meaning="Whether there are figures, and if not, why."),
    _LIMITED,
    Column(title="Launched a step", meaning="Kernels, and apart from them copies and memsets, in each recorded step."),
    Column(title="Evidence", meaning="The trace of the first round; the list of files has those of all."),
)


def build(
    run: Run, found: Investigation, *, cost: str, changed: str, timelines: Mapping[str, Timeline]
) -> tuple[ScenarioPage, tuple[VariantPage, ...]]:
    """The scenario's page and one for each declared variant.

    Args:
        run: the run's head.
        found: the scenario as measured and judged.
        cost: what the whole run took, in words.
        changed: what to say where the declaration is no longer the sealed one.
        timelines: by variant name, where a trace was recorded.
    """
    sealed, slug = found.sealed, found.sealed.slug
    pages = tuple(
        variant.build(
            run,
            sealed,
            declared,
            outcome=found.outcomes.get(declared.name),
            facts=found.facts[declared.name],
            timeline=timelines.get(declared.name),
        )
        for declared in sealed.scenario.variants
    )
    swept, measured, title = sweep.lines(found.facts), _measured(found), sealed.scenario.title
    works = {declared.name: declared.work for declared in sealed.scenario.variants if declared.work}
    predictions, claims = statements.statements(found, run.environment)
    return (
        ScenarioPage(
            slug=slug,
            address=addresses.scenario(slug),
            title=sealed.scenario.title,
            question=sealed.scenario.question,
            run=runs.card(run, found.outcomes.values(), cost=cost),
            seal=_seal(run, found, changed),
            notices=_notices(run),
            limiters=LIMITERS,
            predictions=predictions,
            claims=claims,
            steps=_steps(found),
            samples=_samples(found),
            cpu_gpu=_beside(found),
            beside=_pairs(found),
            cpu=cpu.table(measured, slug=slug, title=title),
            families=_families(slug, title, measured),
            rates=rates.pictures(measured, works, run.ceilings, slug=slug, title=title),
            parts=pieces.parts(measured, slug=slug, title=title, ceilings=run.ceilings),
            sweep=sweep.table(swept, slug=slug, title=title),
            swept=sweep.pictures(swept, slug=slug),
            chosen=sweep.chosen(swept, slug=slug, title=title),
            choices=sweep.choices(swept, slug=slug),
            key_variants=_key_variants(sealed.scenario, pages),
            baseline=worded(sealed.scenario.baseline),
            comparisons=comparison.comparisons(
                found.facts, sealed.scenario.baseline, slug=slug, works=works, ceilings=run.ceilings
            ),
            noise=comparison.noise(found.facts, slug=slug),
            own_noise=comparison.own_noise(found.facts),
            drift=comparison.drift(found.facts),
            reach=comparison.extent([facts.params for facts in _measured(found).values()]),
            variants=_variants(pages, found.facts),
            failures=_failures(pages),
            files=_files(run, found),
        ),
        pages,
    )


def _seal(run: Run, found: Investigation, changed: str) -> Seal:
    return Seal(
        sha256=found.sealed.seal,
        commit=runs.commit(run),
        date=runs.date(run.started_utc),
        changed=changed,
    )


def _notices(run: Run) -> tuple[Notice, ...]:
    found = []
    if said := limits(run.environment):
        found.append(Notice(kind="warning", title="Measured without a GPU", text=said))
    if not run.finished_utc:
        text = "This run goes on, or was cut short; what is missing is named below."
        found.append(Notice(kind="warning", title="Not finished", text=text))
    if run.options.quick:
        text = "Only the scenario's quick variants were measured in this run."
        found.append(Notice(kind="info", title="A quick run", text=text))
    if run.options.rounds == 1:
        text = "Each variant was measured in one process; an interval holds for it, and another may differ by more."
        found.append(Notice(kind="info", title="One round", text=text))
    if run.options.only:
        text = f"Only some variants were asked for: {', '.join(run.options.only)}."
        found.append(Notice(kind="info", title="A partial run", text=text))
    return tuple(found)


def _steps(found: Investigation) -> Table | None:
    points = _measured(found)
    if cells.typical(points.values(), "step_us") is None:
        return None
    rows = []
    for name, facts in points.items():
        step = None if "step_us" in facts.withheld else facts.quantities.get("step_us")
        typical = cells.typical(points.values(), "step_us")
        rows.append(
            (
                Cell(text=name, to=addresses.variant(found.sealed.slug, name)),
                cells.measured(facts, "step_us", typical=typical),
                cells.spread(step),
                cells.reach(step, "us", typical=typical),
                cells.count(step.count) if step else cells.missing("not measured"),
                cells.measured(facts, "latency_us", typical=cells.typical(points.values(), "latency_us")),
                cells.measured(facts, "profiler_factor"),
            )
        )
    caption = f"Step times of {found.sealed.scenario.title}"
    return Table(caption=caption, columns=STEPS, rows=tuple(rows), left_out=_left_out(found)).trimmed()


def _samples(found: Investigation) -> Picture | None:
    rows = tuple(
        (name, facts.quantities["step_us"], tuple(itertools.chain.from_iterable(facts.samples["step_us"])))
        for name, facts in _measured(found).items()
        if facts.samples.get("step_us") and "step_us" in facts.quantities and "step_us" not in facts.withheld
    )
    if not rows:
        return None
    title = found.sealed.scenario.title
    return Picture(
        stem=addresses.picture(found.sealed.slug, "step-times"),
        title="Step time, every sample",
        alt=f"Every sample of the step time of each variant of {title}",
        caption="Every sample, none dropped; the step time without the profiler.",
        drawing=Samples(unit="us", rows=rows),
    )


def _beside(found: Investigation) -> Table | None:
    points = _measured(found)
    shown = ("dispatch_us", "gpu_busy_us", "step_us", "busy_share")
    if cells.typical(points.values(), "gpu_busy_us") is None:
        return None
    rows = tuple(
        (
            Cell(text=name, to=addresses.variant(found.sealed.slug, name)),
            *(cells.measured(facts, key, typical=cells.typical(points.values(), key)) for key in shown),
            Cell(text=cells.activities(facts)) if cells.activities(facts) else cells.missing("no recorded step"),
            Cell(text=facts.bound.limiter, hint=facts.bound.evidence),
        )
        for name, facts in points.items()
    )
    caption = f"CPU beside GPU, {found.sealed.scenario.title}"
    return Table(caption=caption, columns=BESIDE, rows=rows, left_out=_left_out(found)).trimmed()


def _measured(found: Investigation) -> dict[str, Facts]:
    return {name: facts for name, facts in found.facts.items() if isinstance(facts, Facts)}


def _left_out(found: Investigation) -> str:
    """How many variants have no row, in words; the table of variants has them all."""
    number = len(found.facts) - len(_measured(found))
    if not number:
        return ""
    return f"{number} variant{'s were' if number > 1 else ' was'} not measured: see the table of variants."


def _pairs(found: Investigation) -> Picture | None:
    rows = tuple(
        (name, facts.quantities["dispatch_us"], facts.quantities["gpu_busy_us"])
        for name, facts in _measured(found).items()
        if {"dispatch_us", "gpu_busy_us"} <= facts.quantities.keys()
        and not {"dispatch_us", "gpu_busy_us"} & facts.withheld.keys()
    )
    if not rows:
        return None
    title = found.sealed.scenario.title
    return Picture(
        stem=addresses.picture(found.sealed.slug, "cpu-gpu"),
        title="CPU dispatch beside GPU busy, a step",
        alt=f"CPU dispatch time beside GPU busy time of each variant of {title}",
        caption="A step's dispatch time on the CPU beside the time that the GPU is busy with it: the longer decides.",
        drawing=CpuGpu(rows=rows),
    )


def _families(slug: str, title: str, measured: Mapping[str, Facts]) -> Picture | None:
    """GPU time by family, a row a variant; None where no variant has several."""
    found = {name: layers.families(facts) for name, facts in measured.items()}
    rows = tuple(
        (name, tuple((family, time_us) for family, (time_us, _) in families.items()))
        for name, families in found.items()
        if families
    )
    if not any(len(families) > 1 for _, families in rows):
        return None
    return Picture(
        stem=addresses.picture(slug, "families"),
        title="Where the GPU's time goes, a step",
        alt=f"GPU time of each variant of {title}, by family of its kernels, copies and memsets",
        caption="Sums of durations in the first round's trace; work that overlaps counts each time.",
        drawing=Families(rows=rows),
    )


def _key_variants(scenario: Scenario, pages: Sequence[VariantPage]) -> tuple[KeyVariant, ...]:
    """The variant that most others differ little from, its neighbours and the largest, up to a handful, as declared."""
    params = {declared.name: declared.params for declared in scenario.variants}

    def apart(one: str, other: str) -> int:
        keys = params[one].keys() | params[other].keys()
        return sum(params[one].get(key) != params[other].get(key) for key in keys)

    middle = min(params, key=lambda name: sum(apart(name, other) for other in params))
    drawn = [page for page in pages if page.timeline]
    baseline = [page for page in drawn if fits(params[page.name], dict(scenario.baseline))]
    far = sorted(baseline, key=lambda page: -_size(params[page.name]))[:1]
    near = sorted(drawn, key=lambda page: apart(middle, page.name))
    chosen = list(dict.fromkeys(page.name for page in (*near[:1], *far, *near[1:])))[:KEY_VARIANTS]
    return tuple(
        KeyVariant(
            link=Link(page.name, page.address),
            timeline=page.timeline,
            kernels=page.kernels,
            operators=page.operators,
            chain=page.chain,
        )
        for page in drawn
        if page.name in chosen and page.timeline
    )


def _size(params: Mapping[str, object]) -> float:
    return sum(float(value) for value in params.values() if isinstance(value, int | float))


def _variants(pages: Sequence[VariantPage], facts: Mapping[str, Facts | Unmeasured]) -> Table:
    rows = tuple(
        (
            Cell(text=page.name, to=page.address),
            Cell(text=page.notices[0].title, hint=page.notices[0].text, kind="bad")
            if page.notices
            else Cell(text="yes", kind="good"),
            Cell(text=page.bound, hint=page.bound_evidence) if page.bound else cells.missing("not measured"),
            _launched(facts[page.name]),
            Cell(text="trace", to=page.trace) if page.trace else cells.missing("no trace was recorded"),
        )
        for page in pages
    )
    return Table(caption="Variants", columns=VARIANTS, rows=rows).trimmed()


def _launched(facts: Facts | Unmeasured) -> Cell:
    if isinstance(facts, Unmeasured) or not facts.kernels:
        return cells.missing("no GPU work in the recorded steps")
    return Cell(text=cells.activities(facts))


def _failures(pages: Sequence[VariantPage]) -> tuple[tuple[Link, Notice], ...]:
    return tuple((Link(page.name, page.address), notice) for page in pages for notice in page.notices)


def _files(run: Run, found: Investigation) -> tuple[File, ...]:
    slug = found.sealed.slug
    return (
        File(what="the run: environment, ceilings, command, commit", to=addresses.recorded(run.id, "run.json")),
        File(
            what="the declaration as sealed before the run",
            to=addresses.recorded(run.id, slug, "declaration.json"),
            sha256=run.files.get(f"{slug}/declaration.json", ""),
        ),
        *(file for outcome in found.outcomes.values() for file in variant.files(run, slug, outcome)),
    )
