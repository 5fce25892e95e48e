"""What is said of a variant: every quantity as its definition has it, work given to the step that launched it."""

from __future__ import annotations

import builders
import msgspec
import pytest
from builders import annotation, event, kernel, launch, memcpy, memset, op, step
from measured import ceilings, environment, known, of, outcome

from foretrace.analysis import facts as facts_of
from foretrace.facts import QUANTITIES, Activities
from foretrace.scenario import Work


def test_work_belongs_to_the_step_that_launched_it_even_when_it_runs_during_another():
    facts = known(
        op("before", at=490, us=5),
        step(1, at=500, us=100),
        launch(at=510, correlation=1),
        step(2, at=600, us=100),
        launch(at=610, correlation=2),
        kernel("late", at=620, us=30, correlation=1),
        kernel("prompt", at=650, us=40, correlation=2),
    )
    assert [each.kernel_us for each in facts.steps] == [30, 40]
    assert [row.per_step for row in facts.kernels] == [(0, 1), (1, 0)]
    assert facts.outside == Activities()
    assert [(each.name, each.start_us, each.width_us) for each in facts.steps] == [
        ("ProfilerStep#1", 0, 100),
        ("ProfilerStep#2", 100, 100),
    ]


def test_work_from_outside_the_steps_is_counted_apart_and_divided_into_nothing():
    facts = known(
        launch(at=0, correlation=9),
        step(1, at=10, us=90),
        launch(at=20, correlation=1),
        kernel("warm-up", at=5, us=50, correlation=9),
        memcpy(at=2, us=2),
        kernel("ours", at=60, us=5, correlation=1),
    )
    assert facts.outside == Activities(kernel=1, memcpy=1)
    assert facts.quantities["kernel_us"].median == facts.quantities["self_gpu_us"].median == 5
    assert [row.name for row in facts.kernels] == ["ours"]
    assert facts.kernels[0].share == 1


def test_a_copy_or_a_memset_is_no_kernel():
    facts = known(
        step(1, at=0, us=100),
        launch("cudaMemcpyAsync", at=1, us=1, correlation=1),
        launch("cudaMemsetAsync", at=3, us=1, correlation=2),
        launch(at=5, us=1, correlation=3),
        memcpy(at=10, us=8, correlation=1, bytes=4096),
        memset(at=20, us=1, correlation=2),
        kernel(at=30, us=16, correlation=3),
    )
    assert facts.steps[0].activities == Activities(kernel=1, memcpy=1, memset=1)
    assert facts.quantities["kernel_us"].median == 16
    assert facts.quantities["gpu_busy_us"].median == 25
    assert facts.quantities["launches"].median == 3
    assert next(row for row in facts.kernels if row.activity == "memcpy").moved_bytes == 4096


def test_two_streams_at_once_are_busy_once():
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, us=1, correlation=1),
        launch(at=3, us=1, correlation=2),
        kernel("a", at=10, us=10, correlation=1, stream=7),
        kernel("b", at=15, us=10, correlation=2, stream=8),
    )
    assert facts.steps[0].busy_us == 15
    assert facts.steps[0].kernel_us == 20


def test_busy_share_is_held_against_the_step_without_the_profiler():
    facts = known(
        step(1, at=0, us=1000),
        launch(at=1, correlation=1),
        kernel(at=10, us=30, correlation=1),
        samples={"step_us": [40.0, 40.0, 40.0]},
    )
    assert facts.quantities["busy_share"].median == pytest.approx(0.75)


def test_the_gap_is_from_the_label_to_the_first_operator_inside_it():
    facts = known(
        step(1, at=0, us=100),
        op("before the label", at=1, us=2),
        annotation("forward", at=10, us=80),
        op("TorchDynamo Cache Lookup", at=14.5, us=10),
        op("aten::mm", at=30, us=10),
    )
    assert facts.steps[0].entry_gap_us == 4.5


