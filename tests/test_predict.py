"""The author's words: each makes the expectation it says, and what could never be judged is refused when written."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, get_args

import pytest
from facts_builder import facts

from foretrace import predict
from foretrace.errors import WrongUsage
from foretrace.facts import FAMILIES
from foretrace.grammars import Family
from foretrace.prediction import KINDS, Kind, judge

if TYPE_CHECKING:
    from collections.abc import Callable

WHERE = {"size": [64, 128], "mode": "eager"}
WORDS: dict[str, Callable[..., Kind]] = {
    "bound": lambda **more: predict.bound("memory", **more),
    "count": lambda **more: predict.count("kernel", 2, **more),
    "calls": lambda **more: predict.calls("cudaLaunch*", 1, **more),
    "launches": lambda **more: predict.launches("aten::t", 0, **more),
    "same_kernels": lambda **more: predict.same_kernels(between={"n": (1, 2)}, family="gemm", **more),
    "different_kernels": lambda **more: predict.different_kernels(between={"n": (1, 2)}, **more),
    "present": lambda **more: predict.present("op", "aten::mm", **more),
    "absent": lambda **more: predict.absent("kernel", "*gemm*", **more),
    "decoded": lambda **more: predict.decoded("gemm", "layout", "tn*", **more),
    "distinct": lambda **more: predict.distinct("gemm", "tile", (2, None), **more),
    "share": lambda **more: predict.share("gemm", (0.5, None), **more),
    "same_kernel": lambda **more: predict.same_kernel("gate", "up", **more),
    "different_kernel": lambda **more: predict.different_kernel("gate", "down", **more),
    "part": lambda **more: predict.part("down", "tflops", (400, 800), **more),
    "within": lambda **more: predict.within("step_us", (1, 2), **more),
    "first_step_wider": lambda **more: predict.first_step_wider(5, **more),
    "ratio": lambda **more: predict.ratio("step_us", of={"n": 1}, over={"n": 2}, between=(None, 2), **more),
    "order": lambda **more: predict.order("step_us", parameter="n", growing=[1, 2], **more),
    "geometry": lambda **more: predict.geometry("gemm", "registers", (32, None), **more),
    "preceded": lambda **more: predict.preceded("gemm", "cuda*", "never", **more),
}
SAID = {
    "bound": "memory-bound",
    "count": "2 kernels a step",
    "calls": "1 × cudaLaunch* a step",
    "launches": "no GPU work inside aten::t",
    "same_kernels": "same gemm kernel names for n 1 and 2",
    "different_kernels": "different kernel names for n 1 and 2",
    "present": "operator aten::mm in every step",
    "absent": "kernel *gemm* in no step",
    "decoded": "gemm kernels: layout tn* in the name",
    "distinct": "longest gemm kernel, tile: ≥ 2 different",
    "share": "gemm share of the GPU's time ≥ 50.0 %",
    "same_kernel": "same kernel for gate and up",
    "different_kernel": "different kernel for gate and down",
    "part": "down: 400 … 800 TFLOP/s",
    "within": "Step time 1.00 … 2.00 µs",
    "first_step_wider": "First step over the others ≥ 5.00×",
    "ratio": "Step time, n 1 over n 2: ≤ 2.00×",
    "order": "Step time grows over n 1 < 2",
    "geometry": "gemm kernels: registers a thread ≥ 32",
    "preceded": "gemm launches never preceded by cuda*",
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_means_what_it_says(word: str) -> None:
    made = WORDS[word](where=WHERE, because="so it is")
    assert made.describe() == SAID[word]
    assert (made.where, made.because) == (WHERE, "so it is")


def test_every_word_and_every_kind_is_covered_here() -> None:
    words = {name for name, value in vars(predict).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert words - {"all_of"} == set(WORDS)
    assert {type(make()) for make in WORDS.values()} | {type(predict.all_of(predict.count("any", 1)))} == set(KINDS)


def test_a_statement_without_where_is_about_every_variant() -> None:
    run = {"a": facts({"n": 1}), "b": facts({"n": 2})}
    assert [finding.about for finding in judge(predict.count("kernel", 2), run).findings] == [("a",), ("b",)]


def test_kernels_of_a_family_are_counted_alone() -> None:
    assert predict.count("kernel", 3, family="gemm", where=WHERE).describe() == "3 gemm kernels a step"


def test_a_whole_keeps_its_parts_and_its_own_reason() -> None:
    parts = predict.count("kernel", 1, because="a"), predict.absent("op", "aten::add", because="b")
    whole = predict.all_of(*parts, because="both")
    assert (whole.parts, whole.because) == (parts, "both")
    assert whole.describe() == "one kernel a step; operator aten::add in no step"


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda: predict.within("speed", (1, 2)), "speed: no such quantity; one of step_us, "),
        (lambda: predict.ratio("speed", of={"n": 1}, over={"n": 2}, between=(1, 2)), "speed: no such quantity"),
        (lambda: predict.order("speed", parameter="n", growing=(1, 2)), "speed: no such quantity"),
        (lambda: predict.within("step_us", (None, None)), "cannot be refuted"),
        (lambda: predict.within("step_us", (3, 1)), "between=(3, 1): an interval's lower end comes first"),
        (lambda: predict.within("step_us", (float("nan"), 1)), "lower end comes first"),
        (lambda: predict.geometry("gemm", "registers", (64, 32)), "lower end comes first"),
        (lambda: predict.ratio("step_us", of={"n": 1}, over={"n": 2}, between=(3, 1)), "lower end comes first"),
        (lambda: predict.ratio("step_us", of={"n": 1}, over={"n": 1}, between=(1, 3)), "needs two variants"),
        (lambda: predict.order("step_us", parameter="n", growing=(1,)), "an order needs two values"),
        (lambda: predict.same_kernels(between={}), "names one parameter"),
        (lambda: predict.different_kernels(between={"n": (1, 2), "m": (1, 2)}), "use `where` for the others"),
        (lambda: predict.share("gemm", (None, None)), "cannot be refuted"),
        (lambda: predict.part("down", "tflops", (2, 1)), "lower end comes first"),
        (lambda: predict.distinct("gemm", "tile", (2, 1)), "between=(2, 1): an interval's lower end comes first"),
        (lambda: predict.count("memcpy", 1, family="gemm"), "count('memcpy'): only kernels have a family"),
        (lambda: predict.same_kernel("gate"), "two parts are compared"),
        (lambda: predict.different_kernel("a", "b", "c"), "two parts are compared"),
        (lambda: predict.bound("undecided"), "is a verdict, not a prediction"),
        (predict.all_of, "has no part"),
    ],
)
def test_what_could_never_be_judged_is_refused_when_it_is_written(write: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        write()
    assert sentence in str(caught.value)


def test_a_number_of_sorts_that_could_not_be_refuted_is_refused() -> None:
    with pytest.raises(WrongUsage, match="one sort there always is"):
        predict.distinct("gemm", "tile", (1, None))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (lambda: predict.count("kernel", 0, family="gemmm"), "gemmm: no such family of GPU work"),
        (lambda: predict.share("gemmm", (None, 0.1)), "gemmm: no such family of GPU work"),
        (lambda: predict.geometry("gems", "registers", (None, 9)), "gems: no such family of GPU work"),
        (lambda: predict.share("gemm", (20, None)), "a share lies between 0 and 1"),
        (lambda: predict.within("traced_busy_share", (None, 80)), "a share lies between 0 and 1"),
        (lambda: predict.count("kernel", -1), "nothing happens less often than never"),
        (lambda: predict.calls("cudaMalloc", -1), "nothing happens less often than never"),
        (lambda: predict.launches("aten::mm", -1), "nothing happens less often than never"),
    ],
)
def test_what_could_not_be_otherwise_is_refused(word: Callable[[], object], said: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        word()
    assert said in str(caught.value)


def test_the_families_are_those_of_the_decoder() -> None:
    assert get_args(Family) == FAMILIES
