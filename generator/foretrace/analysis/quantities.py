"""The quantities of `facts.QUANTITIES`: a window and an outcome come in, samples and summaries by name go out.

A quantity that does not apply (no work declared, no such event) is simply not there; `integrity` says which of those
that are there cannot be trusted.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from foretrace import grammars, stats
from foretrace.analysis.attribution import NONE
from foretrace.analysis.intervals import union_ns
from foretrace.analysis.kernels import ACTIVITIES
from foretrace.analysis.usage import usage
from foretrace.facts import QUANTITIES
from foretrace.stats import Rounds
from foretrace.trace import LAUNCHERS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretrace.analysis.kernels import Geometry
    from foretrace.analysis.window import Window
    from foretrace.facts import Step
    from foretrace.record import Outcome
    from foretrace.stats import Summary
    from foretrace.trace import Int64

Samples = dict[str, Rounds]

BUFFER_REQUEST = "Activity Buffer Request"
DEVICE_SYNCHRONIZE = ("cudaDeviceSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize")
GRAPH_CALL = re.compile(r"## Call CompiledFxGraph (\S+) ##")


def measured(outcome: Outcome) -> Samples:
    """The samples that the run took without the profiler, by round; what is not finite was not measured."""
    rounds = {
        name: tuple(tuple(filter(math.isfinite, each)) for each in found) for name, found in outcome.samples.items()
    }
    return {name: found for name, found in rounds.items() if any(found) and name in QUANTITIES}


def traced(
    window: Window, steps: Sequence[Step], groups: Mapping[Geometry, Int64], *, op: str
) -> dict[str, tuple[float, ...]]:
    """The samples that one trace holds: one a recorded step, one an event, or one in all.

    Args:
        window: the recorded window.
        steps: its steps.
        groups: the GPU work of its steps, from `kernels.by_geometry`.
        op: the operator whose own time is told, from `opaque`: the same one in every round.
    """
    found: dict[str, Sequence[float]] = {
        "profiled_step_us": [step.width_us for step in steps],
        "kernel_us": [step.kernel_us for step in steps],
        "gemm_us": _family_us(window, "gemm"),
        "pointwise_us": _family_us(window, "pointwise"),
        "gpu_busy_us": [step.busy_us for step in steps],
        "entry_gap_us": [step.entry_gap_us for step in steps if step.entry_gap_us is not None],
        "runtime_calls": window.per_step(window.trace.rows(*LAUNCHERS)).tolist(),
        "launches": window.per_step(np.unique(window.attribution.launch[window.attribution.launch != NONE])).tolist(),
        "ops": (ops := window.per_step(window.trace.rows(Kind.OP)).tolist()),
        "ops_per_kernel": _over([step.activities.kernel for step in steps], ops),
        "opaque_share": _opaque_shares(window, op),
        "launch_delay_us": _launch_delays(window).tolist(),
        "buffer_request_us": (window.trace.dur_ns[_buffer_requests(window)] / 1000).tolist(),
        "top_kernel_us": _longest_kernel_us(window, groups),
    }
    found |= {name: [value] for name, value in _of_window(window).items()} if len(window) else {}
    samples = {name: tuple(map(float, values)) for name, values in found.items() if len(values)}
    return samples | _within(samples)


def opaque(window: Window) -> str:
    """The operator that spends most time outside all that is recorded inside it; "" where none was recorded."""
    rows, names = _ops(window), window.trace.names
    if not len(rows):
        return ""
    spent = np.bincount(window.trace.name[rows], weights=window.own_ns[rows])
    return min(names[name] for name in np.flatnonzero(spent == spent.max()).tolist())


def shares(windows: Sequence[Window]) -> dict[str, Summary]:
    """The share of each family, of copies and of memsets, of all GPU time of the recorded steps; a sample a round."""
    found = by_round([_shares(window) for window in windows])
    return {family: stats.across(each) for family, each in found.items()}


def _shares(window: Window) -> dict[str, tuple[float, ...]]:
    rows = window.rows_of(window.work)
    dur_ns = window.trace.dur_ns[rows]
    spent: dict[str, int] = {}
    for place, work in enumerate(window.work.tolist()):
        family = _family(window, work)
        spent[family] = spent.get(family, 0) + int(dur_ns[place])
    whole = sum(spent.values())
    return {family: (each / whole,) for family, each in spent.items()} if whole else {}


def by_round(traces: Sequence[Mapping[str, tuple[float, ...]]]) -> Samples:
    """The samples of several traces, by the round that each was recorded in."""
    names = dict.fromkeys(name for each in traces for name in each)
    return {name: tuple(each.get(name, ()) for each in traces) for name in names}


def per_work(samples: Samples, outcome: Outcome) -> Samples:
    """What the declared work makes of the samples of GPU busy time: achieved rate and bandwidth."""
    work = outcome.variant.work
    busy = [tuple(value for value in each if value > 0) for each in samples.get("gpu_busy_us", ())]
    if work is None or not any(busy):
        return {}
    return {
        "tflops": tuple(tuple(work.flops / value / 1e6 for value in each) for each in busy),
        "gbps": tuple(tuple(work.bytes / value / 1e3 for value in each) for each in busy),
    }


def summaries(samples: Samples, *, peak_memory_bytes: int | None = None) -> dict[str, Summary]:
    """Every quantity that applies, in the order of `facts.QUANTITIES`.

    Args:
        samples: all samples, by quantity.
        peak_memory_bytes: what the framework's allocator reached; None where it was not asked.
    """
    found = {name: stats.across(rounds) for name, rounds in samples.items()}
    found |= _ratios(samples)
    if peak_memory_bytes is not None:
        found["peak_memory_bytes"] = stats.exact(float(peak_memory_bytes))
    return {name: found[name] for name in QUANTITIES if name in found}


def closing_synchronisation(window: Window) -> int:
    """The row of the device synchronisation that closes the window, after the last recorded step; NONE without one."""
    trace = window.trace
    if not len(window):
        return NONE
    rows = [row for row in trace.rows(*LAUNCHERS).tolist() if trace.text(row) in DEVICE_SYNCHRONIZE]
    closing = [row for row in rows if trace.start_ns[row] >= window.steps.end_ns.max()]
    return closing[-1] if closing else NONE


def _ratios(samples: Samples) -> dict[str, Summary]:
    found = {}
    if "gpu_busy_us" in samples and _is_positive(samples, "step_us"):
        found["busy_share"] = stats.ratio_across(samples["gpu_busy_us"], samples["step_us"])
    if "dispatch_us" in samples and _is_positive(samples, "step_us"):
        found["dispatch_share"] = stats.ratio_across(samples["dispatch_us"], samples["step_us"])
    if "profiled_step_us" in samples and _is_positive(samples, "dispatch_us"):
        found["profiler_factor"] = stats.ratio_across(samples["profiled_step_us"], samples["dispatch_us"])
    return found


def _within(samples: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """What the samples of one trace say of each other: how alike its steps and its launches are."""
    found: dict[str, tuple[float, ...]] = {}
    durations, widths = samples.get("top_kernel_us", ()), samples.get("profiled_step_us", ())
    if durations and np.median(durations) > 0:
        found["top_kernel_mean_ratio"] = (float(np.mean(durations) / np.median(durations)),)
    if widths and min(widths) > 0:
        found["step_width_ratio"] = (max(widths) / min(widths),)
    for name, values in (("first_step_ratio", widths), ("first_step_gap_ratio", samples.get("entry_gap_us", ()))):
        if len(values) > 1 and min(values[1:]) > 0:
            found[name] = (values[0] / float(np.median(values[1:])),)
    return found


def _of_window(window: Window) -> Mapping[str, float]:
    """The quantities that a whole window has once."""
    trace, closing = window.trace, closing_synchronisation(window)
    found = {
        "self_cpu_us": _self_cpu_ns(window) / 1000,
        "self_gpu_us": window.duration_us(window.work),
        "buffer_requests": float(len(_buffer_requests(window))),
        "graph_hashes": float(len(_graph_hashes(window))),
    }
    if used := usage(window):
        found["traced_busy_share"] = sum(each.busy_us / each.span_us for each in used) / len(used)
    if found["self_gpu_us"]:
        found["cpu_over_gpu"] = found["self_cpu_us"] / found["self_gpu_us"]
    if closing != NONE and trace.dur_ns[closing]:
        found["sync_us"] = int(trace.dur_ns[closing]) / 1000
        found["sync_idle_share"] = 1 - _busy_within_ns(window, closing) / int(trace.dur_ns[closing])
        if found["self_gpu_us"]:
            found["sync_over_gpu"] = found["sync_us"] / found["self_gpu_us"]
    return found


def _self_cpu_ns(window: Window) -> int:
    """The time under labels, operators and CUDA calls from the first step on, thread by thread."""
    trace = window.trace
    rows = trace.rows(Kind.ANNOTATION, Kind.OP, *LAUNCHERS)
    rows = rows[trace.start_ns[rows] >= window.start_ns]
    threads = [rows[trace.lane[rows] == lane] for lane in np.unique(trace.lane[rows])]
    return sum(union_ns(trace.start_ns[thread], trace.end_ns[thread]) for thread in threads)


def _busy_within_ns(window: Window, around: int) -> int:
    """The time during a CPU row in which any GPU work ran, that from outside the steps included."""
    trace = window.trace
    start, end = trace.start_ns[around], trace.end_ns[around]
    rows = trace.gpu.row
    return union_ns(np.clip(trace.start_ns[rows], start, end), np.clip(trace.end_ns[rows], start, end))


def _launch_delays(window: Window) -> Int64:
    """From the start of each launching call in the steps to that of its first GPU work, in µs."""
    works = window.work[window.attribution.launch[window.work] != NONE]
    launch, first = np.unique(window.attribution.launch[works], return_index=True)
    start = window.trace.start_ns
    delay = start[window.rows_of(works[first])] - start[launch]
    in_order: Int64 = delay[np.lexsort((delay, start[launch]))] / 1000
    return in_order


def _longest_kernel_us(window: Window, groups: Mapping[Geometry, Int64]) -> Sequence[float]:
    """The durations in µs of the kernel that takes most GPU time."""
    works = next((works for geometry, works in groups.items() if geometry.kind is Kind.KERNEL), None)
    if works is None:
        return ()
    start, dur = (column[window.rows_of(works)] for column in (window.trace.start_ns, window.trace.dur_ns))
    in_order: list[float] = (dur[np.lexsort((dur, start))] / 1000).tolist()
    return in_order


def _over(below: Sequence[int], above: Sequence[int]) -> Sequence[float]:
    """Step by step the one count over the other; nothing where a step has none to divide by."""
    return [top / bottom for top, bottom in zip(above, below, strict=True)] if all(below) else ()


def _family_us(window: Window, family: str) -> Sequence[float]:
    """The time of a family's kernels in each step; nothing where no step launched one."""
    per_step = [
        [work for work in window.kernels_among(window.work_of(step)).tolist() if _family(window, work) == family]
        for step in range(len(window))
    ]
    return [window.duration_us(np.array(works, dtype=np.int64)) for works in per_step] if any(per_step) else ()


