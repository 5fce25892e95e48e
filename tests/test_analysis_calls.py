"""What the CPU called: counts, times without double counting, what was launched inside, and the dispatch chain."""

from __future__ import annotations

from builders import annotation, event, kernel, launch, memcpy, op, step
from measured import known

from foretrace.facts import Call, Facts


def call(facts: Facts, name: str) -> Call:
    (found,) = [each for each in facts.calls if each.name == name]
    return found


def test_self_time_is_without_children_and_total_with_them():
    facts = known(
        step(1, at=0, us=100),
        op("aten::linear", at=10, us=50),
        op("aten::mm", at=20, us=30),
        launch(at=25, us=5, correlation=1),
        kernel(at=60, us=7, correlation=1),
    )
    assert (call(facts, "aten::linear").total_us, call(facts, "aten::linear").self_us) == (50, 20)
    assert (call(facts, "aten::mm").total_us, call(facts, "aten::mm").self_us) == (30, 25)
    assert call(facts, "cudaLaunchKernel").kind == "runtime"


def test_what_a_call_launched_includes_what_its_children_launched():
    facts = known(
        step(1, at=0, us=100),
        op("aten::linear", at=10, us=50),
        op("aten::mm", at=20, us=30),
        launch(at=25, us=5, correlation=1),
        launch("cudaMemcpyAsync", at=31, us=5, correlation=2),
        launch("cudaMemcpyAsync", at=37, us=5, correlation=3),
        op("aten::view", at=70, us=3),
        kernel(at=60, us=5, correlation=1),
        memcpy(at=80, us=4, correlation=2),
        memcpy(at=90, us=2, correlation=3),
    )
    assert [
        (call(facts, name).kernels, call(facts, name).gpu_us) for name in ("aten::linear", "aten::mm", "aten::view")
    ] == [
        (1, 11),
        (1, 11),
        (0, 0),
    ]


def test_a_call_inside_its_like_is_counted_but_its_time_only_once():
    facts = known(step(1, at=0, us=100), op("aten::to", at=10, us=50), op("aten::to", at=20, us=30))
    assert call(facts, "aten::to").per_step == (2,)
    assert call(facts, "aten::to").total_us == 50
    assert call(facts, "aten::to").self_us == 50


def test_calls_outside_the_steps_are_counted_apart_and_take_no_time():
    facts = known(op("aten::mm", at=0, us=5), step(1, at=10, us=50), op("aten::mm", at=20, us=7))
    assert (call(facts, "aten::mm").per_step, call(facts, "aten::mm").outside) == ((1,), 1)
    assert call(facts, "aten::mm").total_us == 7


def test_steps_are_no_calls_and_python_frames_neither():
    facts = known(
        step(1, at=0, us=50), event("python_function", "forward.py(7)", at=1, us=30), annotation("forward", at=2, us=9)
    )
    assert [(each.kind, each.name) for each in facts.calls] == [("annotation", "forward")]


def test_a_child_that_ends_a_little_after_its_parent_is_still_its_child():
    facts = known(step(1, at=0, us=50), op("outer", at=10, us=10), op("inner", at=15, us=5.4))
    assert call(facts, "outer").self_us == 5
    assert [link.depth for link in facts.chain] == [0, 1]


def test_what_starts_where_another_ends_is_not_inside_it():
    facts = known(step(1, at=0, us=50), op("first", at=10, us=10), op("second", at=20, us=0.5))
    assert [link.depth for link in facts.chain] == [0, 0]
    assert call(facts, "first").self_us == 10


def test_events_of_two_threads_do_not_nest():
    facts = known(step(1, at=0, us=50), op("forward", at=10, us=30), op("backward", at=15, us=5, tid=101))
    assert call(facts, "forward").self_us == 30
    assert [link.name for link in facts.chain] == ["forward"]


def test_the_chain_is_that_of_the_step_of_median_width_in_order():
    events = []
    for number, (at, us) in enumerate([(0, 300), (300, 100), (400, 150)]):
        events += [
            step(number, at=at, us=us),
            annotation("forward", at=at + 1, us=us - 2),
            op(f"op of {us}", at=at + 2, us=50),
            launch(at=at + 3, us=5, correlation=number),
            kernel("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", at=at + 20, us=5, correlation=number),
        ]
    chain = known(*events).chain
    assert [(link.depth, link.kind, link.name) for link in chain] == [
        (0, "annotation", "forward"),
        (1, "op", "op of 150"),
        (2, "runtime", "cudaLaunchKernel"),
    ]
    assert (chain[1].start_us, chain[1].dur_us) == (2, 50)
    assert len(chain[2].launched) == 1
    assert "64x8" in chain[2].launched[0]


def test_what_a_graph_launched_is_listed_as_it_started():
    facts = known(
        step(1, at=0, us=100),
        launch("cudaGraphLaunch", at=10, us=5, correlation=1),
        memcpy(at=20, us=50, correlation=1),
        kernel("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", at=30, us=5, correlation=1, stream=8),
    )
    (link,) = facts.chain
    assert [label.split()[0] for label in link.launched] == ["memcpy", "nvjet"]


def test_a_label_holds_what_another_thread_launched_while_it_lasted():
    facts = known(
        step(1, at=0, us=100),
        annotation("train", at=5, us=80),
        op("aten::mm", at=10, us=20),
        launch(at=15, us=5, correlation=1),
        op("MmBackward0", at=40, us=20, tid=7),
        launch(at=45, us=5, correlation=2, tid=7),
        launch(at=90, us=5, correlation=3, tid=7),
        kernel(at=50, us=4, correlation=1),
        kernel(at=60, us=5, correlation=2),
        kernel(at=96, us=6, correlation=3),
    )
    label = call(facts, "train")
    assert (label.kernels, label.kernels_per_step, label.gpu_us) == (2, (2,), 9)
    assert call(facts, "MmBackward0").kernels_per_step == (1,)
    assert call(facts, "aten::mm").kernels == 1
