"""A first look at a trace: what is in it, how much of it can be attributed, and what to distrust.

A `Trace` comes in; an `Inspection` (plain values) or its text as JSON, CSV or lines for a terminal go out.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from foretrace.analysis.attribution import NONE, attribute
from foretrace.analysis.intervals import union_ns
from foretrace.analysis.steps import OUTSIDE, find_steps, step_of_gpu_work
from foretrace.trace import GPU_WORK, LAUNCHERS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from foretrace.analysis.attribution import Attribution
    from foretrace.analysis.steps import Steps
    from foretrace.trace import Int64, Trace

TOP = 10
PART_ROWS = 1 << 20  # looked at in one go, where temporary columns of the whole would take much memory
WIDEST_NAME = 100
LAUNCH = re.compile(r"launch(?!.*host)", re.IGNORECASE)  # of a kernel or a graph, under any vendor's name
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes the beginning of a formula for
INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")  # control, format (bidi, zero width), surrogates, private, line ends


class Activities(msgspec.Struct, frozen=True):
    """How many GPU activities of each kind."""

    kernel: int
    memcpy: int
    memset: int


class DeviceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator and the time in which it did any work."""

    index: int
    name: str
    busy_us: float


class NameSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of one name."""

    name: str
    count: int
    total_us: float


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """What `foretrace inspect` says of a trace; times in µs, to the nanosecond."""

    devices: list[DeviceSummary]
    steps: int
    activities: Activities
    kernel_time_us: float  # sum of kernel durations
    gpu_busy_us: float  # union of all GPU activities over the streams of a device, summed over devices
    linked_kernels: int  # kernels whose correlation id some runtime or driver call bears
    graph_kernels: int  # of those, launched by a graph launch
    graph_launches: int
    kernels_by_external_id: int  # kernels without a launch that share an operator's External id
    per_step: list[Activities]  # launched within each step, in order
    outside_steps: Activities  # launched outside all steps, or by nothing that was recorded
    step_names: list[str]
    step_us: list[float]
    span_us: float  # from the first start to the last end of what ran on CPU or GPU
    top_kernels: list[NameSummary]
    top_ops: list[NameSummary]
    warnings: list[str]


def inspect(trace: Trace) -> Inspection:
    """What is in `trace`."""
    attribution = attribute(trace)
    steps = find_steps(trace)
    step = step_of_gpu_work(trace, steps, attribution)
    kind = trace.kind[trace.gpu.row]
    kernel = kind == Kind.KERNEL
    linked = attribution.launch != NONE
    busy = _busy_ns(trace)
    graph_kernel = kernel & attribution.from_graph
    *per_step, outside = _activities_by_step(kind, step, len(steps))
    return Inspection(
        devices=[
            DeviceSummary(index=device.index, name=device.name, busy_us=busy.get(device.index, 0) / 1000)
            for device in trace.devices
        ],
        steps=len(steps),
        activities=Activities(*(int(np.count_nonzero(kind == each)) for each in GPU_WORK)),
        kernel_time_us=int(trace.dur_ns[trace.gpu.row[kernel]].sum()) / 1000,
        gpu_busy_us=sum(busy.values()) / 1000,
        linked_kernels=int(np.count_nonzero(kernel & linked)),
        graph_kernels=int(np.count_nonzero(graph_kernel)),
        graph_launches=len(np.unique(attribution.launch[attribution.from_graph])),
        kernels_by_external_id=int(np.count_nonzero(kernel & (attribution.op != NONE))),
        per_step=per_step,
        outside_steps=outside,
        step_names=[trace.text(row) for row in steps.row],
        step_us=((steps.end_ns - steps.start_ns) / 1000).tolist(),
        span_us=_span_ns(trace) / 1000,
        top_kernels=_top(trace, Kind.KERNEL),
        top_ops=_top(trace, Kind.OP),
        warnings=[*trace.warnings, *_doubts(trace, attribution, steps)],
    )


def to_json(inspection: Inspection) -> str:
    """The inspection as JSON of plain ASCII, so that no name in it can steer a terminal."""
    text = json.dumps(msgspec.to_builtins(inspection), indent=2, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f")


def to_csv(inspection: Inspection) -> str:
    """The inspection as one CSV table with a row a figure: section, number and name of the thing, field, value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("section", "number", "name", "field", "value"))
    for section, number, name, figures in _figures(inspection):
        for field, value in figures.items():
            shown = cell(value) if isinstance(value, str) else repr(value)
            writer.writerow((section, number, cell(name), field, shown))
    return text.getvalue()


