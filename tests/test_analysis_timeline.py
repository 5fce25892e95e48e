"""What the timeline shows of a trace, and that it says what it does not show."""

from __future__ import annotations

import re

import pytest
from builders import annotation, event, kernel, launch, memcpy, op, step, trace

from foretrace import analysis
from foretrace.facts import Arrow, Lane, Timeline


def drawn(*events, steps: int = 3) -> Timeline:
    return analysis.timeline(trace(*events), label="forward", steps=steps)


def lane(shown: Timeline, title: str) -> Lane:
    (found,) = [each for each in shown.lanes if each.title == title]
    return found


def spans(lane: Lane) -> list[tuple[str, float, float]]:
    return [(span.name, span.start_us, span.dur_us) for span in lane.spans]


STEP = (
    step(7, at=1000, us=100),
    annotation("forward", at=1010, us=80),
    op("aten::mm", at=1020, us=30),
    launch(at=1030, us=5, correlation=1),
    kernel("gemm", at=1060, us=70, correlation=1),
)


def test_time_starts_with_the_first_step_and_ends_with_the_last_of_its_work():
    shown = drawn(op("before", at=0, us=5), *STEP)
    assert [each.role for each in shown.lanes] == ["steps", "cpu", "launch", "gpu"]
    assert spans(lane(shown, "Steps")) == [("ProfilerStep#7", 0, 100)]
    assert spans(lane(shown, "CPU")) == [("forward", 10, 80), ("aten::mm", 20, 30)]
    assert [span.depth for span in lane(shown, "CPU").spans] == [0, 1]
    assert spans(lane(shown, "CUDA calls")) == [("cudaLaunchKernel", 30, 5)]
    assert spans(lane(shown, "GPU stream 7")) == [("gemm", 60, 70)]
    assert shown.arrows == (Arrow(from_us=30, to_us=60, to_lane=3),)
    assert shown.borders_us == (0, 100)
    assert shown.end_us == 130
    assert shown.caption == ""


def test_the_closing_synchronisation_is_shown_after_the_last_step_only():
    closing = launch("cudaDeviceSynchronize", at=1120, us=30)
    more = step(8, at=1100, us=10)
    assert spans(lane(drawn(*STEP, closing), "CUDA calls"))[-1] == ("cudaDeviceSynchronize", 120, 30)
    assert drawn(*STEP, closing).end_us == 150
    assert len(lane(drawn(*STEP, more, closing, steps=1), "CUDA calls").spans) == 1


def test_steps_that_are_left_out_are_said_to_be_and_so_is_work_of_others():
    shown = drawn(kernel("of before", at=990, us=15), *STEP, step(8, at=1100, us=50), steps=1)
    assert "The first 1 of 2 recorded steps." in shown.caption
    assert "Not drawn: 1 kernel of this time" in shown.caption
    assert len(lane(shown, "GPU stream 7").spans) == 1


def test_every_stream_and_every_gpu_has_its_lane_and_arrows_point_into_it():
    shown = drawn(
        *STEP,
        launch("cudaMemcpyAsync", at=1040, us=2, correlation=2),
        launch(at=1045, us=2, correlation=3),
        memcpy(at=1070, us=5, correlation=2, stream=20),
        kernel("far", at=1080, us=5, correlation=3, device=1),
    )
    assert [each.title for each in shown.lanes[3:]] == ["GPU 0 stream 7", "GPU 0 stream 20", "GPU 1 stream 7"]
    assert [(arrow.to_us, arrow.to_lane) for arrow in shown.arrows] == [(60, 3), (70, 4), (80, 5)]
    assert [(span.kind, span.family) for span in shown.lanes[4].spans] == [("memcpy", "memcpy")]


def test_gpu_work_has_the_family_and_the_short_name_of_the_decoder():
    name = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT"
    shown = drawn(step(1, at=0, us=9), launch(at=1, us=1, correlation=1), kernel(name, at=5, us=3, correlation=1))
    (span,) = lane(shown, "GPU stream 7").spans
    assert (span.name, span.kind, span.family) == (name, "kernel", "gemm")
    assert len(span.label) < len(name)


def test_other_threads_are_left_out_and_counted_and_python_frames_are_left_out():
    shown = drawn(*STEP, op("backward", at=1020, us=5, tid=101), event("python_function", "f.py(1)", at=1011, us=9))
    assert [span.name for span in lane(shown, "CPU").spans] == ["forward", "aten::mm"]
    assert "Operators of other threads are left out: 1." in shown.caption


def test_an_interruption_by_the_profiler_lies_inside_the_operator_that_it_interrupts():
    shown = drawn(*STEP, event("overhead", "Activity Buffer Request", at=1025, us=20, pid=-1))
    (request,) = [span for span in lane(shown, "CPU").spans if span.kind == "overhead"]
    assert (request.start_us, request.depth) == (25, 2)


def test_a_crowded_lane_is_thinned_without_moving_what_is_wide_and_says_so():
    many = 5000
    crowd = [launch(at=10 + number, us=0.5, correlation=number) for number in range(many)]
    work = [kernel("small", at=20 + number, us=0.4, correlation=number) for number in range(many)]
    wide = [kernel("wide", at=20 + many + at, us=us, correlation=many) for at, us in ((0, 20), (20, 3000))]
    shown = drawn(
        step(1, at=0, us=6000), *crowd, launch("cudaGraphLaunch", at=5010, us=1, correlation=many), *work, *wide
    )
    gpu = lane(shown, "GPU stream 7")
    assert max(len(each.spans) for each in shown.lanes) <= 400
    assert spans(gpu)[-2:] == [("wide", 5020, 20), ("wide", 5040, 3000)]
    assert re.fullmatch(r"\d+ × \S+", gpu.spans[0].name)
    assert gpu.spans[0].name.startswith(gpu.spans[0].label)
    assert min(span.start_us for span in gpu.spans) == 20
    assert max(span.start_us + span.dur_us for span in gpu.spans if span.name != "wide") == pytest.approx(
        20 + many - 0.6
    )
    assert sum(span.dur_us for span in gpu.spans) == pytest.approx(many + 3020, rel=0.1)
    assert f"GPU stream 7: {many + 2:,} spans drawn as {len(gpu.spans)}" in shown.caption
    assert shown.arrows == ()
    assert f"{many + 1:,} launches" in shown.caption


def test_a_trace_without_steps_says_so():
    shown = drawn(op("aten::mm", at=0, us=5))
    assert (shown.lanes, shown.caption) == ((), "No step was recorded.")


def test_a_run_without_gpu_has_no_empty_lanes():
    shown = drawn(step(1, at=0, us=50), op("aten::mm", at=5, us=9))
    assert [each.role for each in shown.lanes] == ["steps", "cpu"]
