"""One variant's page: its facts and its recorded outcome come in, a `VariantPage` goes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from foretrace import units
from foretrace.facts import QUANTITIES, Check, Facts, Kernel, Link, Timeline
from foretrace.page import addresses, cells, cpu, layers, pieces, readings, runs
from foretrace.page import models as page
from foretrace.page.models import Cell, Column, Notice, Table
from foretrace.prediction import Unmeasured
from foretrace.record import Ceilings, DeviceState, Failure, Outcome, Run
from foretrace.scenario import Sealed, Variant
from foretrace.stats import Summary
from foretrace.study import LEFT_OUT

ROWS = 200
"""The most rows that a page shows of a table about a trace; the files beside it have all of them."""

READ = 40_000
"""The most characters of names that a page reads piece by piece, those with most time first."""
LABELS = 8
"""The most pieces of work that a line of the dispatch chain names."""

OPERATORS = 40
"""The most operators that the table of what each launches shows."""

GROUPS = {
    "Without the profiler": ("step_us", "dispatch_us", "dispatch_share", "latency_us", "event_us", "peak_memory_bytes"),
    "GPU work of a step": (
        *(
            "gpu_busy_us",
            "busy_share",
            "kernel_us",
            "gemm_us",
            "pointwise_us",
            "top_kernel_us",
            "top_kernel_mean_ratio",
            "tflops",
            "gbps",
        ),
    ),
    "Launching": (
        *("ops", "ops_per_kernel", "opaque_share", "runtime_calls", "launches", "launch_delay_us", "graph_hashes"),
    ),
    "Recorded steps": (
        *("profiled_step_us", "entry_gap_us", "first_step_gap_ratio", "first_step_ratio", "step_width_ratio"),
    ),
    "The whole trace": (
        *(
            "self_cpu_us",
            "self_gpu_us",
            "traced_busy_share",
            "cpu_over_gpu",
            "sync_us",
            "sync_over_gpu",
            "sync_idle_share",
        ),
    ),
    "The profiler itself": ("profiler_factor", "buffer_requests", "buffer_request_us"),
}
"""Every quantity, under what it is about."""

QUANTITY = (
    Column(title="Quantity", meaning="What was measured; the definitions page has each in a sentence."),
    Column(
        title="Median",
        meaning="The middle of the samples; of several processes, the middle of their medians; or what was counted.",
        numeric=True,
    ),
    Column(
        title="Interval",
        meaning="Holds the median with 95 % confidence, by order statistics; below six samples it is the whole range. "
        "Of several processes it is that of their medians, or below six reaches over all of their intervals.",
        numeric=True,
    ),
    Column(title="Spread", meaning="Half the interval's width as a share of the median.", numeric=True),
    Column(title="Range", meaning="The smallest and the largest sample; none is dropped.", numeric=True),
    Column(title="Samples", meaning="How many there are.", numeric=True),
)
KERNEL = (
    Column(
        title="GPU work",
        meaning="A kernel, copy or memset: what its name says when it is decoded; links to the name, piece by piece.",
    ),
    Column(title="Family", meaning="The sort of work, from the decoded name; `other` where the name does not tell."),
    Column(title="A step", meaning="Launches in each recorded step.", numeric=True),
    Column(
        title="Duration",
        meaning="Median of one launch over the recorded steps (of the first round), with the interval that holds it.",
        numeric=True,
    ),
    Column(title="Share", meaning="Of all GPU time in the recorded steps.", numeric=True),
    Column(title="Grid × block", meaning="Blocks in the grid, and threads in a block.", numeric=True),
    Column(title="Registers", meaning="For each thread.", numeric=True),
    Column(title="Shared memory", meaning="For each block, static and dynamic.", numeric=True),
    Column(
        title="Occupancy",
        meaning="Computed from registers, shared memory, threads and the device's limits; below it, what limits it.",
        numeric=True,
    ),
    Column(
        title="Reported",
        meaning="Occupancy as the profiler states it; it says 0 % for some launches that do run.",
        numeric=True,
    ),
    Column(title="Launched by", meaning="The innermost operator around the launch, and the call that started it."),
)
STEP = (
    Column(title="Step", meaning="A recorded step, under the profiler."),
    Column(title="Begins", meaning="Since the first recorded step began.", numeric=True),
    Column(title="Width", meaning="Of the step's range on the CPU, slowed down by the profiler.", numeric=True),
    Column(
        title="Gap before the first op",
        meaning="From the start of the step's label to its first operator.",
        numeric=True,
    ),
    Column(title="Launched", meaning="The GPU work that belongs to the step by its launch; memsets and copies apart."),
    Column(title="Kernel time", meaning="Sum of the durations of its kernels.", numeric=True),
    Column(title="GPU busy", meaning="Union of its kernels, copies and memsets over all streams.", numeric=True),
)
CHAIN = (
    Column(title="On the CPU", meaning="Operators, labels and CUDA calls of a typical step, in order, nested."),
    Column(title="Kind", meaning="Operator, label, runtime call or driver call."),
    Column(title="Begins", meaning="Since the step began.", numeric=True),
    Column(title="Takes", meaning="Duration on the CPU, its children included.", numeric=True),
    Column(title="Launches", meaning="The GPU work that the call started."),
)
CHECK = (
    Column(title="Check", meaning="What was looked at in the trace."),
    Column(title="Result", meaning="Whether the figures that need it can be trusted."),
    Column(title="Found", meaning="What was seen."),
    Column(title="Withholds", meaning="The quantities that are not given because it failed."),
)
DEVICE = (
    Column(title="State", meaning="What the driver's management library said."),
    Column(title="Before", meaning="Just before the variant was measured, over all rounds.", numeric=True),
    Column(title="After", meaning="Just after it, over all rounds.", numeric=True),
)


def build(
    run: Run,
    sealed: Sealed,
    variant: Variant,
    *,
    outcome: Outcome | None,
    facts: Facts | Unmeasured,
    timeline: Timeline | None,
) -> page.VariantPage:
    """The page of one declared variant, measured or not."""
    slug, name = sealed.slug, variant.name
    known = facts if isinstance(facts, Facts) else None
    here = f"{sealed.scenario.title}, {name}"
    return page.VariantPage(
        **msgspec.structs.asdict(_known(run, known, here, address=addresses.variant(slug, name))),
        slug=slug,
        address=addresses.variant(slug, name),
        name=name,
        scenario=page.Link(sealed.scenario.title, addresses.scenario(slug)),
        run=runs.card(run, (outcome,) if outcome else ()),
        parameters=tuple((key, str(value)) for key, value in variant.params.items()),
        command=f"foretrace run {slug} --only {name}{'' if run.environment.gpu else ' --device cpu'}",
        bound=known.bound.limiter if known else "",
        bound_evidence=known.bound.evidence if known else "",
        notices=notices(outcome, facts),
        timeline=picture(timeline, here, title=name, stem=addresses.picture(slug, f"{name}-timeline")),
        device=_device(outcome, here) if outcome else None,
        files=files(run, slug, outcome),
        trace=addresses.recorded(run.id, slug, outcome.trace.name) if outcome and outcome.trace else "",
    )


def _known(run: Run, known: Facts | None, here: str, *, address: str) -> page.Shown:
    return shown(known, here, address=address, ceilings=run.ceilings) if known else page.Shown()


def shown(known: Facts, here: str, *, address: str, ceilings: Ceilings) -> page.Shown:
    """The sections about a trace: its facts in tables.

    Args:
        known: the facts.
        here: what captions call it.
        address: of the page that shows them.
        ceilings: what the device reached; nothing where nobody measured it.
    """
    read = to_read(known.kernels)
    names = readings.readings(read)
    return page.Shown(
        layers=layers.table(known, here),
        quantities=_quantities(known, here),
        withheld=_withheld(known),
        kernels=kernels(known.kernels, names, f"GPU work of {here}", address=address, untimed=known.untimed)
        if known.kernels
        else None,
        names=names,
        more_names=_more_names(known.kernels, read),
        sequence=pieces.sequence(known, here, names, address=address, ceilings=ceilings),
        operators=cpu.operators(known, here, most=OPERATORS),
        steps=_steps(known, here) if known.steps else None,
        outside="" if cells.launched_nothing(known.outside) else str(known.outside),
        chain=_chain(known.chain, here) if known.chain else None,
        calls=cpu.calls(known, here, most=ROWS) if known.calls else None,
        checks=_checks(known, here) if known.checks else None,
        notes=known.notes,
    )


def notices(outcome: Outcome | None, facts: Facts | Unmeasured) -> tuple[Notice, ...]:
    """Why a variant has no figures; nothing where it has."""
    if outcome and outcome.failure:
        return (failure(outcome.failure),)
    if isinstance(facts, Unmeasured):
        kind: Literal["info", "warning"] = "info" if facts.reason == LEFT_OUT else "warning"
        return (Notice(kind=kind, title="Not measured", text=facts.reason),)
    return ()


def failure(failed: Failure) -> Notice:
    """What went wrong, with the end of what the process said; or what this machine lacks."""
    if failed.reason == "unavailable":
        return Notice(kind="info", title="Not possible on this machine", text=failed.message)
    return Notice(
        kind="failure",
        title=f"Failed: {failed.reason.replace('-', ' ')}",
        text=failed.message,
        block=failed.stderr.rstrip(),
    )


def files(run: Run, slug: str, outcome: Outcome | None) -> tuple[page.File, ...]:
    """The recorded files that a variant's figures rest on."""
    if outcome is None:
        return ()
    name = outcome.variant.name
    what = "samples and device state"
    recorded = f"{slug}/{name}.json"
    found = [
        page.File(what=f"{name}: {what}", to=addresses.recorded(run.id, recorded), sha256=run.files.get(recorded, ""))
    ]
    for number, each in enumerate(outcome.rounds, 1):
        if each.trace:
            found.append(
                page.File(
                    what=f"{name}: trace of round {number}",
                    to=addresses.recorded(run.id, slug, each.trace.name),
                    sha256=each.trace.sha256,
                    size=units.quantity(each.trace.size_bytes, "bytes"),
                )
            )
    return tuple(found)