def _family(window: Window, work: int) -> str:
    """The family of a kernel; a copy's or a memset's own word."""
    row = int(window.trace.gpu.row[work])
    kind = Kind(int(window.trace.kind[row]))
    return grammars.decode(window.trace.text(row)).family if kind is Kind.KERNEL else ACTIVITIES[kind]


def _opaque_shares(window: Window, op: str) -> Sequence[float]:
    """Of each step's width, the part that an operator spends outside all that is recorded inside it."""
    rows = _ops(window)
    width = window.steps.end_ns - window.steps.start_ns
    if not len(rows) or not op or not (width > 0).all():
        return ()
    mine = rows[[window.trace.text(row) == op for row in rows.tolist()]]
    spent = np.bincount(window.step_of_row[mine], weights=window.own_ns[mine], minlength=len(window))
    shares: list[float] = (spent / width).tolist()
    return shares


def _ops(window: Window) -> Int64:
    """The operators of the steps on the thread that runs them."""
    rows = window.rows_in_steps(Kind.OP)
    mine: Int64 = rows[window.trace.lane[rows] == window.lane]
    return mine


def _buffer_requests(window: Window) -> Int64:
    trace = window.trace
    rows = trace.rows(Kind.OVERHEAD)
    return rows[[trace.text(row) == BUFFER_REQUEST for row in rows.tolist()]] if len(rows) else rows


def _graph_hashes(window: Window) -> set[str]:
    trace = window.trace
    names = {trace.text(row) for row in window.rows_in_steps(Kind.OP, Kind.ANNOTATION).tolist()}
    return {match[1] for name in names if (match := GRAPH_CALL.match(name))}


def _is_positive(samples: Samples, name: str) -> bool:
    """Whether there are samples to divide by, all of them above 0."""
    values = [value for each in samples.get(name, ()) for value in each]
    return bool(values) and min(values) > 0