def _figures(inspection: Inspection) -> Iterator[tuple[str, int | str, str, Mapping[str, object]]]:
    """Section, number, name and figures of everything that an inspection tells of; steps and tops count from 0."""
    whole = msgspec.structs.asdict(inspection)
    yield "trace", "", "", {field: value for field, value in whole.items() if isinstance(value, int | float)}
    yield "activities", "", "", msgspec.structs.asdict(inspection.activities)
    for device in inspection.devices:
        yield "device", device.index, device.name, {"busy_us": device.busy_us}
    steps = zip(inspection.step_names, inspection.step_us, inspection.per_step, strict=True)
    for number, (name, us, count) in enumerate(steps):
        yield "step", number, name, {"us": us, **msgspec.structs.asdict(count)}
    yield "outside_steps", "", "", msgspec.structs.asdict(inspection.outside_steps)
    for section, tops in (("top_kernel", inspection.top_kernels), ("top_op", inspection.top_ops)):
        for number, top in enumerate(tops):
            yield section, number, top.name, {"count": top.count, "total_us": top.total_us}
    for number, warning in enumerate(inspection.warnings):
        yield "warning", number, "", {"text": warning}


def counted(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`, `3 copies`, `4 launches`."""
    if count == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('h') else 's'}"
    return f"{count:,} {plural}"


def visible(text: str) -> str:
    """`text` with everything that a terminal would obey or hide spelled out: `\\x1b`, `\\u202e`, `\\n`."""
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in INVISIBLE else char for char in text
    )


def cell(text: str) -> str:
    """A text for a CSV file: no spreadsheet takes it for a formula, no terminal obeys it, and it is one line."""
    return f"'{visible(text)}" if text.startswith(FORMULA) else visible(text)


def to_lines(inspection: Inspection) -> list[str]:
    """The inspection for a reader at a terminal, safe to print."""
    lines = [*_device_lines(inspection), *_activity_lines(inspection)]
    lines += _step_table(inspection)
    lines += _name_table("Top kernels", inspection.top_kernels)
    lines += _name_table("Top operators", inspection.top_ops)
    if inspection.warnings:
        lines += ["", "Warnings", *(f"  - {visible(warning)}" for warning in inspection.warnings)]
    return lines


def _device_lines(inspection: Inspection) -> Iterator[str]:
    for device in inspection.devices:
        busy = f", busy {_us(device.busy_us)}" if len(inspection.devices) > 1 and device.busy_us else ""
        yield f"Device {device.index}: {_short(visible(_short(device.name))) or 'unnamed'}{busy}"


def _activity_lines(inspection: Inspection) -> Iterator[str]:
    """What the GPU did; where nothing is recorded, no figure, since that it did nothing is not known."""
    recorded, found = _us(inspection.span_us), inspection.activities
    if not any(msgspec.structs.astuple(found)):
        yield f"GPU activity: none in {recorded} recorded"
        return
    yield (
        f"Activities: {counted(found.kernel, 'kernel')} ({inspection.linked_kernels} linked to a launch), "
        f"{counted(found.memcpy, 'copy')}, {counted(found.memset, 'memset')}"
    )
    busy = sum(device.busy_us > 0 for device in inspection.devices)
    union = "union over streams" if busy < 2 else f"union over the streams of each device, sum of {busy} devices"
    yield (
        f"Kernel time {_us(inspection.kernel_time_us)}; GPU busy {_us(inspection.gpu_busy_us)} "
        f"({union}) of {recorded} recorded"
    )
    if inspection.graph_launches:
        launches = counted(inspection.graph_launches, "graph launch")
        yield f"Graphs: {counted(inspection.graph_kernels, 'kernel')} from {launches}"


def _step_table(inspection: Inspection) -> list[str]:
    form = "{:<20} {:>16} {:>8} {:>7} {:>8}"
    lines = ["", form.format("Step", "CPU time", "kernels", "copies", "memsets")]
    outside = ("outside steps", float("nan"), inspection.outside_steps)
    rows = [*zip(inspection.step_names, inspection.step_us, inspection.per_step, strict=True), outside]
    for name, us, count in rows:
        lines.append(form.format(visible(name), _us(us), count.kernel, count.memcpy, count.memset))
    return lines


def _name_table(title: str, names: Iterable[NameSummary]) -> list[str]:
    rows = [f"{each.count:>8} {_us(each.total_us):>16}  {_short(visible(_short(each.name)))}" for each in names]
    return ["", title, f"{'count':>8} {'total':>16}  name", *rows] if rows else []


def _short(name: str) -> str:
    half = WIDEST_NAME // 2
    return name if len(name) <= WIDEST_NAME else f"{name[: half - 1]}…{name[-half:]}"


def _us(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:,.3f} µs"


def _activities_by_step(kind: NDArray[np.uint8], step: Int64, steps: int) -> list[Activities]:
    """The activities of each step, and last those outside."""
    cell = np.where(step == OUTSIDE, steps, step) * len(Kind) + kind
    counts = np.bincount(cell, minlength=(steps + 1) * len(Kind)).reshape(-1, len(Kind))
    return [Activities(*row) for row in counts[:, GPU_WORK].tolist()]


def _busy_ns(trace: Trace) -> dict[int, int]:
    """The time in which each device that did any work did some."""
    order = np.argsort(trace.gpu.device, kind="stable")
    devices, first = np.unique(trace.gpu.device[order], return_index=True)
    rows = np.split(trace.gpu.row[order], first[1:])
    end = trace.end_ns
    return {index: union_ns(trace.start_ns[own], end[own]) for index, own in zip(devices.tolist(), rows, strict=False)}


def _span_ns(trace: Trace) -> int:
    """From the first start to the last end; a Python frame may overrun it and a profiler's own span is no work."""
    counts = np.isin(trace.kind, (Kind.OP, Kind.ANNOTATION, *LAUNCHERS, *GPU_WORK))
    if not counts.any():
        return 0
    last = trace.end_ns.max(where=counts, initial=-1)
    return int(last - trace.start_ns[np.argmax(counts)])


def _top(trace: Trace, kind: Kind) -> list[NameSummary]:
    count = np.zeros(len(trace.names), dtype=np.int64)
    total = np.zeros(len(trace.names))
    for part in (slice(at, at + PART_ROWS) for at in range(0, len(trace), PART_ROWS)):
        rows = trace.kind[part] == kind
        name, ns = trace.name[part][rows], trace.dur_ns[part][rows]
        count += np.bincount(name, minlength=len(count))
        total += np.bincount(name, weights=ns, minlength=len(total))
    leaders = [int(name) for name in np.lexsort((-count, -total))[:TOP] if count[name]]
    return [
        NameSummary(name=trace.names[name], count=int(count[name]), total_us=float(total[name]) / 1000)
        for name in leaders
    ]


def _doubts(trace: Trace, attribution: Attribution, steps: Steps) -> list[str]:
    """What the figures of this trace cannot say."""
    kernel = trace.kind[trace.gpu.row] == Kind.KERNEL
    doubts = [*_doubts_of_recording(trace), *_doubts_of_links(attribution, kernel)]
    if not len(steps) and len(trace):
        doubts.append("there is no ProfilerStep annotation: the whole window stands for the steps")
    if not (trace.kind != Kind.OTHER).any():
        doubts.append("there is no operator, launch or GPU activity: nothing to analyse")
    return doubts


def _doubts_of_recording(trace: Trace) -> list[str]:
    launches = np.array([LAUNCH.search(name) is not None for name in trace.names] or [False])
    rows = trace.rows(*LAUNCHERS)
    rows = rows[launches[trace.name[rows]]]
    if len(rows) and not len(trace.gpu.row):
        reason = "no CUPTI rights, WSL, or another profiler attached"
        launched = counted(len(rows), "launch")
        return [f"{launched} but no GPU activity: the GPU was not recorded ({reason}), nothing can be said of its time"]
    barren = (trace.correlation[rows] >= 0) & ~np.isin(trace.correlation[rows], trace.correlation[trace.gpu.row])
    if lost := int(np.count_nonzero(barren)):
        return [f"{counted(lost, 'launch')} without a GPU activity: part of the GPU's work was not recorded"]
    return []


def _doubts_of_links(attribution: Attribution, kernel: NDArray[np.bool_]) -> list[str]:
    doubts = []
    if unlinked := int(np.count_nonzero(kernel & (attribution.launch == NONE))):
        doubts.append(
            f"{unlinked} of {counted(len(kernel[kernel]), 'kernel')} without a launch of the same correlation id: "
            "launched before the window, or the trace has no such ids"
        )
    if by_op := int(np.count_nonzero(attribution.op != NONE)):
        doubts.append(f"{counted(by_op, 'GPU activity')} placed by the External id of an operator, not by a launch")
    if from_graph := int(np.count_nonzero(kernel & attribution.from_graph)):
        graphs = len(np.unique(attribution.launch[attribution.from_graph]))
        doubts.append(
            f"{counted(from_graph, 'kernel')} from {counted(graphs, 'graph launch')}: no operator can be named for them"
        )
    return doubts
