"""Laws of the kernel-name decoder: what must hold for every grammar and for any text at all."""

from __future__ import annotations

import ast
import importlib
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretrace import grammars
from foretrace.grammars.registry import GRAMMARS

EXAMPLES = [(grammar, name) for grammar in GRAMMARS for name in grammar.examples]
FRAGMENTS = [name[:cut] for _, name in EXAMPLES for cut in (0, 3, 17, 40, len(name))]
HOSTILE = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.one_of(st.sampled_from(FRAGMENTS), st.sampled_from(list("<>(){}[],_:. x…")), st.text(max_size=8)),
        max_size=12,
    ).map("".join),
)


def ids(case: tuple[object, str]) -> str:
    return case[1][:60]


@pytest.mark.parametrize("case", EXAMPLES, ids=ids)
def test_an_example_is_claimed_by_its_own_grammar_and_by_no_other(case) -> None:
    grammar, name = case
    assert grammars.claimants(name) == (grammar.name,)


@pytest.mark.parametrize("case", EXAMPLES, ids=ids)
def test_an_example_reads_as_its_grammar_says(case) -> None:
    grammar, name = case
    reading = grammars.decode(name)
    expected = dict(grammar.examples[name])
    told = {**reading.fields, "family": reading.family, "library": reading.library}
    assert {key: told.get(key) for key in expected} == expected


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.name)
def test_a_grammar_has_examples_a_source_and_a_meaning_for_every_term(grammar) -> None:
    assert grammar.examples
    assert grammar.source.startswith("https://")
    assert all(term.meaning and term.confidence in "ABC" for term in grammar.terms.values())


@given(HOSTILE)
def test_any_text_is_read_and_its_tokens_join_to_it(name: str) -> None:
    reading = grammars.decode(name)
    assert reading.name == name
    assert "".join(token.text for token in grammars.tokens(name)) == name
    assert len(grammars.label(name)) <= 40
    assert grammars.identity(name)
    msgspec.json.encode(reading)


@given(st.lists(HOSTILE, max_size=30, unique=True))
def test_no_two_names_share_a_label_and_none_is_too_wide(names: list[str]) -> None:
    labels = grammars.labels(names)
    assert list(labels) == names
    assert len(set(labels.values())) == len(names)
    assert all(len(label) <= 40 for label in labels.values())


def test_many_names_that_only_a_number_tells_apart_are_labelled_fast() -> None:
    names = [f"void zork<{number}, a b c d e f g h i j {number}>(int)" for number in range(3000)]
    begin = time.process_time()
    assert len(set(grammars.labels(names).values())) == len(names)
    assert time.process_time() - begin < 3


@given(HOSTILE)
def test_no_text_is_claimed_by_two_grammars(name: str) -> None:
    assert len(grammars.claimants(name)) <= 1


@pytest.mark.parametrize(
    "unit",
    [
        "<", ">", "a<", "a<b,", "a::", "(", "_", "_Z", "N1aI", "_ZN1aI", "S_", "nvjet_", "x1_", "MT1x1x1_", "add_",
        "at::native::f<(", "{lambda(", "at::native::vectorized_elementwise_kernel<4, ", "cutlass::Kernel2<",
        "triton_poi_fused_", "unnamed>::", "0x1",
    ],
)  # fmt: skip
def test_hundred_kilobytes_of_one_thing_take_no_longer_than_they_should(unit: str) -> None:
    for prefix in ("", "nvjet_sm90_tst_", "Cijk_Ailk_Bljk_BBS_BH_", "_ZN", "triton_poi_fused_", "void at::native::f<"):
        name = prefix + unit * (100_000 // len(unit))
        begin = time.process_time()
        grammars.decode(name)
        grammars.tokens(name)
        assert time.process_time() - begin < 1


@pytest.mark.parametrize("unit", [",", "a,", "a<", "(", " ", "x1_"])
def test_of_a_megabyte_of_name_the_beginning_is_read(unit: str) -> None:
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>" + unit * (
        10**6 // len(unit)
    )
    begin = time.process_time()
    assert grammars.decode(name).fields["truncated"] is True
    assert "".join(token.text for token in grammars.tokens(name)) == name
    assert len(grammars.label(name)) <= 40
    assert time.process_time() - begin < 2


def test_a_cut_name_tells_what_survives_and_that_it_is_cut() -> None:
    reading = grammars.decode("nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coo...")
    assert reading.fields["truncated"] is True
    assert reading.fields["tile"] == "256x128"
    assert "coop" not in reading.fields
    assert any("cut" in note for note in reading.notes)


def test_a_number_that_touches_the_cut_is_not_believed() -> None:
    assert "tile" not in grammars.decode("nvjet_sm90_tst_256x1...").fields


def test_an_unknown_name_is_other_and_says_what_is_unread() -> None:
    reading = grammars.decode("void zork::frobnicate<7>(int)")
    assert (reading.family, reading.library) == ("other", "unknown")
    assert "7" in reading.unread


def terms_used(module: str) -> set[str]:
    """The literal terms that a grammar's module hands to a draft."""
    tree = ast.parse(Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf8"))
    used = set()
    for call in ast.walk(tree):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("say", "mark", "flag", "take")
        ):
            values = call.args[1:3] if call.func.attr == "take" else call.args[1:2]
            used |= {value.value for value in values[-1:] if isinstance(value, ast.Constant) and value.value}
    return used


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.name)
def test_every_term_that_a_grammar_uses_has_a_meaning(grammar) -> None:
    known = grammar.terms.keys() | grammars.COMMON.keys()
    assert terms_used(f"foretrace.grammars.{grammar.name}") - known == set()