def picture(timeline: Timeline | None, here: str, *, title: str, stem: str) -> page.Picture | None:
    """The timeline of what `here` names as an image, where there is anything to draw."""
    if timeline is None or not timeline.lanes:
        return None
    return page.Picture(
        stem=stem,
        title=title,
        alt=f"Timeline of {here}: CPU calls, launches and GPU work of the recorded steps",
        caption="",  # the image says it
        drawing=timeline,
    )


def _quantities(facts: Facts, here: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    groups: list[tuple[int, str]] = []
    for title, keys in GROUPS.items():
        known = [key for key in keys if key in facts.quantities and key not in facts.withheld]
        groups += [(len(rows), title)] if known else []
        rows += [_quantity(key, facts.quantities[key]) for key in known]
    return Table(caption=f"Quantities of {here}", columns=QUANTITY, rows=tuple(rows), groups=tuple(groups))


def _quantity(key: str, found: Summary) -> tuple[Cell, ...]:
    """A row; one value that was counted has no spread and no range to show."""
    unit = QUANTITIES[key].unit
    sampled = found.count > 1
    return (
        Cell(text=QUANTITIES[key].title, to=f"{addresses.DEFINITIONS}#{key}", hint=QUANTITIES[key].meaning),
        Cell(text=units.quantity(found.median, unit)),
        Cell(text=cells.interval(found, unit) or "one value"),
        cells.spread(found) if sampled else Cell(text=""),
        cells.reach(found, unit) if sampled else Cell(text=""),
        cells.count(found.count),
    )


def _withheld(facts: Facts) -> tuple[tuple[str, str], ...]:
    """What is not given, under the reason that it shares."""
    titles: dict[str, list[str]] = {}
    for key, reason in facts.withheld.items():
        titles.setdefault(reason, []).append(_title(key))
    return tuple((", ".join(together), reason) for reason, together in titles.items())


def to_read(rows: Sequence[Kernel]) -> list[Kernel]:
    """The GPU work whose names a page reads: the first of each name, as many as there is room for."""
    found: dict[str, Kernel] = {}
    room = READ
    for row in rows:
        cost = min(len(row.name), readings.LONGEST)
        if row.name not in found and cost <= room:
            found[row.name] = row
            room -= cost
    return list(found.values())


def _more_names(rows: Sequence[Kernel], read: Sequence[Kernel]) -> str:
    """How many names are not read on the page, in words."""
    more = {row.name for row in rows} - {row.name for row in read}
    return f"{len(more):,} more names are in the table's files; `foretrace decode` reads them." if more else ""


def kernels(
    rows: Sequence[Kernel], names: Sequence[page.Reading], caption: str, *, address: str, untimed: str
) -> Table:
    """A table of GPU work.

    Args:
        rows: the work, alike with alike.
        names: the readings that the page shows, which rows link to.
        caption: what the table shows.
        address: of the page.
        untimed: why its times cannot be trusted; "" where they can.
    """
    typical = cells.smallest(row.duration.median for row in rows)
    anchors = {found.name: f"{address}#{found.anchor}" for found in names}
    found = tuple(
        _kernel(
            row,
            Cell(text=cells.short(row.label), exact=row.name, kind="code", to=anchors.get(row.name, "")),
            typical,
            untimed,
        )
        for row in rows
    )
    return Table(caption=caption, columns=KERNEL, rows=found, most=ROWS).trimmed()


def _kernel(row: Kernel, name: Cell, typical: float | None, untimed: str) -> tuple[Cell, ...]:
    grid = "" if row.grid is None else " × ".join(f"{size:,}" for size in row.grid)
    block = "" if row.block is None else " × ".join(f"{size:,}" for size in row.block)
    moved = row.moved_bytes is not None and row.activity != "kernel"
    shape = Cell(text=grid, detail=f"× {block}" if block else "") if grid else cells.missing("no launch geometry")
    occupancy = cells.amount(row.occupancy, "share")
    if row.occupancy is not None and row.occupancy_limit:
        occupancy = Cell(text=occupancy.text, order=occupancy.order, detail=row.occupancy_limit)
    return (
        name,
        Cell(
            text=row.family if row.activity == "kernel" else row.activity,
            detail=units.quantity(row.moved_bytes, "bytes") if moved and row.moved_bytes is not None else "",
        ),
        cells.each(row.per_step),
        cells.unless(untimed, cells.spread_out(row.duration, "us", typical=typical)),
        cells.unless(untimed, cells.amount(row.share, "share")),
        shape,
        cells.amount(row.registers, "registers"),
        cells.amount(row.shared_bytes, "bytes"),
        occupancy,
        cells.amount(row.occupancy_reported, "share"),
        cells.code(row.op or "no operator", detail=cells.short(row.launch_call) or "launch not linked"),
    )


def _steps(facts: Facts, here: str) -> Table:
    typical = cells.smallest(step.width_us for step in facts.steps)
    on_gpu = bool(facts.kernels) and "activities" not in facts.withheld
    rows = tuple(
        (
            cells.code(step.name),
            cells.amount(step.start_us, "us", typical=typical),
            cells.amount(step.width_us, "us", typical=typical),
            cells.amount(step.entry_gap_us, "us", typical=typical),
            *(
                (
                    Cell(text=str(step.activities)),
                    cells.unless(facts.untimed, cells.amount(step.kernel_us, "us")),
                    cells.unless(facts.untimed, cells.amount(step.busy_us, "us")),
                )
                if on_gpu
                else ()
            ),
        )
        for step in facts.steps
    )
    return Table(
        caption=f"Recorded steps of {here}", columns=STEP if on_gpu else STEP[:4], rows=rows, most=ROWS
    ).trimmed()


def _chain(chain: Sequence[Link], here: str) -> Table:
    columns = CHAIN if any(link.launched for link in chain) else CHAIN[:-1]
    rows = tuple(
        (
            cells.code(link.name, depth=min(link.depth, 12)),
            Cell(text=cpu.KINDS[link.kind]),
            cells.amount(link.start_us, "us", typical=1.0),
            cells.amount(link.dur_us, "us", typical=1.0),
            _launched(link.launched),
        )[: len(columns)]
        for link in chain
    )
    caption = f"Dispatch chain of a typical step of {here}"
    return Table(caption=caption, columns=columns, rows=rows, most=ROWS, tall=True)


def _launched(labels: Sequence[str]) -> Cell:
    """The work that a call started; a graph launch starts thousands of pieces."""
    if not labels:
        return Cell(text="")
    more = f" and {len(labels) - LABELS:,} more" if len(labels) > LABELS else ""
    text = ", ".join(map(cells.short, labels[:LABELS])) + more
    return Cell(text=text, exact=", ".join(labels), kind="code")


def _passed(check: Check) -> Cell:
    if check.passed:
        return Cell(text="passed", kind="good")
    return Cell(text="failed", kind="bad") if check.withholds else Cell(text="to know")


def _checks(facts: Facts, here: str) -> Table:
    rows = tuple(
        (
            Cell(text=check.name),
            _passed(check),
            Cell(text=check.found),
            Cell(text="" if check.passed else ", ".join(_title(quantity) for quantity in check.withholds) or "nothing"),
        )
        for check in facts.checks
    )
    return Table(caption=f"Integrity of the trace of {here}", columns=CHECK, rows=rows)


def _device(outcome: Outcome, here: str) -> Table | None:
    sides = ([each.before for each in outcome.rounds], [each.after for each in outcome.rounds])
    states = [[state for state in side if state is not None] for side in sides]
    said = {
        "SM clock": [_over(side, "sm_mhz", "MHz") for side in states],
        "Memory clock": [_over(side, "memory_mhz", "MHz") for side in states],
        "Temperature": [_over(side, "temperature_c", "°C") for side in states],
        "Power": [_over(side, "power_w", "W") for side in states],
    }
    if all(text == "" for texts in said.values() for text in texts):
        return None
    reasons = [dict.fromkeys(reason for state in side for reason in state.throttle) for side in states]
    said["Throttled by"] = [", ".join(found) or "nothing" for found in reasons]
    unsaid = cells.missing("the management library does not say")
    rows = tuple((Cell(text=name), *(Cell(text=text) if text else unsaid for text in said[name])) for name in said)
    return Table(caption=f"The device around the measurement of {here}", columns=DEVICE, rows=rows)


def _over(states: Sequence[DeviceState], field: str, unit: str) -> str:
    """A field's value, or its range over the rounds."""
    values = [value for state in states if (value := getattr(state, field)) is not None]
    ends = dict.fromkeys(units.number(end) for end in (min(values), max(values))) if values else ()
    return f"{' … '.join(ends)} {unit}" if ends else ""


def _title(quantity: str) -> str:
    return QUANTITIES[quantity].title if quantity in QUANTITIES else _OTHERS.get(quantity, quantity)


_OTHERS = {"activities": "Counts of GPU work", "bound": "What limits the step"}
