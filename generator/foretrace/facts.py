"""What is known of one measured variant: the vocabulary that predictions are judged by and pages are written from.

`analysis` fills a `Facts` from a trace and its samples. A quantity that cannot be trusted is not in `quantities`; it
is in `withheld`, with the reason. Times are microseconds unless a name says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from foretrace.stats import Rounds, Summary
from foretrace.units import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILIES = (
    "gemm", "conv", "attention", "pointwise", "reduction", "softmax", "norm", "copy", "index", "sort", "rng",
    "optimizer", "comm", "memcpy", "memset", "other",
)  # fmt: skip
"""The sorts of GPU work that an expectation can speak of; the decoder of kernel names has the same."""

Scalar = str | int | float | bool
Params = dict[str, Scalar]
Limiter = Literal["overhead", "compute", "memory", "communication", "sync", "undecided"]


class Definition(msgspec.Struct, frozen=True):
    """What a quantity is: its unit, the words for a column head, and the definition shown beside it."""

    unit: Unit
    title: str
    meaning: str


QUANTITIES: Mapping[str, Definition] = {
    "step_us": Definition(
        "us",
        "Step time",
        "Wall time of a step without the profiler: a block of steps run back to back, from the first call until the "
        "GPU is idle again, divided by the steps in it.",
    ),
    "dispatch_us": Definition(
        "us",
        "CPU dispatch time",
        "Host time a step takes to return, without the profiler: the same blocks, until the last call has returned.",
    ),
    "latency_us": Definition(
        "us", "Latency", "One step alone, from the call until the GPU is idle again, without the profiler."
    ),
    "event_us": Definition(
        "us",
        "CUDA event time",
        "Time between two CUDA events around the block, divided by the steps in it, without the profiler.",
    ),
    "profiled_step_us": Definition(
        "us", "Profiled step", "Width of the step's ProfilerStep range on the CPU, under the profiler."
    ),
    "kernel_us": Definition("us", "Kernel time", "Sum of the durations of the kernels that a step launched."),
    "gemm_us": Definition(
        "us", "GEMM time", "Sum of the durations of the matrix-multiply kernels that a step launched."
    ),
    "pointwise_us": Definition(
        "us", "Pointwise time", "Sum of the durations of the pointwise kernels that a step launched."
    ),
    "gpu_busy_us": Definition(
        "us", "GPU busy", "Union, over streams, of the kernels, copies and memsets that a step launched."
    ),
    "busy_share": Definition(
        "share",
        "GPU busy share",
        "GPU busy time of a step over its step time without the profiler, taken round by round; over 100 % reads as "
        "fully busy.",
    ),
    "dispatch_share": Definition(
        "share",
        "CPU dispatch share",
        "CPU dispatch time of a step over its step time, both without the profiler, taken round by round: near 100 % "
        "the GPU is done as soon as the last call has returned, so that it is the CPU which sets the pace.",
    ),
    "top_kernel_us": Definition(
        "us",
        "Top kernel",
        "Durations of the kernel (one name, one launch geometry) that takes most GPU time, over all its launches in "
        "the recorded steps.",
    ),
    "top_kernel_mean_ratio": Definition(
        "ratio",
        "Top kernel, mean over median",
        "Mean over median of that kernel's durations: 1 where it always takes the same time.",
    ),
    "self_cpu_us": Definition(
        "us",
        "CPU time in the trace",
        "CPU time under labels, operators and CUDA calls from the first recorded step on, each instant of a thread "
        "counted once, the closing synchronisation included: the profiler table's Self CPU total.",
    ),
    "self_gpu_us": Definition(
        "us",
        "GPU time in the trace",
        "Sum of the durations of the GPU work launched by the recorded steps: the profiler table's Self CUDA total "
        "without work from outside the steps.",
    ),
    "traced_busy_share": Definition(
        "share",
        "GPU busy share of the trace",
        "Share of the recorded window in which the GPU did any work, under the profiler: from the first step's start "
        "to the end of the last step or of the last work launched in one; of several GPUs, the mean.",
    ),
    "cpu_over_gpu": Definition("ratio", "CPU over GPU time", "CPU time in the trace over GPU time in the trace."),
    "entry_gap_us": Definition(
        "us",
        "Gap before the first op",
        "From the start of the step's own label to the start of its first operator, one sample a recorded step.",
    ),
    "first_step_gap_ratio": Definition(
        "ratio",
        "First step's gap over the others'",
        "The first recorded step's gap before its first op over the median gap of the others.",
    ),
    "first_step_ratio": Definition(
        "ratio",
        "First step over the others",
        "Width of the first recorded step over the median width of the others.",
    ),
    "step_width_ratio": Definition("ratio", "Widest step over narrowest", "Widest recorded step over the narrowest."),
    "sync_us": Definition(
        "us",
        "Closing synchronisation",
        "Duration of the cudaDeviceSynchronize that closes the trace, after the last recorded step.",
    ),
    "sync_over_gpu": Definition(
        "ratio",
        "Synchronisation over GPU work",
        "Duration of the closing cudaDeviceSynchronize over the GPU time in the trace.",
    ),
    "sync_idle_share": Definition(
        "share",
        "Idle share of the synchronisation",
        "Share of the closing cudaDeviceSynchronize during which no kernel, copy or memset ran.",
    ),
    "runtime_calls": Definition("count", "CUDA calls", "Runtime and driver calls inside a step."),
    "launches": Definition(
        "count",
        "Launches",
        "Runtime and driver calls inside a step that started GPU work: kernel launches, graph launches, copies, "
        "memsets.",
    ),
    "ops": Definition(
        "count",
        "CPU ops",
        "Framework operators inside a step, nested ones included: not the number of kernels.",
    ),
    "ops_per_kernel": Definition(
        "ratio",
        "CPU ops over kernels",
        "Framework operators inside a step over the kernels that it launched: the number of the one is not that of the "
        "other.",
    ),
    "opaque_share": Definition(
        "share",
        "Opaque CPU share",
        "Share of a recorded step's width that a single operator spends outside all that is recorded inside it, under "
        "the profiler; of all operators it is the one that spends most so.",
    ),
    "launch_delay_us": Definition(
        "us",
        "Launch to start",
        "From the start of a launching call to the start of the first GPU work that it launched, over the recorded "
        "steps.",
    ),
    "profiler_factor": Definition(
        "ratio",
        "Profiler's own cost",
        "Profiled step over CPU dispatch time: how many times longer the CPU takes for a step under the profiler.",
    ),
    "buffer_requests": Definition(
        "count",
        "Activity buffer requests",
        "The profiler's own Activity Buffer Request events in the trace.",
    ),
    "buffer_request_us": Definition(
        "us", "Activity buffer request", "Duration of the profiler's Activity Buffer Request events."
    ),
    "graph_hashes": Definition(
        "count",
        "Compiled graphs called",
        "Distinct compiled-graph hashes among the CompiledFxGraph calls of all recorded steps.",
    ),
    "peak_memory_bytes": Definition(
        "bytes",
        "Peak memory",
        "Largest amount of device memory allocated through the framework's allocator, from the loop without the "
        "profiler on.",
    ),
    "tflops": Definition("tflops", "Achieved rate", "The step's floating-point operations over its GPU busy time."),
    "gbps": Definition("gbps", "Achieved bandwidth", "The bytes that the step has to move over its GPU busy time."),
}


class Activities(msgspec.Struct, frozen=True):
    """Counts of GPU work; a copy or a memset is an activity, never a kernel."""

    kernel: int = 0
    memcpy: int = 0
    memset: int = 0

    def __str__(self) -> str:
        """The counts in words: `2 kernels + 1 memset`."""
        words = [
            ("kernel", "kernels", self.kernel),
            ("memcpy", "memcpys", self.memcpy),
            ("memset", "memsets", self.memset),
        ]
        said = [f"{count} {one if count == 1 else many}" for one, many, count in words if count or one == "kernel"]
        return " + ".join(said)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded step, with the work it launched."""

    name: str
    start_us: float  # since the first recorded step began
    width_us: float
    entry_gap_us: float | None  # None where the step has no label or no operator
    activities: Activities
    kernel_us: float
    busy_us: float


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of GPU work in the recorded steps: one name, one launch geometry."""

    activity: Literal["kernel", "memcpy", "memset"]
    name: str  # as the trace spells it: hostile text
    family: str  # gemm, pointwise, …, from the decoder; "other" where it cannot tell
    label: str  # the decoder's short name
    identity: str  # operation, dtypes and layout, without tile: stable across library versions
    per_step: tuple[int, ...]  # launches in each recorded step
    duration: Summary
    total_us: float  # over all recorded steps
    share: float  # of all GPU time in the recorded steps, 0 … 1
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    registers: int | None
    shared_bytes: int | None
    moved_bytes: int | None  # a copy's or a memset's
    occupancy_reported: float | None  # share, as the profiler says
    occupancy: float | None  # share, from registers, shared memory, threads and the device's limits
    occupancy_limit: str  # which resource limits it; "" where unknown
    op: str  # the innermost framework operator around the launch; "" where none
    launch_call: str  # cudaLaunchKernel, cuLaunchKernelEx, cudaGraphLaunch, …; "" where not linked
    calls_before: tuple[str, ...]  # CUDA calls inside the same operator before the launch, since the launch before
    fields: dict[str, str] = {}  # what the decoder reads in the name: tile, dtype, layout, stages, fused_ops, …


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of GPU work of a step, in the order in which every recorded step runs it."""

    activity: Literal["kernel", "memcpy", "memset"]
    name: str  # hostile text
    family: str
    label: str
    duration: Summary  # µs, over all rounds
    part: str = ""  # the declared part of the step that it is; "" where none is declared, or it cannot be told
    flops: float | None = None  # as declared for the part
    bytes: float | None = None
    dtype: str = ""  # whose ceiling `tflops` is held against
    tflops: Summary | None = None  # the declared operations over the duration
    gbps: Summary | None = None  # the declared bytes over the duration


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One operator, label or CUDA call, over the recorded steps."""

    kind: Literal["op", "annotation", "runtime", "driver", "overhead"]
    name: str  # hostile text
    per_step: tuple[int, ...]
    outside: int  # occurrences in the window outside every recorded step
    total_us: float
    self_us: float  # without its children
    kernels: int  # GPU kernels launched inside it, all recorded steps
    kernels_per_step: tuple[int, ...] = ()  # the same, step by step
    gpu_us: float  # their and the copies' durations


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the dispatch chain: what ran on the CPU in a typical step, in order, with what it launched."""

    depth: int
    kind: Literal["op", "annotation", "runtime", "driver"]
    name: str  # hostile text
    start_us: float  # since the step began
    dur_us: float
    launched: tuple[str, ...]  # labels of the GPU work that this call launched


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One integrity check of the trace: what was looked at, what was found, and what it costs if it failed."""

    name: str
    passed: bool
    found: str
    withholds: tuple[str, ...] = ()  # quantities that cannot be trusted because of it


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """What a step's time is limited by, and why one may say so."""

    limiter: Limiter
    evidence: str


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of one measured variant: its quantities over all rounds, the rest from its first trace."""

    params: Params
    quantities: dict[str, Summary]
    samples: dict[str, Rounds]  # behind `quantities`, where there are any
    withheld: dict[str, str]  # quantity -> why it is not given
    steps: tuple[Step, ...]
    outside: Activities  # launched outside the recorded steps: counted, never divided in
    kernels: tuple[Kernel, ...]  # longest total first
    calls: tuple[Call, ...]
    chain: tuple[Link, ...]
    sequence: tuple[Piece, ...] = ()  # empty where steps differ in what they run
    shares: dict[str, Summary] = {}  # of all GPU time, by family, `memcpy`, `memset`; a sample a round
    opaque: str = ""  # the operator that `opaque_share` is about
    checks: tuple[Check, ...]
    bound: Bound
    notes: tuple[str, ...] = ()  # what the reader noticed

    @property
    def untimed(self) -> str:
        """Why no time of GPU work can be trusted; "" where they can."""
        return self.withheld.get("kernel_us", "")

    def part(self, name: str) -> Piece | None:
        """The piece of every step that is this declared part; None where it could not be told."""
        return next((piece for piece in self.sequence if piece.part == name), None)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One box of the timeline."""

    start_us: float
    dur_us: float
    name: str  # hostile text
    label: str  # short, for inside the box
    kind: Literal["step", "annotation", "op", "runtime", "driver", "overhead", "kernel", "memcpy", "memset"]
    family: str = ""  # of GPU work
    depth: int = 0  # nesting on the CPU lane


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the timeline; its spans may nest (CPU) or follow one another (launches, streams)."""

    title: str
    role: Literal["steps", "cpu", "launch", "gpu"]
    spans: tuple[Span, ...]


class Arrow(msgspec.Struct, frozen=True, kw_only=True):
    """From a launching call to the GPU work it started."""

    from_us: float
    to_us: float
    to_lane: int  # index into Timeline.lanes


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """What a timeline image shows; 0 is where the first shown step begins."""

    end_us: float
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]
    borders_us: tuple[float, ...]  # where steps begin and end
    caption: str = ""  # what was left out, in words
