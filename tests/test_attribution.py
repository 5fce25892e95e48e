"""Who launched what and in which step: the rules that every per-step number rests on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builders import event, kernel, launch, memcpy, memset, op, step, trace
from hypothesis import given
from hypothesis import strategies as st

from foretrace.analysis.attribution import NONE, attribute
from foretrace.analysis.intervals import union_ns
from foretrace.analysis.steps import OUTSIDE, find_steps, step_of_gpu_work
from foretrace.trace import Trace


def launches(read: Trace) -> list[str | None]:
    """The name of the launch of each GPU activity."""
    return [None if row == NONE else read.text(row) for row in attribute(read).launch]


def steps_of(read: Trace) -> list[int]:
    return step_of_gpu_work(read, find_steps(read), attribute(read)).tolist()


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("cuda_runtime", "cudaLaunchKernel"),
        ("cuda_runtime", "cudaLaunchKernelExC"),
        ("cuda_driver", "cuLaunchKernelEx"),
        ("xpu_runtime", "urEnqueueKernelLaunch"),
        ("cuda_runtime", "a call nobody has seen yet"),
    ],
)
def test_any_call_with_the_correlation_id_is_the_launch(category: str, name: str) -> None:
    read = trace(launch(name, cat=category, at=0, correlation=4), kernel(at=9, us=1, correlation=4))
    assert launches(read) == [name]


def test_activities_without_a_recorded_launch_stay_unlinked() -> None:
    read = trace(launch(at=0, correlation=4), kernel(at=1, us=1, correlation=5), kernel(at=3, us=1))
    assert launches(read) == [None, None]


def test_a_launch_without_an_id_is_nobodys_launch() -> None:
    assert launches(trace(launch(at=0), kernel(at=1, us=1))) == [None]


def test_one_graph_launch_has_many_activities() -> None:
    read = trace(
        launch("cudaGraphLaunch", at=0, correlation=1),
        kernel("a", at=10, us=1, correlation=1),
        memset(at=12, us=1, correlation=1),
        launch(at=2, correlation=2),
        kernel("b", at=14, us=1, correlation=2),
    )
    assert launches(read) == ["cudaGraphLaunch", "cudaGraphLaunch", "cudaLaunchKernel"]
    assert attribute(read).from_graph.tolist() == [True, True, False]


def test_external_ids_stand_in_for_launches_but_are_no_links() -> None:
    gpu_row = kernel(at=9, us=1)
    gpu_row["args"]["External id"] = 131
    read = trace(op("aten::mm", at=0, us=5, external=131), launch("hipLaunchKernel", at=1), gpu_row)
    attribution = attribute(read)
    assert attribution.launch.tolist() == [NONE]
    assert read.text(attribution.op[0]) == "aten::mm"


def test_a_linked_activity_needs_no_external_id() -> None:
    gpu_row = kernel(at=9, us=1, correlation=1)
    gpu_row["args"]["External id"] = 2
    read = trace(op("aten::mm", at=0, us=5, external=2), launch(at=1, correlation=1), gpu_row)
    assert attribute(read).op.tolist() == [NONE]


def test_processes_that_use_the_same_ids_keep_their_own_launches() -> None:
    """Two ranks in one file: ids 1 and 2 mean another launch in each; only 3 and 4 tell which device is whose."""
    ranks: list[Any] = []
    for device, pid in enumerate((100, 200)):
        for correlation in (1, 2, 3 + device):
            ranks.append(launch(f"rank{device}", at=10 * correlation + device, pid=pid, correlation=correlation))
            ranks.append(kernel(at=10 * correlation + 5, us=1, device=device, correlation=correlation))
    read = trace(*ranks)
    expected = [f"rank{device}" for device in read.gpu.device]
    assert launches(read) == expected


def test_a_reused_id_means_the_last_launch_before_the_activity() -> None:
    read = trace(
        launch("first", at=0, correlation=1),
        kernel(at=10, us=1, correlation=1),
        launch("second", at=50, correlation=1),
        kernel(at=60, us=1, correlation=1),
    )
    assert launches(read) == ["first", "second"]


def test_a_runtime_call_is_the_launch_rather_than_the_driver_call_inside_it() -> None:
    read = trace(
        launch("cudaLaunchKernel", at=0, us=9, correlation=1),
        launch("cuLaunchKernel", cat="cuda_driver", at=2, us=5, correlation=1),
        kernel(at=20, us=1, correlation=1),
    )
    assert launches(read) == ["cudaLaunchKernel"]


def test_work_belongs_to_the_step_that_launched_it_even_if_it_runs_in_the_next() -> None:
    read = trace(
        step(1, at=0, us=100),
        step(2, at=100, us=100),
        launch(at=99.999, correlation=1),
        kernel(at=150, us=1, correlation=1),
        launch(at=100, correlation=2),
        memcpy(at=160, us=1, correlation=2),
    )
    assert steps_of(read) == [0, 1]


def test_work_launched_between_or_before_steps_is_outside() -> None:
    read = trace(
        launch(at=5, correlation=1),
        step(1, at=10, us=10),
        launch(at=20, correlation=2),
        step(2, at=30, us=10),
        kernel(at=12, us=1, correlation=1),
        kernel(at=32, us=1, correlation=2),
        kernel(at=35, us=1, correlation=77),
    )
    assert steps_of(read) == [OUTSIDE] * 3


def test_steps_are_cpu_annotations_and_not_their_gpu_mirror() -> None:
    mirror = event("gpu_user_annotation", "ProfilerStep#1", at=5, us=10, pid=0, tid=7)
    lookalike = event("user_annotation", "ProfilerStep#1 of mine", at=2, us=1)
    steps = find_steps(trace(step(12, at=20, us=10), step(1, at=0, us=10), mirror, lookalike))
    assert steps.number.tolist() == [1, 12]
    assert steps.start_ns.tolist() == [0, 20_000]


def test_a_step_of_a_number_that_no_counter_reaches_is_a_label() -> None:
    assert find_steps(trace(step(10**30, at=0, us=10), step(10**17, at=20, us=10))).number.tolist() == [10**17]


def test_a_launch_on_another_thread_of_the_process_is_in_the_step() -> None:
    read = trace(step(1, at=0, us=10), launch(at=1, tid=5, correlation=1), kernel(at=2, us=1, correlation=1))
    assert steps_of(read) == [0]


def test_another_processs_step_holds_no_launch_of_mine() -> None:
    read = trace(step(1, at=0, us=10, pid=7), launch(at=1, correlation=1), kernel(at=2, us=1, correlation=1))
    assert steps_of(read) == [OUTSIDE]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=12))
def test_busy_time_is_the_number_of_instants_that_some_interval_covers(intervals: list[tuple[int, int]]) -> None:
    start = np.array([start for start, _ in intervals], dtype=np.int64)
    end = np.array([start + length for start, length in intervals], dtype=np.int64)
    covered = {instant for start, length in intervals for instant in range(start, start + length)}
    assert union_ns(start, end) == len(covered)