def test_a_step_without_label_or_without_operator_has_no_gap():
    facts = known(
        step(1, at=0, us=100),
        annotation("another label", at=10, us=80),
        op("aten::mm", at=30, us=10),
        step(2, at=100, us=100),
        annotation("forward", at=110, us=80),
    )
    assert [each.entry_gap_us for each in facts.steps] == [None, None]
    assert "entry_gap_us" not in facts.quantities


def test_the_first_step_is_held_against_the_median_of_the_others():
    events = []
    for number, (at, us, gap) in enumerate([(0, 300, 50), (300, 100, 4), (400, 110, 5), (510, 120, 6)]):
        events += [step(number, at=at, us=us), annotation("forward", at=at + 1, us=us - 2)]
        events.append(op("aten::mm", at=at + 1 + gap, us=1))
    facts = known(*events)
    assert facts.quantities["first_step_ratio"].median == pytest.approx(300 / 110)
    assert facts.quantities["first_step_gap_ratio"].median == pytest.approx(10)
    assert facts.quantities["step_width_ratio"].median == 3


def traced(*, width: float, kernels: int = 1, name: str = "k"):
    """A trace of one step with this many kernels."""
    events = [step(1, at=0, us=width)]
    for number in range(1, kernels + 1):
        events.append(launch(at=number, us=0.5, correlation=number))
        events.append(kernel(name, at=10 * number, us=5, correlation=number))
    return builders.trace(*events)


def of_rounds(*traces, samples=None):
    found = outcome(steps=1, samples=samples)
    rounds = found.rounds * len(traces)
    return facts_of(
        traces,
        outcome=msgspec.structs.replace(found, rounds=rounds),
        label="forward",
        environment=environment(),
        ceilings=ceilings(),
    )


def test_what_a_trace_says_is_known_from_every_round_and_its_spread_with_it():
    facts = of_rounds(*(traced(width=width) for width in (100, 120, 110)))
    found = facts.quantities["profiled_step_us"]
    assert (found.median, found.low, found.high) == (110, 100, 120)
    assert facts.samples["self_gpu_us"] == ((5.0,), (5.0,), (5.0,))
    assert facts.withheld == {}


def test_a_share_is_taken_within_each_round():
    facts = of_rounds(traced(width=100), traced(width=100), samples={"step_us": [50.0, 50.0]})
    assert facts.quantities["busy_share"].median == pytest.approx(0.1)


def test_rounds_that_launch_different_work_withhold_the_counts():
    facts = of_rounds(traced(width=100), traced(width=100, kernels=2))
    assert facts.withheld["activities"] == "round 2 launched 2 kernels, the first 1 kernel"


def test_rounds_that_launch_kernels_of_other_names_withhold_them():
    facts = of_rounds(traced(width=100), traced(width=100), traced(width=100, name="chosen by a tuner"))
    assert facts.withheld["activities"] == "round 3 launched chosen by a tuner, the first k"


def test_a_quantity_that_one_round_lacks_keeps_the_others_with_their_rounds():
    work = (step(1, at=0, us=100), launch(at=50, us=1, correlation=1), kernel(at=60, us=5, correlation=1))
    labelled = (*work, annotation("forward", at=10, us=80), op("aten::mm", at=14, us=1))
    facts = of_rounds(builders.trace(*work), builders.trace(*labelled))
    assert facts.samples["kernel_us"] == ((5.0,), (5.0,))
    assert facts.samples["entry_gap_us"] == ((), (4.0,))


def test_a_later_round_whose_trace_is_incomplete_is_named():
    broken = builders.trace(step(1, at=0, us=100), launch(at=1, correlation=1))
    facts = of_rounds(traced(width=100), broken)
    assert "Launches against GPU work, round 2" in {check.name for check in facts.checks if not check.passed}
    assert "gpu_busy_us" in facts.withheld


