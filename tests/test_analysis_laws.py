"""Laws that hold for every trace, whatever was launched when and wherever it ran."""

from __future__ import annotations

import json
import random

import builders
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured import of

from foretrace import analysis, kineto
from foretrace.analysis.intervals import union_ns
from foretrace.facts import Facts

NS = 1e-3
MAKERS = (builders.kernel, builders.memcpy, builders.memset)


@st.composite
def runs(draw: st.DrawFn) -> list[builders.Json]:
    """Steps one after the other, some nested operators and launches in and between them, GPU work anywhere after."""
    events, at = [], 0
    for number in range(draw(st.integers(0, 4))):
        at += draw(st.integers(0, 30))
        events.append(builders.step(number, at=at, us=(width := draw(st.integers(20, 200)))))
        events.append(builders.annotation("forward", at=at + 1, us=width - 2))
        at += width
    for number in range(draw(st.integers(0, 12))):
        called = draw(st.integers(0, at + 20))
        events.append(builders.op(draw(st.sampled_from("ab")), at=called, us=draw(st.integers(1, 40))))
        events.append(builders.launch(at=called, us=1, correlation=number))
        for _ in range(draw(st.integers(1, 3))):
            maker, stream = draw(st.sampled_from(MAKERS)), draw(st.sampled_from((7, 20)))
            delay, us = draw(st.integers(0, 300)), draw(st.integers(1, 4000)) * NS
            name = draw(st.sampled_from(("gemm", "add", "<b>|`x`\n")))
            events.append(maker(name, at=called + delay, us=us, stream=stream, correlation=number))
    return events


def known(events: list[builders.Json]) -> Facts:
    return of(builders.trace(*events), samples={"step_us": [10.0, 11.0]})


@given(runs())
def test_every_piece_of_gpu_work_is_in_one_step_or_outside(events):
    facts = known(events)
    for kind in ("kernel", "memcpy", "memset"):
        total = sum(each["cat"] in (kind, f"gpu_{kind}") for each in builders.document(*events)["traceEvents"])
        inside = sum(getattr(each.activities, kind) for each in facts.steps)
        assert inside + getattr(facts.outside, kind) == total
        assert sum(sum(row.per_step) for row in facts.kernels if row.activity == kind) == inside


@given(runs())
def test_busy_time_is_at_most_the_sum_and_at_least_the_longest(events):
    facts = known(events)
    longest = max((row.duration.maximum for row in facts.kernels), default=0)
    for each in facts.steps:
        work = sum(row.total_us for row in facts.kernels)
        assert each.busy_us <= work + NS
        assert each.kernel_us <= work + NS
    if len(facts.steps) == 1:
        assert facts.steps[0].busy_us >= longest - NS


@given(runs())
def test_shares_add_up_to_the_whole_and_rows_to_the_steps(events):
    facts = known(events)
    if facts.kernels:
        assert sum(row.share for row in facts.kernels) == pytest.approx(1)
        kernels = sum(row.total_us for row in facts.kernels if row.activity == "kernel")
        assert kernels == pytest.approx(sum(each.kernel_us for each in facts.steps))


@given(runs(), st.randoms(use_true_random=False))
def test_facts_and_timeline_do_not_depend_on_the_order_of_events_in_the_file(events, shuffler: random.Random):
    shuffled = list(events)
    shuffler.shuffle(shuffled)
    assert known(events) == known(shuffled)
    assert _timeline(events) == _timeline(shuffled)


@given(runs(), st.integers(-(10**6), 10**12))
def test_facts_do_not_depend_on_when_the_trace_was_made(events, later: int):
    moved = [{**each, "ts": each["ts"] + later} for each in events]
    assert known(events) == known(moved)


@st.composite
def nests(draw: st.DrawFn) -> list[builders.Json]:
    """Operators inside one another as a thread runs them, with a label around them all."""
    events = [builders.annotation("forward", at=0, us=512)]
    free = [(0, 512)]
    for number in range(draw(st.integers(0, 20))):
        start, end = free.pop(draw(st.integers(0, len(free) - 1)))
        first = draw(st.integers(start, end - 1))
        last = draw(st.integers(first + 1, end))
        events.append(builders.op(draw(st.sampled_from("abc")), at=first, us=last - first, external=number + 1))
        free += [(low, high) for low, high in ((start, first), (first, last), (last, end)) if high > low]
    return events


@given(nests())
def test_self_times_add_up_to_the_label_around_them(events):
    facts = of(builders.trace(builders.step(1, at=0, us=600), *events), steps=1, device="cpu")
    assert sum(call.self_us for call in facts.calls) == pytest.approx(512)
    assert all(call.self_us <= call.total_us for call in facts.calls)
    assert sum(sum(call.per_step) for call in facts.calls) == len(events)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 300)), max_size=30), st.integers(0, 1300))
def test_busy_and_idle_make_up_the_span(intervals, end):
    starts = [start for start, _ in intervals]
    ends = [start + width for start, width in intervals]
    trace = builders.trace(
        builders.step(1, at=0, us=10),
        *(
            builders.kernel(at=start, us=width, stream=number)
            for number, (start, width) in enumerate(zip(starts, [w for _, w in intervals], strict=True))
        ),
        builders.launch("cudaDeviceSynchronize", at=10, us=end + 1),
    )
    share = of(trace, steps=1).quantities.get("sync_idle_share")
    covered = {moment for start, stop in zip(starts, ends, strict=True) for moment in range(start, stop)}
    busy = len(covered & set(range(10, 11 + end)))
    if share is not None:
        assert share.median * (end + 1) + busy == pytest.approx(end + 1)
    assert union_ns(trace.start_ns[trace.gpu.row], trace.end_ns[trace.gpu.row]) == 1000 * len(covered)


def _timeline(events: list[builders.Json]):
    return analysis.timeline(kineto.parse(json.dumps(builders.document(*events)).encode(), where="t"), label="forward")
