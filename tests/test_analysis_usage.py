"""Busy, idle and communicating time of each GPU in the recorded window."""

from __future__ import annotations

import pytest
from builders import kernel, launch, memcpy, step, trace
from hypothesis import given
from hypothesis import strategies as st

from foretrace.analysis.usage import Usage, usage
from foretrace.analysis.window import observe, observe_whole

TALK = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def used(*events: dict[str, object]) -> tuple[Usage, ...]:
    return usage(observe(trace(*events), ""))


def test_a_copy_that_fills_a_gap_is_no_idle_time() -> None:
    (found,) = used(step(1, at=0, us=500), kernel(at=0, us=50), memcpy(at=50, us=250, stream=8), kernel(at=300, us=50))

    assert (found.span_us, found.busy_us, found.idle_us, found.longest_idle_us) == (500.0, 350.0, 150.0, 150.0)
    assert found.streams == 2


def test_each_gpu_has_a_window_of_its_own_work() -> None:
    found = used(step(1, at=0, us=400), kernel(at=0, us=100), kernel(at=0, us=200, device=1))

    assert [(each.device, each.busy_us, each.idle_us) for each in found] == [(0, 100.0, 300.0), (1, 200.0, 200.0)]


def test_communication_is_exposed_where_nothing_else_runs() -> None:
    (found,) = used(step(1, at=0, us=100), kernel(TALK, at=0, us=60, stream=9), kernel(at=40, us=40))

    assert (found.communication_us, found.exposed_us, found.busy_us) == (60.0, 40.0, 80.0)


def test_the_window_ends_with_the_last_work_launched_in_it() -> None:
    (found,) = used(step(1, at=0, us=100), launch(at=90, us=5, correlation=1), kernel(at=95, us=55, correlation=1))

    assert (found.span_us, found.busy_us, found.longest_idle_us) == (150.0, 55.0, 95.0)


def test_work_outside_the_window_is_cut_off() -> None:
    (found,) = used(kernel("early", at=0, us=110), step(1, at=100, us=100), kernel("late", at=400, us=10))

    assert (found.span_us, found.busy_us) == (100.0, 10.0)


def test_nothing_is_said_without_gpu_work() -> None:
    assert used(step(1, at=0, us=100)) == ()


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(1, 300), st.integers(0, 2), st.booleans()), min_size=1))
def test_busy_and_idle_make_up_the_window(work: list[tuple[int, int, int, bool]]) -> None:
    events = [
        kernel(TALK if talks else f"k{place}", at=at, us=us, stream=stream)
        for place, (at, us, stream, talks) in enumerate(work)
    ]
    (found,) = usage(observe_whole(trace(*events)))

    assert found.busy_us + found.idle_us == pytest.approx(found.span_us)
    assert 0 <= found.exposed_us <= found.communication_us <= found.busy_us <= found.span_us
    assert 0 <= found.longest_idle_us <= found.idle_us