def test_cpu_time_counts_each_instant_once_with_labels_and_closing_synchronisation():
    facts = known(
        op("before the window", at=0, us=5),
        step(1, at=10, us=100),
        annotation("forward", at=20, us=80),
        op("aten::mm", at=30, us=50),
        launch(at=40, us=5, correlation=1),
        kernel(at=50, us=60, correlation=1),
        launch("cudaDeviceSynchronize", at=130, us=20),
        op("of another thread", at=50, us=7, tid=101),
    )
    assert facts.quantities["self_cpu_us"].median == 100 + 20 + 7
    assert facts.quantities["self_gpu_us"].median == 60
    assert facts.quantities["cpu_over_gpu"].median == pytest.approx(127 / 60)


def test_the_synchronisation_is_idle_where_no_work_runs_not_even_that_of_others():
    facts = known(
        step(1, at=0, us=50),
        launch(at=10, us=5, correlation=1),
        kernel("ours", at=20, us=50, correlation=1),
        kernel("of nobody", at=70, us=20, stream=9),
        launch("cudaDeviceSynchronize", at=60, us=100),
    )
    assert facts.quantities["sync_us"].median == 100
    assert facts.quantities["sync_idle_share"].median == pytest.approx(0.7)
    assert facts.quantities["sync_over_gpu"].median == pytest.approx(2)


def test_a_synchronisation_inside_a_step_does_not_close_the_window():
    facts = known(step(1, at=0, us=50), launch("cudaDeviceSynchronize", at=40, us=30))
    assert "sync_us" not in facts.quantities


def test_of_two_synchronisations_after_the_steps_the_last_closes_the_window():
    closing = (launch("cudaDeviceSynchronize", at=at, us=us) for at, us in ((60, 5), (70, 9)))
    assert known(step(1, at=0, us=50), *closing).quantities["sync_us"].median == 9


def test_calls_and_operators_are_counted_per_step():
    facts = known(
        step(1, at=0, us=100),
        op("aten::linear", at=1, us=50),
        op("aten::mm", at=2, us=40),
        launch("cudaStreamIsCapturing", at=3, us=1),
        launch("cuLaunchKernelEx", at=5, us=5, correlation=1, cat="cuda_driver"),
        kernel(at=20, us=5, correlation=1),
    )
    assert facts.quantities["ops"].median == 2
    assert facts.quantities["runtime_calls"].median == 2
    assert facts.quantities["launches"].median == 1


def test_a_graph_launch_has_one_delay_to_its_first_kernel():
    facts = known(
        step(1, at=0, us=100),
        launch("cudaGraphLaunch", at=10, us=5, correlation=1),
        kernel("first", at=30, us=7, correlation=1),
        kernel("second", at=40, us=5, correlation=1),
    )
    assert facts.samples["launch_delay_us"] == ((20,),)
    assert facts.quantities["launches"].median == 1
    assert facts.steps[0].activities.kernel == 2


def test_the_longest_kernel_is_the_one_with_most_time_in_all():
    facts = known(
        step(1, at=0, us=100),
        *(launch(at=1 + 2 * number, us=1, correlation=number) for number in range(1, 5)),
        kernel("often", at=20, us=10, correlation=1),
        kernel("often", at=30, us=10, correlation=2),
        kernel("often", at=40, us=40, correlation=3),
        kernel("once", at=90, us=50, correlation=4),
    )
    assert facts.quantities["top_kernel_us"].median == 10
    assert facts.quantities["top_kernel_mean_ratio"].median == 2


def test_a_buffer_request_is_found_though_it_runs_on_no_thread_of_the_program():
    facts = known(
        step(1, at=0, us=5000),
        event("overhead", "Activity Buffer Request", at=10, us=3000, pid=-1, tid=0),
        event("overhead", "Buffer Flush", at=3100, us=10, pid=-1, tid=0),
        launch("cudaDeviceSynchronize", at=5001, us=1),
    )
    assert facts.quantities["buffer_requests"].median == 1
    assert facts.quantities["buffer_request_us"].median == 3000
    assert next(call for call in facts.calls if call.name == "Activity Buffer Request").per_step == (1,)


