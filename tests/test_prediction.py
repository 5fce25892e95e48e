"""What makes a verdict: each kind of expectation held, refuted and undecided; nothing passes by not being there."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from facts_builder import call, facts, kernel, piece
from hypothesis import given
from hypothesis import strategies as st

from foretrace.facts import Activities
from foretrace.prediction import (
    KINDS,
    AllOf,
    Appears,
    CallsCounted,
    Claim,
    Counted,
    Decoded,
    Distinct,
    Expectation,
    Geometry,
    Kernels,
    Kind,
    Launches,
    LimitedBy,
    Ordered,
    PartKernels,
    PartWithin,
    PrecededBy,
    RatioWithin,
    Share,
    Unmeasured,
    Within,
    change,
    fits,
    judge,
    seal,
    select,
)
from foretrace.stats import across, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretrace.facts import Call, Facts, Kernel, Params
    from foretrace.prediction import Measured, State, Where

QUERY = "cudaOccupancyMaxActiveBlocksPerMultiprocessor"
TWO = Within(quantity="step_us", low=9.0, high=11.0, because="it is a nanosecond a byte")


def one(found: Facts) -> Measured:
    """A run of one variant."""
    return {"only": found}


def two(eager: Facts, compiled: Facts) -> Measured:
    """A run of two variants that differ in their mode."""
    return {
        "eager": msgspec.structs.replace(eager, params={"size": 64, "mode": "eager"}),
        "compile": msgspec.structs.replace(compiled, params={"size": 64, "mode": "compile"}),
    }


def sizes(*values: float | tuple[float, ...]) -> Measured:
    """A run over the sizes 1, 2, 4 …, with these step times."""
    return {f"s{index}": facts({"size": 2**index}, step_us=value) for index, value in enumerate(values)}


def layout(letters: str) -> Kernel:
    """A GEMM whose name tells its layout."""
    return kernel(f"gemm_{letters}", fields={"layout": letters})


def tiles(*found: str) -> Measured:
    """A run of a variant each, whose GEMM has this tile; "" is not told."""
    return {
        f"v{index}": facts({"size": index}, kernels=[kernel(fields={"tile": tile} if tile else {})])
        for index, tile in enumerate(found)
    }


# Kind -> an expectation, and a run for each state.
EXAMPLES: dict[type[Expectation], tuple[Kind, dict[State, Measured]]] = {
    LimitedBy: (
        LimitedBy(limiter="overhead", because="a launch takes longer than the kernel"),
        {
            "held": one(facts(bound="overhead")),
            "refuted": one(facts(bound="memory")),
            "undecided": one(facts(bound="undecided")),
        },
    ),
    Counted: (
        Counted(activity="kernel", number=2, because="nothing is fused"),
        {
            "held": one(facts(steps=(2, 2, 2))),
            "refuted": one(facts(steps=(2, 3, 2))),
            "undecided": one(facts(steps=())),
        },
    ),
    CallsCounted: (
        CallsCounted(call="cudaLaunch*", number=2),
        {
            "held": one(facts(calls=[call("cudaLaunchKernel"), call("cudaLaunchKernelExC"), call("aten::mm")])),
            "refuted": one(facts(calls=[call("cudaLaunchKernel", per_step=(2, 2, 1))])),
            "undecided": one(facts(steps=())),
        },
    ),
    Launches: (
        Launches(op="aten::t", number=0, because="a transpose is a view"),
        {
            "held": one(facts(calls=[call("aten::t"), call("aten::mm", kernels=3, gpu_us=30.0)])),
            "refuted": one(facts(calls=[call("aten::t", kernels=3, gpu_us=30.0)])),
            "undecided": one(facts(calls=[call("aten::transpose")])),
        },
    ),
    Kernels: (
        Kernels(relation="same", between={"mode": ("eager", "compile")}, family="gemm"),
        {
            "held": two(facts(kernels=[kernel("a")]), facts(kernels=[kernel("a"), kernel("b", family="pointwise")])),
            "refuted": two(facts(kernels=[kernel("a")]), facts(kernels=[kernel("b")])),
            "undecided": two(facts(kernels=[kernel("a")]), facts()),
        },
    ),
    Appears: (
        Appears(what="op", name="aten::add*", how_often="always"),
        {
            "held": one(facts(calls=[call("aten::add_", per_step=(1, 2, 1))])),
            "refuted": one(facts(calls=[call("aten::add", per_step=(1, 0, 1))])),
            "undecided": one(facts(steps=())),
        },
    ),
    Within: (
        TWO,
        {
            "held": one(facts(step_us=(9.5, 10.0, 10.5))),
            "refuted": one(facts(step_us=(11.5, 12.0, 12.5))),
            "undecided": one(facts(step_us=(10.0, 10.5, 11.5))),
        },
    ),
    RatioWithin: (
        RatioWithin(quantity="step_us", of={"mode": "compile"}, over={"mode": "eager"}, low=1.5, high=2.5),
        {
            "held": two(facts(step_us=(9.9, 10.0, 10.1)), facts(step_us=(19.9, 20.0, 20.1))),
            "refuted": two(facts(step_us=(9.9, 10.0, 10.1)), facts(step_us=(9.9, 10.0, 10.1))),
            "undecided": two(facts(step_us=(9.9, 10.0, 10.1)), facts(step_us=(14.0, 15.0, 16.0))),
        },
    ),
    Ordered: (
        Ordered(quantity="step_us", parameter="size", values=(1, 2, 4)),
        {
            "held": sizes((9.0, 10.0), (19.0, 20.0), (39.0, 40.0)),
            "refuted": sizes((9.0, 10.0), (19.0, 20.0), (14.0, 15.0)),
            "undecided": sizes((9.0, 10.0), (19.0, 20.0), (19.5, 22.0)),
        },
    ),
    Geometry: (
        Geometry(family="gemm", field="registers", low=32.0, high=64.0),
        {
            "held": one(facts(kernels=[kernel(registers=64), kernel("add", family="pointwise", registers=255)])),
            "refuted": one(facts(kernels=[kernel(registers=65), kernel(registers=64)])),
            "undecided": one(facts(kernels=[kernel(registers=None)])),
        },
    ),
    Decoded: (
        Decoded(family="gemm", field="layout", value="t*"),
        {
            "held": one(facts(kernels=[layout("tnt"), layout("tnn"), kernel("add", family="pointwise")])),
            "refuted": one(facts(kernels=[layout("tnt"), layout("nnt")])),
            "undecided": one(facts(kernels=[layout("tnt"), kernel("gemv")])),
        },
    ),
    Distinct: (
        Distinct(family="gemm", field="tile", least=2, most=2),
        {
            "held": tiles("64x64", "64x64", "128x256"),
            "refuted": tiles("64x64", "64x64"),
            "undecided": tiles("64x64", "128x256", ""),
        },
    ),
    Share: (
        Share(family="gemm", low=0.6, high=0.8),
        {
            "held": one(facts(kernels=[kernel(share=0.5), kernel("b", share=0.2)])),
            "refuted": one(facts(kernels=[kernel(share=0.5), kernel("add", family="pointwise", share=0.5)])),
            "undecided": one(facts()),
        },
    ),
    PartKernels: (
        PartKernels(relation="same", parts=("gate", "up")),
        {
            "held": one(facts(sequence=[piece("gate"), piece("up"), piece("down", name="other")])),
            "refuted": one(facts(sequence=[piece("gate"), piece("up", name="other")])),
            "undecided": one(facts(sequence=[piece("gate"), piece("")])),
        },
    ),
    PartWithin: (
        PartWithin(part="down", measure="duration", low=9.0, high=11.0),
        {
            "held": one(facts(sequence=[piece("gate", duration=exact(99.0)), piece("down")])),
            "refuted": one(facts(sequence=[piece("down", duration=exact(11.5))])),
            "undecided": one(facts(sequence=[piece("down", duration=across(((10.0, 11.0, 12.0),)))])),
        },
    ),
    PrecededBy: (
        PrecededBy(family="gemm", call="cudaOccupancy*", how_often="always"),
        {
            "held": one(facts(kernels=[kernel(calls_before=("cudaFree", QUERY))])),
            "refuted": one(facts(kernels=[kernel(calls_before=(QUERY,)), kernel("b")])),
            "undecided": one(facts(kernels=[kernel("add", family="pointwise")])),
        },
    ),
    AllOf: (
        AllOf(parts=(TWO, Counted(activity="kernel", number=2))),
        {
            "held": one(facts(step_us=10.0)),
            "refuted": one(facts(step_us=10.0, steps=(1, 1))),
            "undecided": one(facts(steps=(2, 2))),
        },
    ),
}
STATES: tuple[State, ...] = ("held", "refuted", "undecided")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_held_refuted_and_undecided(kind: type[Expectation], state: State) -> None:
    expectation, runs = EXAMPLES[kind]
    verdict = judge(expectation, runs[state])
    assert verdict.state == state
    assert verdict.measured


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_what_it_expects_in_one_line(kind: type[Expectation]) -> None:
    said = EXAMPLES[kind][0].describe()
    assert said
    assert re.search(r"\n|  |None|inf", said) is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_back_from_a_record_as_it_was(kind: type[Expectation]) -> None:
    expectation = EXAMPLES[kind][0]
    written = msgspec.json.encode(expectation)
    assert msgspec.json.decode(written, type=Kind) == expectation
    assert seal(msgspec.json.decode(written, type=Kind)) == seal(expectation)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_undecided_with_the_reason_for_a_variant_that_was_not_measured(kind: type[Expectation]) -> None:
    expectation, runs = EXAMPLES[kind]
    measured: Measured = {
        name: Unmeasured(params=found.params, reason="ran out of memory") for name, found in runs["refuted"].items()
    }
    verdict = judge(expectation, measured)
    assert (verdict.state, verdict.measured) == ("undecided", "not measured: ran out of memory")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_undecided_with_the_reason_where_what_it_needs_is_withheld(kind: type[Expectation]) -> None:
    expectation, runs = EXAMPLES[kind]
    reason = "12 kernels have no launch"
    withheld = dict.fromkeys(("activities", "runtime_calls", "bound", "step_us"), reason)
    calls = [call("cudaLaunchKernel", kind="runtime")]
    measured: Measured = {
        name: msgspec.structs.replace(found, withheld=withheld, calls=calls) for name, found in runs["refuted"].items()
    }
    if kind is Appears:  # what ran on the CPU is seen whatever is wrong with the GPU's side
        expectation = Appears(what="kernel", name="*", how_often="always")
    verdict = judge(expectation, measured)
    assert (verdict.state, verdict.measured) == ("undecided", f"withheld: {reason}")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_undecided_where_no_variant_fits(kind: type[Expectation]) -> None:
    verdict = judge(EXAMPLES[kind][0], {})
    assert (verdict.state, verdict.measured) == ("undecided", "no variant of this run fits")


def test_every_kind_is_registered() -> None:
    assert set(Expectation.__subclasses__()) == set(KINDS) == set(EXAMPLES)
    assert len({msgspec.json.encode(EXAMPLES[kind][0]).split(b'"')[3] for kind in KINDS}) == len(KINDS)


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="Invalid value 'prophecy'"):
        msgspec.json.decode(b'{"kind":"prophecy"}', type=Kind)


def test_one_refuting_variant_refutes_and_is_named() -> None:
    run: Measured = {"a": facts(step_us=10.0), "b": facts(step_us=20.0), "c": Unmeasured(params={}, reason="killed")}
    verdict = judge(TWO, run)
    assert verdict.state == "refuted"
    assert verdict.measured == "20.0 µs"
    assert [finding.about for finding in verdict.findings if finding.state == "refuted"] == [("b",)]


def test_nothing_is_held_while_a_variant_is_undecided() -> None:
    run: Measured = {"a": facts(step_us=10.0), "b": Unmeasured(params={}, reason="killed")}
    assert judge(TWO, run).measured == "not measured: killed"


def test_a_verdict_shows_three_findings_and_counts_the_rest() -> None:
    run = {str(index): facts(step_us=20.0 + index) for index in range(6)} | {"again": facts(step_us=20.0)}
    assert judge(TWO, run).measured == "20.0 µs; 21.0 µs; 22.0 µs; and 3 more"


@pytest.mark.parametrize(
    ("samples", "state"),
    [
        ((9.0, 10.0, 11.0), "held"),
        ((8.9, 10.0, 11.0), "undecided"),
        ((7.0, 8.0, 8.9), "refuted"),
        ((7.0, 8.0, 9.0), "undecided"),
        ((11.0, 12.0, 13.0), "undecided"),
        ((1.0, 10.0, 99.0), "undecided"),
    ],
)
def test_an_interval_that_straddles_a_limit_decides_nothing(samples: tuple[float, ...], state: State) -> None:
    assert judge(TWO, one(facts(step_us=samples))).state == state


@pytest.mark.parametrize(("low", "high", "state"), [(None, 9.0, "refuted"), (9.0, None, "held"), (None, 10.0, "held")])
def test_an_open_end_is_no_limit(low: float | None, high: float | None, state: State) -> None:
    assert judge(Within(quantity="step_us", low=low, high=high), one(facts(step_us=10.0))).state == state


def test_a_quantity_that_is_zero_is_measured() -> None:
    verdict = judge(Within(quantity="buffer_requests", low=0.0, high=0.0), one(facts(buffer_requests=0.0)))
    assert (verdict.state, verdict.measured) == ("held", "0")


def test_a_measured_value_has_its_spread_beside_it() -> None:
    assert judge(TWO, one(facts(step_us=(9.5, 10.0, 10.5)))).measured == "10.0 µs (9.50 … 10.5 µs)"


@pytest.mark.parametrize(
    ("activity", "number", "state"),
    [("kernel", 2, "held"), ("memcpy", 1, "held"), ("memset", 0, "held"), ("any", 3, "held"), ("any", 2, "refuted")],
)
def test_a_copy_is_no_kernel(activity: str, number: int, state: State) -> None:
    run = one(facts(steps=[Activities(kernel=2, memcpy=1)] * 3))
    verdict = judge(msgspec.convert({"kind": "count", "activity": activity, "number": number}, Kind), run)
    assert verdict.state == state
    assert verdict.measured == "2 kernels + 1 memcpy in each of 3 steps"


def test_steps_that_differ_are_shown_as_they_differ() -> None:
    verdict = judge(Counted(activity="kernel", number=2), one(facts(steps=(2, 3, 2))))
    assert verdict.measured == "2 kernels / 3 kernels"
    assert judge(Counted(activity="kernel", number=2), one(facts(steps=(2,)))).measured == "2 kernels in the only step"


@pytest.mark.parametrize(
    ("expectation", "text"),
    [
        (Counted(activity="any", number=1), "one GPU activity a step"),
        (Counted(activity="any", number=0), "0 GPU activities a step"),
        (Counted(activity="memcpy", number=1), "one memcpy a step"),
        (Counted(activity="kernel", number=2), "2 kernels a step"),
        (Counted(activity="kernel", number=1, family="gemm"), "one gemm kernel a step"),
        (Counted(activity="kernel", number=3, family="gemm"), "3 gemm kernels a step"),
        (Launches(op="aten::t", number=0), "no GPU work inside aten::t"),
        (Launches(op="aten::mm", number=1), "one kernel a step inside aten::mm"),
        (Launches(op="aten::linear", number=2), "2 kernels a step inside aten::linear"),
        (Decoded(family="gemm", field="layout", value="tnt"), "gemm kernels: layout tnt in the name"),
        (Distinct(family="gemm", field="tile", least=2), "longest gemm kernel, tile: ≥ 2 different"),
        (Distinct(family="gemm", field="name", most=1), "longest gemm kernel, name: 1 different"),
        (Share(family="gemm", low=0.9), "gemm share of the GPU's time ≥ 90.0 %"),
        (PartKernels(relation="different", parts=("gate", "down")), "different kernel for gate and down"),
        (PartWithin(part="down", measure="tflops", low=400.0), "down: ≥ 400 TFLOP/s"),
        (Kernels(relation="different", between={"mode": ("a", "b")}), "different kernel names for mode a and b"),
        (Kernels(relation="same", between={"n": (1, 2)}, family="gemm"), "same gemm kernel names for n 1 and 2"),
        (Within(quantity="step_us", low=5.0), "Step time ≥ 5.00 µs"),
        (Geometry(family="gemm", field="shared_bytes", low=0.0, high=0.0), "gemm kernels: shared memory a block 0 B"),
        (Ordered(quantity="step_us", parameter="n", values=(1, 2)), "Step time grows over n 1 < 2"),
    ],
)
def test_an_expectation_reads_as_english(expectation: Kind, text: str) -> None:
    assert expectation.describe() == text


@pytest.mark.parametrize(
    ("family", "number", "state", "measured"),
    [
        ("gemm", 3, "held", "3 in each of 3 steps"),
        ("gemm", 4, "refuted", "3 in each of 3 steps"),
        ("pointwise", 1, "refuted", "1/0/1 in each of 3 steps"),
        ("memcpy", 0, "held", "0 in each of 3 steps"),
    ],
)
def test_the_kernels_of_one_family_are_counted_over_all_their_names(
    family: str, number: int, state: State, measured: str
) -> None:
    kernels = [
        kernel("a", per_step=(1, 2, 0)),
        kernel("b", per_step=(2, 1, 3)),
        kernel("add", family="pointwise", per_step=(1, 0, 1)),
        kernel("Memcpy DtoD", activity="memcpy", family="memcpy"),
    ]
    verdict = judge(Counted(activity="kernel", number=number, family=family), one(facts(kernels=kernels)))
    assert (verdict.state, verdict.measured) == (state, measured)


def test_a_family_is_not_counted_where_no_step_was_recorded() -> None:
    verdict = judge(Counted(activity="kernel", number=0, family="gemm"), one(facts(steps=())))
    assert (verdict.state, verdict.measured) == ("undecided", "no step was recorded")


def test_an_operator_that_only_copies_launches_no_kernel_yet_is_not_free() -> None:
    run = one(facts(calls=[call("aten::contiguous", kernels=0, gpu_us=6.0)]))
    verdict = judge(Launches(op="aten::contiguous", number=0), run)
    assert (verdict.state, verdict.measured) == (
        "refuted",
        "aten::contiguous: 0 kernels a step, 6.00 µs of GPU time in all",
    )


def test_what_is_launched_inside_a_label_counts_and_what_a_cuda_call_launches_is_the_operators() -> None:
    run = one(
        facts(
            calls=[
                call("Optimizer.step#AdamW.step", kind="annotation", kernels=6, gpu_us=30.0),
                call("cudaLaunchKernel", kind="runtime", kernels=9, gpu_us=30.0),
            ]
        )
    )
    assert judge(Launches(op="Optimizer.step#*", number=2), run).state == "held"
    assert judge(Launches(op="cudaLaunchKernel", number=3), run).measured == "no cudaLaunchKernel in a recorded step"


def test_each_operator_that_fits_is_held_to_its_launches() -> None:
    views = [call("aten::view"), call("aten::view_copy", kernels=3, gpu_us=3.0)]
    assert judge(Launches(op="aten::view*", number=0), one(facts(calls=views))).state == "refuted"
    assert judge(Launches(op="aten::view", number=0), one(facts(calls=views))).state == "held"


def test_an_operator_outside_the_recorded_steps_launches_nothing_in_them() -> None:
    run = one(facts(calls=[call("aten::t", per_step=(0, 0, 0), outside=2)]))
    assert judge(Launches(op="aten::t", number=0), run).measured == "no aten::t in a recorded step"


def test_a_field_is_judged_for_every_kernel_of_the_family() -> None:
    verdict = judge(Decoded(family="gemm", field="layout", value="tnt"), one(facts(kernels=[layout("tnt"), kernel()])))
    assert (verdict.state, verdict.measured) == ("undecided", "the name of gemm_kernel does not tell its layout")
    verdict = judge(Decoded(family="conv", field="layout", value="*"), one(facts(kernels=[layout("tnt")])))
    assert (verdict.state, verdict.measured) == ("undecided", "no conv kernel")
    verdict = judge(EXAMPLES[Decoded][0], one(facts(kernels=[layout("tnt"), layout("nnt")])))
    assert verdict.measured == "gemm_tnt: layout tnt; gemm_nnt: layout nnt"


@pytest.mark.parametrize(
    ("least", "most", "found", "state", "measured"),
    [
        (1, 1, ("a", "a"), "held", "1: a (2)"),
        (1, 1, ("a", "b"), "refuted", "2: a (1), b (1)"),
        (1, 1, ("a", "b", ""), "refuted", "2: a (1), b (1); not known for v2"),
        (2, None, ("a", "b", ""), "held", "2: a (1), b (1); not known for v2"),
        (3, None, ("a", "b", ""), "undecided", "2: a (1), b (1); not known for v2"),
        (1, 2, ("a", "b", ""), "undecided", "2: a (1), b (1); not known for v2"),
    ],
)
def test_what_is_not_known_decides_only_where_it_could_change_nothing(
    least: int, most: int | None, found: tuple[str, ...], state: State, measured: str
) -> None:
    verdict = judge(Distinct(family="gemm", field="tile", least=least, most=most), tiles(*found))
    assert verdict.state == state
    assert verdict.measured.startswith(measured)


def test_the_longest_kernel_of_the_family_stands_for_a_variant() -> None:
    longest = [kernel("add", family="pointwise"), kernel("long"), kernel("short")]
    run = {"a": facts({"n": 1}, kernels=longest), "b": facts({"n": 2}, kernels=[kernel("long"), kernel("other")])}
    verdict = judge(Distinct(family="gemm", field="name", least=1, most=1), run)
    assert (verdict.state, verdict.measured) == ("held", "1: long (2)")
    assert [finding.about for finding in verdict.findings] == [("a", "b")]


def test_a_share_is_that_of_all_names_of_a_family_and_copies_are_a_family_too() -> None:
    kernels = [kernel(share=0.4), kernel("b", share=0.3), kernel("c", activity="memcpy", family="memcpy", share=0.3)]
    run = one(facts(kernels=kernels))
    assert judge(Share(family="gemm", low=0.65, high=0.75), run).measured == "gemm: 70.0 % of the GPU's time"
    assert judge(Share(family="memcpy", low=0.25, high=0.35), run).state == "held"
    assert judge(Share(family="norm", low=0.0, high=0.01), run).state == "held"
    assert judge(Share(family="norm", low=0.01), run).state == "refuted"


def test_shares_and_durations_are_withheld_where_the_gpus_times_are() -> None:
    whole = facts(withheld={"kernel_us": "two clocks"}, kernels=[kernel()], sequence=[piece("gate"), piece("up")])
    for expectation in (EXAMPLES[Share][0], PartWithin(part="gate", measure="tflops", low=0.0)):
        assert judge(expectation, one(whole)).measured == "withheld: two clocks"
    assert judge(EXAMPLES[PartKernels][0], one(whole)).state == "held"


def test_parts_are_told_apart_by_what_was_declared_and_not_by_their_names() -> None:
    different = PartKernels(relation="different", parts=("gate", "down"))
    twice = one(facts(sequence=[piece(""), piece("gate", name="a"), piece("up", name="b"), piece("down", name="a")]))
    assert judge(different, twice).measured == "both a"
    missing = judge(different, one(facts(sequence=[piece("gate")])))
    assert (missing.state, missing.measured) == (
        "undecided",
        "no kernel of the steps could be told to be the part down",
    )


def test_a_part_is_judged_by_its_rate_over_all_rounds() -> None:
    run = one(facts(sequence=[piece("down"), piece("norm", tflops=None)]))
    rate = PartWithin(part="down", measure="tflops", low=0.15, high=0.25)
    assert judge(rate, run).state == "held"
    assert judge(rate, run).measured == "0.200 TFLOP/s (0.180 … 0.220 TFLOP/s)"
    assert judge(PartWithin(part="down", measure="gbps", low=0.4), run).state == "undecided"
    assert judge(PartWithin(part="norm", measure="tflops", low=0.0), run).state == "undecided"


def without(reason: str, *, calls: Sequence[Call] = (), kernels: Sequence[Kernel] = ()) -> Measured:
    """A run in which one sort of thing cannot be trusted."""
    return one(facts(withheld={reason: "lost"}, calls=calls, kernels=kernels))


@pytest.mark.parametrize("lost", ["activities", "runtime_calls"])
def test_the_cpu_is_seen_whatever_is_wrong_with_the_gpu(lost: str) -> None:
    run = without(lost, calls=[call("aten::mm"), call("custom_ops::mm")])
    assert judge(Appears(what="op", name="aten::mm", how_often="always"), run).state == "held"
    assert judge(CallsCounted(call="aten::mm", number=1), run).state == "held"
    assert judge(CallsCounted(call="custom_ops::mm", number=1), run).state == "held"


@pytest.mark.parametrize("name", ["cudaLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel"])
def test_a_cuda_call_is_counted_where_calls_were_recorded_even_if_kernels_were_not(name: str) -> None:
    calls = [call(name, kind="runtime")]
    for expectation in (
        CallsCounted(call=name, number=1),
        Appears(what="runtime", name=name, how_often="always"),
    ):
        assert judge(expectation, without("activities", calls=calls)).state == "held"
        assert judge(expectation, without("runtime_calls", calls=calls)).state == "undecided"


def test_a_kernel_is_not_called_absent_where_kernels_were_not_recorded() -> None:
    never = Appears(what="kernel", name="gemm*", how_often="never")
    assert judge(never, without("activities")).state == "undecided"
    assert judge(never, without("runtime_calls")).state == "held"


@pytest.mark.parametrize(
    ("what", "name", "state"),
    [("op", "cudaMalloc", "held"), ("runtime", "cudaMalloc", "refuted"), ("kernel", "gemm*", "refuted")],
)
def test_absent_speaks_of_one_sort_of_thing_only(what: str, name: str, state: State) -> None:
    run = one(facts(calls=[call("cudaMalloc", kind="runtime")], kernels=[kernel("gemm_1")]))
    never = msgspec.convert({"kind": "appears", "what": what, "name": name, "how_often": "never"}, Kind)
    assert judge(never, run).state == state


def test_a_copy_is_not_present_as_a_kernel() -> None:
    run = one(facts(kernels=[kernel("Memcpy DtoD", activity="memcpy", family="copy")]))
    assert judge(Appears(what="kernel", name="Memcpy*", how_often="always"), run).state == "refuted"


@pytest.mark.parametrize(
    ("pattern", "name", "state"),
    [
        ("aten::add", "aten::add_", "refuted"),
        ("aten::add*", "aten::add_", "held"),
        ("*add*", "aten::add_", "held"),
        ("a.b", "axb", "refuted"),
        ("f(x)[0]+$", "f(x)[0]+$", "held"),
        ("void f<*>(int*)", "void f<A, B>(int*)", "held"),
        ("a*z", "a\nmiddle\r\nz", "held"),
        ("## Call *", "## Call CompiledFxGraph fab.c|d `x` ##", "held"),
        ("a", "a\n", "refuted"),
        ("*", "", "held"),
        ("\\d", "7", "refuted"),
    ],
)
def test_a_star_stands_for_anything_and_nothing_else_is_special(pattern: str, name: str, state: State) -> None:
    run = one(facts(calls=[call(name)]))
    assert judge(Appears(what="op", name=pattern, how_often="always"), run).state == state


@given(st.text())
def test_a_name_matches_itself(name: str) -> None:
    assert judge(Appears(what="op", name=name, how_often="always"), one(facts(calls=[call(name)]))).state == "held"


def test_the_names_are_compared_and_not_how_often_they_were_launched() -> None:
    short = facts(kernels=[kernel("a", per_step=(1, 1, 1)), kernel("a", per_step=(1, 0, 0), grid=(2, 1, 1))])
    long = facts(steps=[1] * 20, kernels=[kernel("a", per_step=(1,) * 20)])
    verdict = judge(EXAMPLES[Kernels][0], two(short, long))
    assert (verdict.state, verdict.measured) == ("held", "both a")


def test_different_kernels_are_both_named() -> None:
    different = Kernels(relation="different", between={"mode": ("eager", "compile")})
    verdict = judge(different, two(facts(kernels=[kernel("b"), kernel("a")]), facts(kernels=[kernel("a")])))
    assert (verdict.state, verdict.measured) == ("held", "a, b against a")


def test_a_copy_on_one_side_does_not_make_the_kernels_different() -> None:
    copy = kernel("Memcpy DtoD", activity="memcpy", family="memcpy")
    same = Kernels(relation="same", between={"mode": ("eager", "compile")})
    assert judge(same, two(facts(kernels=[kernel("a")]), facts(kernels=[copy, kernel("a")]))).state == "held"


def test_without_a_kernel_on_one_side_kernels_are_not_called_different() -> None:
    different = Kernels(relation="different", between={"mode": ("eager", "compile")})
    verdict = judge(different, two(facts(kernels=[kernel("a")]), facts()))
    assert (verdict.state, verdict.measured) == ("undecided", "no GPU kernel on one side")


GRID: dict[str, Params] = {
    f"{size}-{mode}-{window}": {"size": size, "mode": mode, "window": window}
    for size in (64, 4096)
    for mode in ("eager", "compile", "max")
    for window in ("cold", "warm")
}


def test_a_partner_differs_only_in_the_named_parameters() -> None:
    run = {name: facts(params, step_us=10.0) for name, params in GRID.items()}
    ratio = RatioWithin(quantity="step_us", of={"mode": "compile"}, over={"mode": "eager"}, low=0.5, high=1.5)
    assert {finding.about for finding in judge(ratio, run).findings} == {
        (f"{size}-compile-{window}", f"{size}-eager-{window}") for size in (64, 4096) for window in ("cold", "warm")
    }
    some = msgspec.structs.replace(ratio, where={"size": [64], "window": "warm", "mode": "max"})
    assert [finding.about for finding in judge(some, run).findings] == [("64-compile-warm", "64-eager-warm")]


def test_a_parameter_that_only_one_side_has_may_be_named() -> None:
    run = {
        "eager": facts({"mode": "eager"}, step_us=20.0),
        "other": facts({"mode": "eager", "threads": 8}, step_us=1.0),
        "compile": facts({"mode": "compile", "backend": "inductor"}, step_us=10.0),
    }
    ratio = RatioWithin(
        quantity="step_us", of={"mode": "compile", "backend": "inductor"}, over={"mode": "eager"}, low=0.5, high=0.5
    )
    assert [finding.about for finding in judge(ratio, run).findings] == [("compile", "eager")]
    unnamed = msgspec.structs.replace(ratio, of={"mode": "compile"})
    assert judge(unnamed, run).measured == "no partner with mode eager was measured"


def test_each_of_several_partners_is_looked_at() -> None:
    run = {
        "ours": facts({"mode": "compile"}, step_us=10.0),
        "near": facts({"mode": "eager", "flag": 1}, step_us=10.0),
        "far": facts({"mode": "eager", "flag": 2}, step_us=99.0),
    }
    ratio = RatioWithin(
        quantity="step_us", of={"mode": "compile"}, over={"mode": "eager", "flag": 1}, low=1.0, high=1.0
    )
    assert [finding.about for finding in judge(ratio, run).findings] == [("ours", "near")]
    either = Kernels(relation="same", between={"flag": (1, 2)})
    assert [finding.about for finding in judge(either, run).findings] == [("near", "far")]


def test_a_missing_partner_leaves_it_undecided() -> None:
    run = {"64": facts({"size": 64, "mode": "compile"}, step_us=1.0), "x": facts({"size": 9, "mode": "eager"})}
    verdict = judge(EXAMPLES[RatioWithin][0], run)
    assert [(finding.about, finding.measured) for finding in verdict.findings] == [
        (("64",), "no partner with mode eager was measured")
    ]


def test_a_ratio_over_nothing_is_undecided_and_not_infinite() -> None:
    verdict = judge(EXAMPLES[RatioWithin][0], two(facts(step_us=0.0), facts(step_us=5.0)))
    assert (verdict.state, verdict.measured) == ("undecided", "step time of the lower side is 0")


def test_a_ratio_of_counts_is_exact_and_one_of_summaries_is_as_wide_as_it_may_be() -> None:
    counted = change(facts(launches=3.0), facts(launches=2.0), "launches")
    assert not isinstance(counted, str)
    assert (counted.count, counted.low, counted.median, counted.high) == (1, 1.5, 1.5, 1.5)
    mixed = change(facts(step_us=30.0), facts(step_us=(5.0, 10.0, 15.0)), "step_us")
    assert not isinstance(mixed, str)
    assert (mixed.low, mixed.median, mixed.high) == (2.0, 3.0, 6.0)


def test_an_order_needs_every_value_it_names() -> None:
    verdict = judge(Ordered(quantity="step_us", parameter="size", values=(1, 2, 3)), sizes(1.0, 2.0))
    assert verdict.state == "undecided"
    assert verdict.measured == "no partner with size 3 was measured"
    missing_first = judge(Ordered(quantity="step_us", parameter="size", values=(3, 1, 2)), sizes(1.0, 2.0))
    assert (missing_first.state, missing_first.measured) == ("undecided", "no variant of this run fits")


def test_an_order_shows_both_sides() -> None:
    order = Ordered(quantity="step_us", parameter="size", values=(1, 2))
    assert judge(order, sizes(1.0, 2.0)).measured == "1: 1.00 µs < 2: 2.00 µs, 2.00×"
    assert judge(order, sizes(2.0, 1.0)).measured == "1: 2.00 µs > 2: 1.00 µs, 0.500×"


def test_what_stays_the_same_does_not_grow() -> None:
    order = Ordered(quantity="step_us", parameter="size", values=(1, 2))
    verdict = judge(order, sizes(2.0, 2.0))
    assert (verdict.state, verdict.measured) == ("refuted", "1: 2.00 µs = 2: 2.00 µs, 1.00×")


def test_two_kernels_with_one_label_are_two_kernels() -> None:
    run = one(facts(kernels=[kernel(registers=255, grid=(1, 1, 1)), kernel(registers=40, grid=(2, 1, 1))]))
    verdict = judge(EXAMPLES[Geometry][0], run)
    assert verdict.state == "refuted"
    assert verdict.measured == "gemm_kernel: 255 registers a thread; gemm_kernel: 40 registers a thread"


def test_a_known_kernel_refutes_even_if_another_is_not_known() -> None:
    limits = EXAMPLES[Geometry][0]
    assert judge(limits, one(facts(kernels=[kernel(registers=None), kernel("b", registers=255)]))).state == "refuted"
    assert judge(limits, one(facts(kernels=[kernel(registers=None), kernel("b", registers=40)]))).state == "undecided"


def test_threads_are_the_product_of_the_block() -> None:
    threads = Geometry(family="gemm", field="threads", low=128.0, high=128.0)
    assert judge(threads, one(facts(kernels=[kernel(block=(16, 4, 2))]))).state == "held"
    assert judge(threads, one(facts(kernels=[kernel(block=None)]))).state == "undecided"


def test_a_kernel_without_its_launch_says_nothing_about_the_call_before_it() -> None:
    never = PrecededBy(family="gemm", call="cudaOccupancy*", how_often="never")
    verdict = judge(never, one(facts(kernels=[kernel(launch_call="")])))
    assert (verdict.state, verdict.measured) == (
        "undecided",
        "a gemm kernel is not linked to the call that launched it",
    )
    assert judge(never, one(facts(kernels=[kernel()]))).measured == "gemm_kernel: no call before cudaLaunchKernel"


def test_a_part_that_speaks_of_no_variant_leaves_the_whole_undecided() -> None:
    typo = AllOf(parts=(TWO, Counted(activity="kernel", number=2, where={"siez": 64})))
    verdict = judge(typo, one(facts({"size": 64}, step_us=10.0)))
    assert (verdict.state, verdict.measured) == ("undecided", "no variant of this run fits")


def test_each_part_has_its_own_where() -> None:
    whole = AllOf(
        parts=(
            Counted(activity="kernel", number=2, where={"mode": "eager"}),
            Counted(activity="kernel", number=1, where={"mode": "compile"}),
        )
    )
    assert judge(whole, two(facts(steps=(2, 2)), facts(steps=(1, 1)))).state == "held"


@pytest.mark.parametrize(
    ("where", "fit"),
    [
        ({}, True),
        ({"size": 64}, True),
        ({"size": [4096, 64]}, True),
        ({"size": 64, "mode": "eager"}, True),
        ({"size": []}, False),
        ({"size": "64"}, False),
        ({"size": 64, "dtype": "bf16"}, False),
    ],
)
def test_where_asks_for_values_and_a_parameter_that_is_not_there_does_not_fit(where: Where, *, fit: bool) -> None:
    assert fits({"size": 64, "mode": "eager"}, where) is fit
    assert ("only" in select(one(facts({"size": 64, "mode": "eager"})), where)) is fit


CLAIM = Claim(id="P1-03", statement="two kernels", expectation=TWO, figure="2", on="A100", source="a link")


@pytest.mark.parametrize(
    "changed",
    [
        msgspec.structs.replace(TWO, high=12.0),
        msgspec.structs.replace(TWO, low=None),
        msgspec.structs.replace(TWO, quantity="latency_us"),
        msgspec.structs.replace(TWO, where={"size": 64}),
        msgspec.structs.replace(TWO, because="after the fact"),
        Within(quantity="step_us", low=9.0, high=math.nextafter(11.0, 12.0), because=TWO.because),
    ],
)
def test_the_seal_breaks_when_a_prediction_is_changed(changed: Kind) -> None:
    assert seal((changed,), (CLAIM,)) != seal((TWO,), (CLAIM,))
    assert seal((TWO,), (msgspec.structs.replace(CLAIM, expectation=changed),)) != seal((TWO,), (CLAIM,))


def test_the_seal_breaks_when_a_prediction_is_added_taken_away_or_moved_to_the_claims() -> None:
    assert len({seal((), ()), seal((TWO,), ()), seal((), (TWO,)), seal((TWO, TWO), ())}) == 4


def test_the_seal_does_not_depend_on_how_a_prediction_was_spelled() -> None:
    first = Counted(activity="kernel", number=2, where={"size": 64, "mode": "eager"}, because="x")
    second = Counted(because="x", where={"mode": "eager", "size": 64}, number=2, activity="kernel")
    assert seal((first,), ()) == seal((second,), ()) == seal([first], [])
    assert re.fullmatch("[0-9a-f]{64}", seal((first,), ()))


def test_a_field_with_a_default_does_not_break_old_seals() -> None:
    class Later(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="within"):
        where: dict[str, int] = {}
        because: str = ""
        quantity: str
        low: float | None = None
        high: float | None = None
        tolerance: float = 0.0

    assert seal((msgspec.json.decode(msgspec.json.encode(TWO), type=Later),)) == seal((TWO,))


def test_one_name_that_says_otherwise_refutes_even_beside_a_silent_one() -> None:
    rows = [kernel("tn", fields={"layout": "tnn"}), kernel("silent")]
    for value, state in (("tn*", "undecided"), ("nn*", "refuted")):
        expected = Decoded(family="gemm", field="layout", value=value)
        assert judge(expected, one(facts(kernels=rows))).state == state


def test_a_sort_that_is_not_known_says_why() -> None:
    silent, lost = (
        facts({"rows": 1}, kernels=[kernel("gemm")]),
        facts({"rows": 2}, withheld={"activities": "it is cut"}),
    )
    verdict = judge(Distinct(family="gemm", field="tile", least=2), {"a": silent, "b": lost})
    assert verdict.state == "undecided"
    assert verdict.measured == "the name of gemm does not tell its tile; withheld: it is cut"


def test_an_order_is_told_round_by_round_where_both_drift_together() -> None:
    """Each of the two varies by more than they differ by, but in every round the second takes longer."""
    drift = (1.0, 1.3, 0.8, 1.2, 0.9, 1.1)
    rounds = [tuple((each * factor,) * 6 for each in drift) for factor in (10.0, 11.0)]
    measured = {f"n{n}": facts({"n": n}, dispatch_us=rounds[n]) for n in (0, 1)}
    assert judge(Ordered(quantity="dispatch_us", parameter="n", values=(0, 1)), measured).state == "held"
    assert judge(Ordered(quantity="dispatch_us", parameter="n", values=(1, 0)), measured).state == "refuted"


def test_every_step_launches_the_number_and_not_their_mean() -> None:
    uneven = one(facts(steps=(1, 2, 3), calls=[call("aten::mm", kernels=6, kernels_per_step=(1, 2, 3))]))
    verdict = judge(Launches(op="aten::mm", number=2), uneven)
    assert (verdict.state, verdict.measured) == ("refuted", "aten::mm: 1/2/3 kernels a step")


def test_a_share_is_told_by_all_rounds() -> None:
    known = msgspec.structs.replace(facts(kernels=[kernel()]), shares={"gemm": across(((0.74,), (0.75,), (0.76,)))})
    verdict = judge(Share(family="gemm", low=0.75), one(known))
    assert (verdict.state, verdict.measured) == ("undecided", "gemm: 75.0 % (74.0 … 76.0 %) of the GPU's time")
