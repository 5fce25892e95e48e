"""What must be distrusted: each check fails on the trace that it is for, and takes away the figures that need it."""

from __future__ import annotations

from builders import event, kernel, launch, memset, op, step
from measured import known

from foretrace.facts import Check, Facts
from foretrace.record import DeviceState


def check(facts: Facts, name: str) -> Check:
    (found,) = [each for each in facts.checks if each.name == name]
    return found


def sound(**more) -> Facts:
    return known(
        step(1, at=0, us=100),
        launch(at=1, correlation=1),
        kernel(at=10, us=5, correlation=1),
        samples={"step_us": [9.0]},
        **more,
    )


def test_a_sound_trace_passes_every_check_and_withholds_nothing():
    facts = sound()
    assert all(each.passed for each in facts.checks)
    assert facts.withheld == {}


def test_launches_without_any_gpu_work_withhold_counts_and_times_instead_of_zeros():
    facts = known(
        step(1, at=0, us=100), launch(at=1, correlation=1), launch(at=9, correlation=2), samples={"step_us": [9.0]}
    )
    assert "2 launches and not one" in check(facts, "Launches against GPU work").found
    assert {"activities", "kernel_us", "busy_share", "launches", "bound"} <= facts.withheld.keys()
    assert facts.quantities["runtime_calls"].median == 2


def test_some_lost_kernels_withhold_the_counts_too():
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, us=1, correlation=1),
        launch("cudaGraphLaunch", at=5, us=1, correlation=2),
        kernel(at=10, us=5, correlation=1),
    )
    assert "1 of 2" in facts.withheld["activities"]


def test_a_copy_of_nothing_or_a_host_function_is_no_lost_kernel():
    facts = known(
        step(1, at=0, us=100),
        launch("cudaMemcpyAsync", at=1, us=1, correlation=1),
        launch("cudaLaunchHostFunc", at=3, us=1, correlation=2),
        launch(at=5, us=1, correlation=3),
        kernel(at=10, us=5, correlation=3),
    )
    assert check(facts, "Launches against GPU work").passed


def test_a_step_that_launches_nothing_has_zero_kernels_and_not_an_unknown_number():
    facts = known(step(1, at=0, us=100), op("aten::view", at=1, us=5), launch("cudaDeviceSynchronize", at=101, us=5))
    assert facts.steps[0].activities.kernel == 0
    assert "activities" not in facts.withheld


def test_a_run_on_cuda_whose_trace_knows_no_cuda_at_all_is_not_called_idle():
    facts = known(step(1, at=0, us=100), op("aten::view", at=1, us=5))
    assert {"activities", "runtime_calls"} <= facts.withheld.keys()


def test_work_that_came_before_the_window_is_told_from_work_that_lost_its_launch():
    before = known(
        step(1, at=0, us=100), launch(at=1, us=1, correlation=1), kernel(at=2, us=5), kernel(at=10, us=5, correlation=1)
    )
    lost = known(
        step(1, at=0, us=100), launch(at=1, us=1, correlation=1), kernel(at=2, us=5, correlation=1), kernel(at=10, us=5)
    )
    assert check(before, "Work linked to its launch").passed
    assert "before the window" in check(before, "Work linked to its launch").found
    assert "1 of 2" in lost.withheld["activities"]


def test_durations_that_are_unknown_or_zero_withhold_times_and_leave_counts():
    for us in (-1, 0):
        facts = known(step(1, at=0, us=100), launch(at=1, us=1, correlation=1), kernel(at=9, us=us, correlation=1))
        assert {"kernel_us", "gpu_busy_us"} <= facts.withheld.keys()
        assert "activities" not in facts.withheld
        assert facts.steps[0].activities.kernel == 1


def test_work_that_starts_before_its_launch_withholds_what_compares_the_clocks():
    facts = known(step(1, at=0, us=100), launch(at=20, correlation=1), kernel(at=19, us=5, correlation=1))
    assert "launch_delay_us" in facts.withheld
    assert facts.quantities["kernel_us"].median == 5


def test_work_may_start_while_its_launching_call_is_still_returning():
    for at in (20, 22):
        facts = known(step(1, at=0, us=100), launch(at=20, us=5, correlation=1), kernel(at=at, us=5, correlation=1))
        assert check(facts, "CPU and GPU clocks").passed


def test_graph_launches_are_said_to_hide_the_operator():
    facts = known(
        step(1, at=0, us=100),
        launch("cudaGraphLaunch", at=1, us=1, correlation=1),
        *(kernel(at=10 + 10 * number, us=5, correlation=1) for number in range(3)),
    )
    assert "3 kernels come from 1 graph launches" in check(facts, "CUDA graphs").found
    assert facts.withheld == {}


def test_a_step_too_few_withholds_what_speaks_of_the_first_step():
    facts = known(step(1, at=0, us=100), step(2, at=100, us=50), launch("cudaDeviceSynchronize", at=160, us=1), steps=3)
    assert facts.withheld["first_step_ratio"] == "2 steps in the trace, 3 were to be recorded"
    assert "profiled_step_us" in facts.quantities


def test_the_profilers_interruption_of_a_step_is_shown():
    facts = known(step(1, at=0, us=100), event("overhead", "Activity Buffer Request", at=5, us=60, pid=-1))
    found = check(facts, "Profiler interruptions")
    assert not found.passed
    assert "60.0 µs" in found.found


def test_an_interruption_before_between_or_after_the_steps_interrupts_none():
    for at in (1, 120, 300):
        interruption = event("overhead", "Activity Buffer Request", at=at, us=5, pid=-1)
        facts = known(step(1, at=10, us=100), step(2, at=150, us=100), interruption)
        assert check(facts, "Profiler interruptions").passed


def test_a_throttled_or_silent_device_is_shown_and_withholds_nothing():
    hot = sound(after=DeviceState(sm_mhz=1200, throttle=("sw thermal slowdown",)))
    silent = sound(before=None, after=None)
    assert "sw thermal slowdown" in check(hot, "Clock and throttle state").found
    assert "1200 … 1980 MHz" in check(hot, "Clock and throttle state").found
    assert not check(silent, "Clock and throttle state").passed
    assert hot.withheld == silent.withheld == {}


def test_a_profiler_that_costs_more_than_it_shows_is_flagged():
    assert check(sound(), "The profiler's own cost").passed
    slow = known(step(1, at=0, us=1000), samples={"dispatch_us": [10.0]}, device="cpu")
    assert not check(slow, "The profiler's own cost").passed


def test_all_work_from_outside_is_told_with_its_kinds():
    facts = known(memset(at=0, us=1), step(1, at=10, us=50), launch("cudaDeviceSynchronize", at=70, us=1))
    assert check(facts, "Work launched outside the steps").found.startswith("0 kernels + 1 memset, counted apart")