def test_graphs_are_told_apart_by_their_hash():
    events = [
        op(f"## Call CompiledFxGraph {name} ##", at=1 + 20 * number, us=10)
        for number, name in enumerate(("fabc", "fabc", "fxyz"))
    ]
    assert known(step(1, at=0, us=100), *events).quantities["graph_hashes"].median == 2
    assert known(step(1, at=0, us=100)).quantities["graph_hashes"].median == 0


def test_declared_work_over_busy_time_is_the_achieved_rate():
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, correlation=1),
        kernel(at=10, us=20, correlation=1),
        work=Work(flops=4e9, bytes=2e7),
        peak_memory_bytes=4096,
    )
    assert facts.quantities["tflops"].median == pytest.approx(200)
    assert facts.quantities["gbps"].median == pytest.approx(1000)
    assert facts.quantities["peak_memory_bytes"].median == 4096


def test_the_profilers_cost_is_profiled_over_dispatch_time():
    facts = known(step(1, at=0, us=90), samples={"dispatch_us": [30.0, 30.0], "step_us": [31.0, 31.0]})
    assert facts.quantities["profiler_factor"].median == 3


def test_without_a_trace_there_are_the_samples_and_the_rest_is_withheld():
    facts = of(None, samples={"step_us": [1.0, 2.0, 3.0]})
    assert facts.quantities["step_us"].median == 2
    assert facts.samples["step_us"] == ((1.0, 2.0, 3.0),)
    assert facts.withheld["gpu_busy_us"] == facts.withheld["bound"] == facts.bound.evidence == "no trace was recorded"
    assert facts.bound.limiter == "undecided"


def test_what_the_device_cannot_tell_is_withheld_with_its_reason():
    facts = known(step(1, at=0, us=1), samples={"step_us": [1.0]}, unavailable={"event_us": "there are no CUDA events"})
    assert facts.withheld["event_us"] == "there are no CUDA events"


def test_on_a_cpu_nothing_is_said_about_a_gpu():
    facts = known(step(1, at=0, us=100), op("aten::mm", at=1, us=50), device="cpu", samples={"step_us": [50.0]})
    assert {"activities", "bound", "gpu_busy_us", "launches", "runtime_calls"} <= facts.withheld.keys()
    assert facts.quantities["ops"].median == 1
    assert not facts.quantities.keys() & facts.withheld.keys()
    assert facts.bound.limiter == "undecided"


def test_no_recorded_step_withholds_all_that_a_trace_could_say():
    facts = known(op("aten::mm", at=0, us=10), launch(at=1, correlation=1), kernel(at=5, us=3, correlation=1), steps=3)
    assert facts.withheld["activities"] == "none of the 3 recorded steps is in the trace"
    assert set(facts.quantities) == set()
    assert facts.outside == Activities(kernel=1)


def test_a_quantity_is_given_or_withheld_never_both_and_always_defined():
    facts = known(step(1, at=0, us=100), launch(at=1, correlation=1), samples={"step_us": [5.0]})
    assert not facts.quantities.keys() & facts.withheld.keys()
    assert facts.quantities.keys() <= QUANTITIES.keys()
    assert facts.withheld.keys() <= QUANTITIES.keys() | {"activities", "bound"}
    assert facts.samples.keys() <= facts.quantities.keys()


def test_notes_hold_what_the_reader_noticed():
    facts = known(step(1, at=0, us=100), op("unfinished", at=1, us=-1))
    assert any("unfinished" in note for note in facts.notes)


def test_a_sample_that_is_no_number_is_not_among_the_samples():
    facts = of(None, samples={"step_us": [1.0, float("nan"), 3.0], "latency_us": [float("inf")]})
    assert facts.samples == {"step_us": ((1.0, 3.0),)}
    assert "latency_us" not in facts.quantities


