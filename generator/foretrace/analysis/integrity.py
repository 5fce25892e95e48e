"""Can the figures be trusted: a window and an outcome come in, `facts.Check`s go out, each with what it withholds.

A quantity that a failed check names is not given; the check's finding is the reason that a page shows instead.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from foretrace.analysis.attribution import NONE
from foretrace.analysis.steps import OUTSIDE
from foretrace.facts import Activities, Check
from foretrace.trace import LAUNCHERS, Kind
from foretrace.units import number, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foretrace.analysis.window import Window
    from foretrace.record import DeviceState, Environment, Outcome
    from foretrace.stats import Summary
    from foretrace.trace import Int64

GPU_TIMES = (
    "kernel_us", "gemm_us", "pointwise_us", "gpu_busy_us", "busy_share", "top_kernel_us", "top_kernel_mean_ratio",
    "self_gpu_us", "cpu_over_gpu", "sync_over_gpu", "sync_idle_share", "traced_busy_share", "tflops", "gbps", "bound",
)  # fmt: skip
GPU = ("activities", "launches", "ops_per_kernel", "launch_delay_us", *GPU_TIMES)
OF_STEPS = tuple(name for name in GPU if name != "traced_busy_share")  # that need to know who launched what
CUDA_CALLS = ("runtime_calls", "sync_us", "buffer_requests", "buffer_request_us")
FIRST_STEP = ("first_step_ratio", "first_step_gap_ratio", "step_width_ratio")
TRACE = (
    *GPU, *CUDA_CALLS, *FIRST_STEP, "profiled_step_us", "self_cpu_us", "entry_gap_us", "ops", "opaque_share",
    "profiler_factor", "graph_hashes",
)  # fmt: skip

LAUNCH = re.compile(r"(cuda|cu|hip|xpu|ur)\w*Launch(?!HostFunc)\w*", re.IGNORECASE)
HEAVY_PROFILER = 10.0  # a step this much slower under the profiler is mostly profiler


def check(
    windows: Sequence[Window], outcome: Outcome, environment: Environment, factor: Summary | None
) -> tuple[Check, ...]:
    """Everything that was looked at, in the order of a page's table; of later rounds what they add.

    Args:
        windows: the recorded windows, one a round.
        outcome: how it was measured.
        environment: what it was measured on.
        factor: how much slower a step was under the profiler; None where unknown.
    """
    own = [_trace(window, outcome, environment) for window in windows]
    later = [
        msgspec.structs.replace(each, name=f"{each.name}, round {place}")
        for place, checks in enumerate(own[1:], 2)
        for each in checks
        if not each.passed and each.withholds
    ]
    alike = (_rounds(windows),) if len(windows) > 1 else ()
    device = () if environment.device == "cpu" else (_device(outcome),)
    return (*own[0], *later, *alike, _profiler(factor), *device)


def of_trace(window: Window) -> tuple[Check, ...]:
    """Everything that can be looked at in a trace that came alone, in the order of a page's table."""
    absent = tuple(_absent(window))
    if not len(window.trace.gpu.row):
        return (_marks(window), *absent, _no_gpu(window), _interruptions(window))
    return (_marks(window), *absent, *_gpu(window))


def _trace(window: Window, outcome: Outcome, environment: Environment) -> tuple[Check, ...]:
    """The checks of one trace."""
    recorded = _steps(window, outcome)
    if environment.device == "cpu":
        no_gpu = Check(name="GPU activity", passed=False, found="measured without a GPU", withholds=(*GPU, *CUDA_CALLS))
        return (recorded, no_gpu)
    return (recorded, *_gpu(window))


def _gpu(window: Window) -> tuple[Check, ...]:
    """The checks of a trace that should have GPU work."""
    return (
        _gpu_activity(window),
        _links(window),
        _outside(window),
        _durations(window),
        _clocks(window),
        _graphs(window),
        _interruptions(window),
    )


def _rounds(windows: Sequence[Window]) -> Check:
    """Whether every round launched the same work: what is counted and named in the first must stand for all."""
    name = "Work launched in every round"
    launched = [tuple(window.activities(window.work_of(step)) for step in range(len(window))) for window in windows]
    named = [_names(window) for window in windows]
    for place in range(1, len(windows)):
        said = ""
        if launched[place] != launched[0]:
            said = f"{_each(launched[place])}, the first {_each(launched[0])}"
        elif named[place] != named[0]:
            said = f"{_only(named[place], named[0])}, the first {_only(named[0], named[place])}"
        if said:
            return Check(name=name, passed=False, found=f"round {place + 1} launched {said}", withholds=("activities",))
    return Check(name=name, passed=True, found=f"the same in all {len(windows)}")


def _names(window: Window) -> Counter[str]:
    """The names of the kernels that the recorded steps launched, with how often."""
    return Counter(window.trace.text(row) for row in window.rows_of(window.kernels_among(window.work)).tolist())


def _only(these: Counter[str], those: Counter[str]) -> str:
    """What is launched more often here than there."""
    return ", ".join(sorted(these - those)) or "nothing else"


def _each(steps: Sequence[Activities]) -> str:
    return " / ".join(dict.fromkeys(map(str, steps))) or "nothing"


