"""A literal study: one run of one scenario with verdicts of all three states, a failed variant and hostile names.

`study()` needs no trace and no torch; `TIMELINES` goes with it. `hostile` names try to break Markdown, HTML and Jinja.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import facts_builder as known
import msgspec

from foretrace import Scenario, claim, grid, predict
from foretrace.facts import Activities, Arrow, Call, Check, Facts, Kernel, Lane, Link, Span, Timeline
from foretrace.prediction import Claim, Unmeasured, judge
from foretrace.record import (
    SCHEMA,
    Ceilings,
    DeviceState,
    Environment,
    Failure,
    Gpu,
    Options,
    Outcome,
    Record,
    Round,
    Run,
    TraceFile,
)
from foretrace.scenario import Sealed
from foretrace.stats import summarise
from foretrace.study import Investigation, Judged, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = "2026-11-30-test-gpu"
HOSTILE = (
    "<script>alert(1)</script>",
    "</td></tr></table><h1>broken</h1>",
    "a|b|c",
    "**bold** _it_ __dunder__ `code` [link](http://evil.example)",
    "{{ 7 * 7 }}{% raw %}{# gone #}",
    "line\nend\ttab\r\x1b[31mred\x00",
    "![image](x.png) {: .class onclick=alert(1) }",
    "&lt;entity&gt; &#42; &nbsp;",
    "\"quoted\" 'single' \\*backslash\\|",
    "\u202eright to left\u2066",
    "    four spaces",
    "# heading",
    "- item",
    "12. item",
    "!!! note",
    "??? note",
    "<!-- comment",
    "]]> <![CDATA[",
    "~~~",
    "http://evil.example/?a=1&b=2",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int)",
)
GEMM = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"
OTHER_GEMM = "nvjet_tst_128x256_64x4_1x2_h_badd_coopA_NNT"

SCENARIO = Scenario(
    title="Matmul and add",
    question="Who decides how long a step takes: the CPU that launches, or the GPU that computes?",
    label="matmul_add",
    variants=grid(size=(64, 1024, 4096), mode="eager") + grid(size=(64, 4096, 8192), mode="compile"),
    predictions=(
        predict.bound("overhead", where={"size": 64}, because="a launch costs more than 64³ multiplications"),
        predict.count("kernel", 2, where={"mode": "eager"}, because="one GEMM, one sum"),
        predict.ratio(
            "dispatch_us",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(1.2, 3.0),
            because="guards at every call",
        ),
        predict.within("gpu_busy_us", (1.0, 100.0), where={"size": 8192}, because="an untested guess"),
    ),
    claims=(
        claim(
            "P1-03",
            "An eager step launches two kernels.",
            predict.count("kernel", 2, where={"mode": "eager"}),
            figure="2",
            on="A100",
            source="https://example.org/post",
        ),
        claim(
            "P1-13",
            "The compiled GEMM has the name that eager's has.",
            predict.same_kernels(between={"mode": ("eager", "compile")}, family="gemm", where={"size": 4096}),
            figure="ampere_bf16_s16816gemm_bf16_128x256",
            on="A100",
            source="https://example.org/post",
        ),
    ),
    baseline={"mode": "eager"},
)
DECLARED = {variant.name: variant for variant in SCENARIO.variants}
SEALED = Sealed(
    slug="matmul_add",
    scenario=SCENARIO,
    seal=SCENARIO.seal(),
    source_sha256="0" * 64,
)
GPU = Gpu(name="Test GPU 9000", compute_capability="9.0", multiprocessors=132, memory_bytes=150 * 2**30)


def run(**more: Any) -> Run:
    """The run's head, finished, with a GPU."""
    values: dict[str, Any] = {
        "schema": SCHEMA,
        "id": RUN,
        "started_utc": "2026-11-30T10:24:19Z",
        "finished_utc": "2026-11-30T10:26:00Z",
        "command": "foretrace run matmul_add --rounds 2",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": False,
        "environment": Environment(
            device="cuda",
            gpu=GPU,
            versions={"driver": "580.1", "cuda": "13.0", "torch": "2.13.0", "triton": "3.5", "python": "3.11.4"},
            cpu_model="Test CPU",
            cpu_count=16,
        ),
        "ceilings": Ceilings(tflops={"bf16": 801.0}, copy_gbps=4012.0, how="best of 20 products of 8192³"),
        "options": Options(rounds=2),
        "scenarios": ("matmul_add",),
    }
    return Run(**(values | more))