def test_a_familys_time_is_that_of_its_kernels_in_each_step():
    facts = known(
        step(1, at=0, us=100),
        *(launch(at=5 * place, us=1, correlation=place) for place in range(1, 4)),
        kernel("triton_poi_fused_add_0", at=30, us=8, correlation=1),
        kernel("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", at=40, us=20, correlation=2),
        kernel("triton_poi_fused_mul_1", at=70, us=4, correlation=3),
    )
    assert facts.quantities["pointwise_us"].median == 12
    assert facts.quantities["gemm_us"].median == 20
    assert facts.kernels[0].fields["layout"].startswith("tn")


def test_a_family_that_is_not_there_has_no_time():
    facts = known(step(1, at=0, us=100), launch(at=1, correlation=1), kernel("k", at=30, us=8, correlation=1))
    assert "gemm_us" not in facts.quantities


def test_operators_are_counted_over_kernels():
    facts = known(
        step(1, at=0, us=100),
        op("aten::linear", at=1, us=50),
        op("aten::t", at=2, us=5),
        op("aten::addmm", at=10, us=30),
        launch(at=15, correlation=1),
        kernel("k", at=60, us=8, correlation=1),
    )
    assert facts.quantities["ops_per_kernel"].median == 3
    assert "ops_per_kernel" not in known(step(1, at=0, us=100), op("aten::t", at=1, us=5)).quantities


def test_the_opaque_share_is_the_time_an_operator_hides_over_the_steps_width():
    facts = known(
        step(1, at=0, us=100),
        op("aten::sdpa", at=10, us=80),
        op("aten::cudnn", at=20, us=60),
        launch(at=70, us=5, correlation=1),
        kernel("k", at=90, us=8, correlation=1),
    )
    assert facts.quantities["opaque_share"].median == pytest.approx(0.55)


def test_what_the_profiler_took_inside_an_operator_is_not_the_operators():
    facts = known(
        step(1, at=0, us=100),
        op("aten::mm", at=10, us=80),
        launch(at=60, us=10, correlation=1),
        event("overhead", "Activity Buffer Request", at=20, us=30, pid=-1, tid=0),
        event("overhead", "Command Buffer Full", at=62, us=5, pid=-1, tid=0),
        kernel("k", at=90, us=8, correlation=1),
    )
    own = {call.name: call.self_us for call in facts.calls}
    assert own["aten::mm"] == 40
    assert own["cudaLaunchKernel"] == 5
    assert facts.quantities["opaque_share"].median == pytest.approx(0.4)
    assert facts.opaque == "aten::mm"


def test_the_opaque_operator_is_of_the_steps_thread_and_one_for_all_rounds():
    first = [
        step(1, at=0, us=100),
        op("aten::sdpa", at=10, us=60),
        op("aten::backward", at=10, us=90, tid=7),
        launch(at=20, correlation=1),
        kernel("k", at=90, us=8, correlation=1),
    ]
    second = [*first[:1], op("aten::sdpa", at=10, us=20), op("aten::copy_", at=40, us=50), *first[3:]]
    facts = of_rounds(builders.trace(*first), builders.trace(*second))
    assert facts.opaque == "aten::sdpa"
    assert facts.samples["opaque_share"] == (pytest.approx((0.55,)), pytest.approx((0.15,)))


def test_shares_are_those_of_every_round():
    gemm = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"

    def round_of(us: float):
        return [
            step(1, at=0, us=100),
            launch(at=1, us=1, correlation=1),
            launch(at=3, us=1, correlation=2),
            kernel(gemm, at=10, us=us / 2, correlation=1),
            kernel(gemm, at=10 + us / 2, us=us / 2, correlation=1),
            memcpy(at=90, us=10, correlation=2, bytes=8),
        ]

    facts = of_rounds(builders.trace(*round_of(30)), builders.trace(*round_of(10)))
    assert (facts.shares["gemm"].low, facts.shares["gemm"].high) == (0.5, 0.75)
    assert facts.shares["memcpy"].median == pytest.approx(0.375)