def without_trace() -> tuple[Check, ...]:
    """The one check of an outcome that has no trace."""
    return (Check(name="Trace", passed=False, found="no trace was recorded", withholds=TRACE),)


def withheld(checks: Sequence[Check], unavailable: Mapping[str, str]) -> dict[str, str]:
    """What is not given, and why: the first failed check that names it, else what the device cannot tell."""
    reasons: dict[str, str] = {}
    for each in checks:
        if not each.passed:
            reasons |= {name: each.found for name in each.withholds if name not in reasons}
    return {**unavailable, **reasons}


def _steps(window: Window, outcome: Outcome) -> Check:
    wanted, found = outcome.variant.protocol.active, len(window)
    if not found:
        said = f"none of the {wanted} recorded steps is in the trace"
        return Check(name="Recorded steps", passed=False, found=said, withholds=TRACE)
    if found != wanted:
        said = f"{found} steps in the trace, {wanted} were to be recorded"
        return Check(name="Recorded steps", passed=False, found=said, withholds=FIRST_STEP)
    return Check(name="Recorded steps", passed=True, found=f"all {found}")


def _marks(window: Window) -> Check:
    """Whether the trace itself marks steps."""
    name = "Recorded steps"
    if window.is_whole:
        said = "the trace marks none: the whole window stands for one"
        return Check(name=name, passed=False, found=said, withholds=(*FIRST_STEP, "profiled_step_us", "entry_gap_us"))
    return Check(name=name, passed=True, found=f"{len(window)}")


def _no_gpu(window: Window) -> Check:
    """A trace without GPU work: it launched none, or nobody recorded it."""
    found = _gpu_activity(window)
    said = "no kernel, copy or memset was recorded: there was none, or the profiler did not see it"
    return msgspec.structs.replace(found, passed=False, found=said, withholds=GPU) if found.passed else found


def _absent(window: Window) -> Iterator[Check]:
    """What the trace does not record at all, so that a zero would say nothing."""
    trace = window.trace
    if not len(trace.rows(Kind.OP, Kind.ANNOTATION, *LAUNCHERS)):
        yield Check(
            name="CPU activity", passed=False, found="none was recorded", withholds=("self_cpu_us", "cpu_over_gpu")
        )
    if not len(trace.rows(Kind.OP)):
        lost = ("ops", "ops_per_kernel", "opaque_share", "graph_hashes", "entry_gap_us")
        yield Check(name="Operators", passed=False, found="none was recorded", withholds=lost)
    if not len(trace.rows(Kind.OVERHEAD)):
        found = "none was recorded, which older profilers never do"
        yield Check(name="The profiler's own events", passed=False, found=found, withholds=("buffer_requests",))


def _gpu_activity(window: Window) -> Check:
    """Whether every launch in the steps has its GPU work: a zero that was not measured must not be shown."""
    name, trace = "Launches against GPU work", window.trace
    rows = window.rows_in_steps(*LAUNCHERS)
    is_launch = np.array([LAUNCH.fullmatch(each) is not None for each in trace.names] or [False])
    launches = _outer_calls(window, rows[is_launch[trace.name[rows]]])
    idle = launches[~np.isin(trace.correlation[launches], trace.correlation[trace.gpu.row])]
    if not len(trace.rows(*LAUNCHERS)) and not len(trace.gpu.row):
        said = "neither CUDA calls nor GPU activity were recorded"
        return Check(name=name, passed=False, found=said, withholds=(*GPU, *CUDA_CALLS))
    if not len(trace.rows(*LAUNCHERS)):
        said = "no CUDA call was recorded: what launched the GPU work, and when, is not known"
        unknown = (*CUDA_CALLS, "launches", "launch_delay_us")
        return Check(name=name, passed=False, found=said, withholds=unknown)
    if len(idle) and not len(trace.gpu.row):
        said = f"GPU activity was not recorded: {len(launches)} launches and not one kernel, copy or memset"
        return Check(name=name, passed=False, found=said, withholds=GPU)
    if len(idle):
        said = f"{len(idle)} of {len(launches)} launches have no GPU work in the trace: it is incomplete"
        return Check(name=name, passed=False, found=said, withholds=GPU)
    return Check(name=name, passed=True, found=f"each of {len(launches)} kernel and graph launches has its GPU work")


