"""What a trace shows by itself: without steps, launches or a GPU, and never a zero that nobody measured."""

from __future__ import annotations

from builders import annotation, event, kernel, launch, memcpy, op, step, trace

from foretrace import analysis
from foretrace.facts import QUANTITIES
from foretrace.prediction import Counted, LimitedBy, Within, judge


def linked(at: float, correlation: int, name: str = "gemm", us: float = 10) -> list[dict[str, object]]:
    """An operator that launches a kernel, which starts 5 µs later."""
    return [
        op("aten::mm", at=at, us=4),
        launch(at=at + 1, us=2, correlation=correlation),
        kernel(name, at=at + 5, us=us, correlation=correlation),
    ]


def test_without_steps_the_whole_window_stands_for_one() -> None:
    look = analysis.of_trace(trace(*linked(0, 1), *linked(50, 2), kernel("early", at=2, us=1)))
    (only,) = look.facts.steps

    assert (only.name, only.activities.kernel, only.width_us) == ("the whole window", 3, 65.0)
    assert {row.name for row in look.facts.kernels} == {"gemm", "early"}
    assert look.facts.outside.kernel == 0
    assert "the trace marks none" in look.facts.withheld["profiled_step_us"]
    assert [lane.role for lane in look.timeline.lanes] == ["steps", "cpu", "launch", "gpu"]


def test_the_chain_of_a_whole_window_is_that_of_its_busiest_thread() -> None:
    look = analysis.of_trace(
        trace(
            op("aten::idle", at=0, us=3, tid=1),
            op("aten::outer", at=0, us=90, tid=2),
            op("aten::inner", at=5, us=9, tid=2),
        )
    )

    assert [(link.name, link.depth) for link in look.facts.chain] == [("aten::outer", 0), ("aten::inner", 1)]


def test_what_needs_a_loop_without_the_profiler_is_undecided_with_the_reason() -> None:
    facts = analysis.of_trace(trace(step(1, at=0, us=100), *linked(10, 1)), params={"rank": 0}).facts
    verdict = judge(Within(quantity="step_us", high=200, because="."), {"rank 0": facts})

    assert verdict.state == "undecided"
    assert "without the profiler" in verdict.measured


def test_a_count_is_judged_in_a_trace_alone() -> None:
    facts = analysis.of_trace(trace(step(1, at=0, us=100), *linked(10, 1), *linked(30, 2))).facts

    assert judge(Counted(activity="kernel", number=2, because="."), {"x": facts}).state == "held"
    assert judge(Counted(activity="kernel", number=3, because="."), {"x": facts}).state == "refuted"


def test_a_trace_of_the_gpu_alone_says_nothing_of_the_cpu() -> None:
    look = analysis.of_trace(trace(kernel("gemm", at=0, us=10), kernel("gemm", at=20, us=10), memcpy(at=40, us=5)))

    assert (look.facts.steps[0].activities.kernel, look.facts.steps[0].activities.memcpy) == (2, 1)
    silent = {"launches", "runtime_calls", "ops", "self_cpu_us", "cpu_over_gpu", "graph_hashes", "buffer_requests"}
    assert silent <= look.facts.withheld.keys()
    assert 0 not in {found.median for found in look.facts.quantities.values()}
    assert look.usage[0].busy_us == 25.0


def test_a_trace_of_the_cpu_alone_says_nothing_of_the_gpu() -> None:
    look = analysis.of_trace(trace(step(1, at=0, us=100), op("aten::mm", at=10, us=50)))

    assert {"activities", "gpu_busy_us", "traced_busy_share", "launches", "runtime_calls"} <= look.facts.withheld.keys()
    assert look.usage == ()
    assert judge(Counted(activity="kernel", number=0, because="."), {"x": look.facts}).state == "undecided"
    assert judge(LimitedBy(limiter="overhead", because="."), {"x": look.facts}).state == "undecided"


def test_launches_whose_work_was_not_recorded_give_no_zero() -> None:
    look = analysis.of_trace(trace(step(1, at=0, us=100), op("aten::mm", at=5, us=20), launch(at=10, correlation=1)))

    assert "GPU activity was not recorded" in look.facts.withheld["activities"]
    assert look.usage == ()


def test_calls_that_launch_nothing_by_their_names_give_no_zero_either() -> None:
    facts = analysis.of_trace(trace(op("aten::mm", at=5, us=20), launch("runModel", at=10, correlation=1))).facts

    assert "the profiler did not see it" in facts.withheld["kernel_us"]
    assert {"kernel_us", "gpu_busy_us", "launches"} & facts.quantities.keys() == set()


def test_work_without_a_launch_is_kept_apart_and_its_device_still_counts_as_busy() -> None:
    look = analysis.of_trace(trace(step(1, at=0, us=100), kernel("gemm", at=10, us=40), kernel("add", at=60, us=10)))

    assert "no step can be given" in look.facts.withheld["activities"]
    assert [(row.name, row.share, row.per_step) for row in look.others] == [("gemm", 0.8, ()), ("add", 0.2, ())]
    assert look.facts.quantities["traced_busy_share"].median == 0.5
    assert [lane.title for lane in look.timeline.lanes if lane.role == "gpu"] == ["GPU stream 7"]


def test_work_that_ran_before_the_first_step_is_no_part_of_it() -> None:
    events = [*linked(0, 1, "warm"), step(1, at=100, us=100), *linked(110, 2)]
    look = analysis.of_trace(trace(*events))

    assert [row.name for row in look.facts.kernels] == ["gemm"]
    assert [row.name for row in look.others] == ["warm"]
    assert look.facts.outside.kernel == 1


def test_a_gpu_that_is_busy_under_the_profiler_is_not_waited_for_and_an_idle_one_tells_nothing() -> None:
    talk = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    busy = analysis.of_trace(trace(step(1, at=0, us=100), *linked(5, 1, talk, us=90)))
    idle = analysis.of_trace(trace(step(1, at=0, us=100), *linked(5, 1, talk, us=20)))

    assert busy.facts.bound.limiter == "communication"
    assert idle.facts.bound.limiter == "undecided"
    assert "under the profiler" in idle.facts.bound.evidence


def test_the_profilers_own_cost_and_declared_work_are_never_made_up() -> None:
    facts = analysis.of_trace(trace(step(1, at=0, us=100), *linked(10, 1))).facts

    for quantity in ("step_us", "dispatch_us", "latency_us", "busy_share", "profiler_factor", "tflops", "gbps"):
        assert quantity in QUANTITIES
        assert quantity in facts.withheld
        assert quantity not in facts.quantities


def test_a_label_is_no_step_and_profiler_events_are_counted_where_they_are() -> None:
    facts = analysis.of_trace(
        trace(
            annotation("train", at=0, us=100), *linked(10, 1), event("overhead", "Activity Buffer Request", at=5, us=2)
        )
    ).facts

    assert facts.steps[0].name == "the whole window"
    assert facts.quantities["buffer_requests"].median == 1