def twice(middle: float) -> tuple[tuple[float, ...], ...]:
    """Samples of two processes, the second one slower by a quarter."""
    return around(middle), around(1.25 * middle)


def around(middle: float, count: int = 9) -> tuple[float, ...]:
    """Samples around a value, ± 2 %."""
    return tuple(middle * (1 + 0.02 * ((place * 5) % count - count // 2) / (count // 2)) for place in range(count))


def measured(size: int, mode: str) -> Facts:
    """Facts that look like those of a matmul and an add of this size."""
    busy = 4.1 + 2.2e-9 * size**3 * 1.3
    dispatch = 21.0 if mode == "eager" else 30.0
    eager = mode == "eager"
    made = known.facts(
        {"size": size, "mode": mode},
        steps=[Activities(kernel=2), Activities(kernel=2), Activities(kernel=2)]
        if eager
        else [Activities(kernel=1, memcpy=1)] * 3,
        bound="overhead" if busy < dispatch else "compute",
        kernels=_kernels(size, eager=eager, busy=busy),
        calls=[
            Call(
                kind="op",
                name=name,
                per_step=(1, 1, 1),
                outside=0,
                total_us=60.0,
                self_us=20.0,
                kernels=3,
                gpu_us=3 * busy,
            )
            for name in ("aten::matmul", *HOSTILE)
        ],
        dispatch_us=twice(dispatch),
        step_us=twice(max(busy, dispatch + 1)),
        latency_us=around(max(busy, dispatch) + 9),
        gpu_busy_us=around(busy, 3),
        busy_share=around(min(busy / max(busy, dispatch + 1), 1.0), 3),
        profiler_factor=2.3,
        launches=2.0,
        peak_memory_bytes=float(5 * 2 * size**2),
    )
    return msgspec.structs.replace(
        made,
        withheld={"sync_us": "the trace has no closing synchronisation"},
        outside=Activities(memset=1),
        chain=(
            Link(depth=0, kind="annotation", name="matmul_add", start_us=0.4, dur_us=52.0, launched=()),
            Link(depth=1, kind="op", name="aten::matmul", start_us=5.1, dur_us=24.0, launched=()),
            Link(depth=2, kind="runtime", name="cudaLaunchKernel", start_us=11.0, dur_us=6.2, launched=(HOSTILE[0],)),
        ),
        checks=(
            Check(name="launches against kernels", passed=True, found="6 launches, 6 kernels"),
            Check(
                name="closing synchronisation",
                passed=False,
                found="none in the window",
                withholds=("sync_us", "sync_over_gpu"),
            ),
        ),
        notes=(f"an odd name: {HOSTILE[0]}",),
    )


def _kernels(size: int, *, eager: bool, busy: float) -> list[Kernel]:
    gemm = known.kernel(
        GEMM if eager else OTHER_GEMM,
        label="nvjet gemm 128×256×64 bf16",
        duration=summarise(around(0.8 * busy, 3)),
        total_us=2.4 * busy,
        share=0.8,
        grid=(16, 32, 1),
        registers=168,
        shared_bytes=213_000,
        occupancy=0.125,
        occupancy_limit="shared memory",
        occupancy_reported=0.0,
    )
    add = known.kernel(
        HOSTILE[-1],
        family="pointwise",
        label="add bf16 ×4",
        duration=summarise(around(0.2 * busy, 3)),
        total_us=0.6 * busy,
        share=0.2,
        op="aten::add",
    )
    copy = known.kernel(
        "Memcpy DtoD (Device -> Device)",
        activity="memcpy",
        family="memcpy",
        label="copy device to device",
        grid=None,
        block=None,
        registers=None,
        shared_bytes=None,
        moved_bytes=2 * size**2,
        occupancy=None,
        occupancy_limit="",
        occupancy_reported=None,
        launch_call="cudaMemcpyAsync",
    )
    odd = [known.kernel(name, family="other", label=name, share=0.0, total_us=0.1) for name in HOSTILE[:-1]]
    return [gemm, add if eager else copy, *(odd if size == 64 else [])]


def study(**head: Any) -> Study:
    """The whole study; `head` replaces fields of the run."""
    facts: dict[str, Facts | Unmeasured] = {}
    outcomes: dict[str, Outcome] = {}
    for name, declared in DECLARED.items():
        size, mode = declared.params["size"], declared.params["mode"]
        assert isinstance(size, int)
        if size == 8192:
            failure = Failure(
                reason="out-of-memory",
                message="CUDA ran out of memory: 40 GiB asked for",
                stderr=f"line 1\n{HOSTILE[0]}",
            )
            facts[name] = Unmeasured(params=declared.params, reason=failure.message)
            outcomes[name] = Outcome(variant=declared, failure=failure)
        else:
            facts[name] = measured(size, str(mode))
            outcomes[name] = _outcome(name)
    return Study(
        record=Record(
            folder=Path("nowhere"),
            run=run(**head),
            declarations={"matmul_add": SEALED},
            outcomes={"matmul_add": outcomes},
        ),
        investigations={"matmul_add": _investigation(facts, outcomes)},
    )


def carrying(**claims: Sequence[Claim]) -> Study:
    """A study whose scenarios, by slug, have the same facts and carry these claims and no predictions."""
    plain = study()
    (known,) = plain.investigations.values()
    (outcomes,) = plain.record.outcomes.values()
    return msgspec.structs.replace(
        plain,
        record=msgspec.structs.replace(plain.record, outcomes=dict.fromkeys(claims, outcomes)),
        investigations={slug: _carrying(known, slug, carried) for slug, carried in claims.items()},
    )


def _carrying(known: Investigation, slug: str, claims: Sequence[Claim]) -> Investigation:
    scenario = msgspec.structs.replace(SCENARIO, title=f"The {slug}", predictions=(), claims=tuple(claims))
    return msgspec.structs.replace(
        known,
        sealed=msgspec.structs.replace(SEALED, slug=slug, scenario=scenario),
        predictions=(),
        claims=tuple(
            Judged(expectation=made.expectation, verdict=judge(made.expectation, known.facts), claim=made)
            for made in claims
        ),
    )


def _investigation(facts: dict[str, Facts | Unmeasured], outcomes: dict[str, Outcome]) -> Investigation:
    return Investigation(
        sealed=SEALED,
        outcomes=outcomes,
        facts=facts,
        predictions=tuple(
            Judged(expectation=expected, verdict=judge(expected, facts)) for expected in SCENARIO.predictions
        ),
        claims=tuple(
            Judged(expectation=made.expectation, verdict=judge(made.expectation, facts), claim=made)
            for made in SCENARIO.claims
        ),
    )


def _outcome(name: str) -> Outcome:
    first = Round(
        started_utc="2026-11-30T10:25:00Z",
        samples={},
        before=DeviceState(sm_mhz=1980, memory_mhz=3201, temperature_c=41, power_w=120.5),
        after=DeviceState(sm_mhz=1965, memory_mhz=3201, temperature_c=44, power_w=410.0, throttle=("power cap",)),
        trace=TraceFile(name=f"{name}.1.trace.json.gz", sha256="ab" * 32, size_bytes=48_123),
    )
    second = msgspec.structs.replace(
        first,
        after=msgspec.structs.replace(first.before, temperature_c=47),
        trace=msgspec.structs.replace(first.trace, name=f"{name}.2.trace.json.gz"),
    )
    return Outcome(
        variant=DECLARED[name],
        rounds=(first, second),
    )


def timeline(name: str) -> Timeline:
    """Two steps with a launch and its kernel each."""
    starts = (0.0, 60.0)
    return Timeline(
        end_us=120.0,
        lanes=(
            Lane(
                title="Steps",
                role="steps",
                spans=tuple(
                    Span(start_us=at, dur_us=55, name=f"ProfilerStep#{at:.0f}", label="step", kind="step")
                    for at in starts
                ),
            ),
            Lane(
                title="CPU",
                role="cpu",
                spans=tuple(
                    Span(start_us=at + 5 * depth, dur_us=50 - 10 * depth, name=op, label=op, kind="op", depth=depth)
                    for at in starts
                    for depth, op in enumerate(("aten::matmul", HOSTILE[0]))
                ),
            ),
            Lane(
                title="Launches",
                role="launch",
                spans=tuple(
                    Span(start_us=at + 12, dur_us=6, name="cudaLaunchKernel", label="launch", kind="runtime")
                    for at in starts
                ),
            ),
            Lane(
                title="Stream 7",
                role="gpu",
                spans=tuple(
                    Span(start_us=at + 25, dur_us=20, name=GEMM, label="gemm", kind="kernel", family="gemm")
                    for at in starts
                ),
            ),
        ),
        arrows=tuple(Arrow(from_us=at + 12, to_us=at + 25, to_lane=3) for at in starts),
        borders_us=(0.0, 55.0, 60.0, 115.0),
        caption=f"Two steps of {name}.",
    )


TIMELINES = {("matmul_add", name): timeline(name) for name in DECLARED if not name.startswith("8192")}