def _links(window: Window) -> Check:
    """Whether GPU work can be given to its step. On a stream work runs in order, so what was launched before the window
    comes first there; an unlinked activity after a linked one has lost its launch.
    """
    name, trace = "Work linked to its launch", window.trace
    unlinked = window.attribution.cause == NONE
    if not unlinked.any():
        return Check(name=name, passed=True, found=f"all of {len(unlinked)} kernels, copies and memsets")
    if unlinked.all() and not window.is_whole and not len(trace.rows(*LAUNCHERS)):
        said = f"not one of {len(unlinked)} kernels, copies and memsets names its launch: no step can be given"
        return Check(name=name, passed=False, found=said, withholds=OF_STEPS)
    if window.is_whole:
        said = f"{int((~unlinked).sum())} of {len(unlinked)}; no operator can be named for the others"
        return Check(name=name, passed=True, found=said)
    start = trace.start_ns[trace.gpu.row]
    lost = 0
    streams = np.stack([trace.gpu.device.astype(np.int64), trace.gpu.stream])
    for stream in np.unique(streams, axis=1).T:
        here = np.all(stream == streams.T, axis=1)
        linked_from = start[here & ~unlinked].min(initial=np.iinfo(np.int64).max)
        lost += int(np.count_nonzero(here & unlinked & (start > linked_from)))
    if lost:
        said = f"{lost} of {len(unlinked)} kernels, copies and memsets have lost their launch: no step can be given"
        return Check(name=name, passed=False, found=said, withholds=OF_STEPS)
    said = f"{int((~unlinked).sum())} of {len(unlinked)}; {int(unlinked.sum())} were launched before the window"
    return Check(name=name, passed=True, found=said)


def _outside(window: Window) -> Check:
    outside = window.activities(np.flatnonzero(window.step_of_work == OUTSIDE))
    total = outside.kernel + outside.memcpy + outside.memset
    said = f"{outside}, counted apart and left out of every figure" if total else "none"
    return Check(name="Work launched outside the steps", passed=True, found=said)


def _durations(window: Window) -> Check:
    name, trace, rows = "Durations of GPU work", window.trace, window.rows_of(window.work)
    unmeasured = np.isin(rows, trace.unmeasured)
    if unmeasured.any():
        said = f"{int(unmeasured.sum())} of {len(rows)} have no usable duration in the trace"
        return Check(name=name, passed=False, found=said, withholds=GPU_TIMES)
    if zero := int(np.count_nonzero(trace.dur_ns[rows] == 0)):
        said = f"{zero} of {len(rows)} are zero: too short for the device's clock, or not measured"
        return Check(name=name, passed=False, found=said, withholds=GPU_TIMES)
    return Check(name=name, passed=True, found=f"all of {len(rows)} above zero")


def _clocks(window: Window) -> Check:
    name, trace, attribution = "CPU and GPU clocks", window.trace, window.attribution
    linked = np.flatnonzero(attribution.launch != NONE)
    early = trace.start_ns[window.rows_of(linked)] < trace.start_ns[attribution.launch[linked]]
    if early.any():
        said = f"{int(early.sum())} of {len(linked)} seem to run before they were launched: the clocks are apart"
        return Check(name=name, passed=False, found=said, withholds=("launch_delay_us", "sync_idle_share"))
    return Check(name=name, passed=True, found="no GPU work starts before its launch")


def _graphs(window: Window) -> Check:
    from_graph = window.work[window.attribution.from_graph[window.work]]
    if not len(from_graph):
        return Check(name="CUDA graphs", passed=True, found="none")
    launches = len(np.unique(window.attribution.launch[from_graph]))
    said = f"{window.activities(from_graph)} come from {launches} graph launches: no operator can be named for them"
    return Check(name="CUDA graphs", passed=False, found=said)


def _interruptions(window: Window) -> Check:
    trace = window.trace
    rows = window.rows_in_steps(Kind.OVERHEAD)
    if not len(rows):
        return Check(name="Profiler interruptions", passed=True, found="none inside a step")
    names = ", ".join(sorted({trace.text(row) for row in rows.tolist()}))
    took = quantity(int(trace.dur_ns[rows].sum()) / 1000, "us")
    steps = len(np.unique(window.step_of_row[rows]))
    said = f"{len(rows)} in {steps} of {len(window)} steps, {took} in all: {names}"
    return Check(name="Profiler interruptions", passed=False, found=said)


def _profiler(factor: Summary | None) -> Check:
    name = "The profiler's own cost"
    if factor is None:
        return Check(name=name, passed=True, found="unknown: there is no dispatch time without the profiler")
    said = f"a step takes the CPU {number(factor.median)} times as long under the profiler"
    return Check(name=name, passed=factor.median < HEAVY_PROFILER, found=said)


def _device(outcome: Outcome) -> Check:
    name, states = "Clock and throttle state", outcome.states
    if not states:
        return Check(name=name, passed=False, found="the driver does not tell")
    throttle = sorted({reason for state in states for reason in state.throttle})
    said = "; ".join(filter(None, (_mhz(states), _celsius(states), ", ".join(throttle) or "not throttled")))
    return Check(name=name, passed=not throttle, found=said)


def _mhz(states: Sequence[DeviceState]) -> str:
    known = [state.sm_mhz for state in states if state.sm_mhz is not None]
    return f"SM clock {_range(known)} MHz" if known else ""


def _celsius(states: Sequence[DeviceState]) -> str:
    known = [state.temperature_c for state in states if state.temperature_c is not None]
    return f"{_range(known)} °C" if known else ""


def _range(values: Sequence[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} … {max(values)}"


def _outer_calls(window: Window, rows: Int64) -> Int64:
    """Those CUDA calls that are not part of another one."""
    around = window.parent[rows]
    within = (around != NONE) & np.isin(window.trace.kind[around], LAUNCHERS)
    outer: Int64 = rows[~within]
    return outer
