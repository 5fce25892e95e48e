"""What an author declares: which variants there are, what they are called, and which are measured when."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretrace import Protocol, Scenario, Work, claim, grid, predict
from foretrace.errors import WrongUsage
from foretrace.scenario import Name, Variant

SCALARS = st.one_of(st.text(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.booleans())


def scenario(*variants: Variant, **more: object) -> Scenario:
    return msgspec.structs.replace(Scenario(title="t", question="q?", variants=grid(n=1)), variants=variants, **more)


def names(variants: tuple[Variant, ...]) -> list[str]:
    return [variant.name for variant in variants]


def test_a_grid_has_every_combination_and_its_last_axis_is_the_fastest() -> None:
    made = grid(size=(64, 4096), mode=("eager", "compile"))
    assert names(made) == ["64-eager", "64-compile", "4096-eager", "4096-compile"]
    assert made[1].params == {"size": 64, "mode": "compile"}


def test_a_single_value_is_an_axis_of_one() -> None:
    assert names(grid(mode="eager", size=[1, 2], bias=True)) == ["eager-1-True", "eager-2-True"]


def test_a_grid_without_axes_is_one_variant_with_a_name() -> None:
    (only,) = grid()
    assert (only.name, only.params) == ("only", {})


def test_grids_are_added_and_keep_their_own_protocol() -> None:
    cold = Protocol(warm_calls=0)
    made = grid(n=1, start="cold", protocol=cold) + grid(n=(1, 2), start="warm")
    assert [variant.protocol for variant in made] == [cold, Protocol(), Protocol()]


def test_the_default_protocol_is_that_of_the_series() -> None:
    assert Protocol() == Protocol(warm_calls=3, wait=1, warmup=1, active=3)


def test_the_work_is_computed_from_each_variant() -> None:
    made = grid(n=(2, 3), work=lambda params: Work(flops=float(params["n"]) ** 3, bytes=1.0))
    assert [variant.work.flops for variant in made if variant.work] == [8.0, 27.0]
    assert grid(n=1)[0].work is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a b/c", "a_b_c"),
        ("../../etc/passwd", "_._.._etc_passwd"),
        (".", "_"),
        ("", "_"),
        (0.5, "0.5"),
        (1e-05, "1e_05"),
        (-1, "_1"),
        ("größe", "gr_e"),
        ("a\nb", "a_b"),
        ("max-autotune", "max_autotune"),
    ],
)
def test_a_name_is_fit_for_a_file_whatever_the_value_is(value: str | float, name: str) -> None:
    assert names(grid(x=value)) == [name]


@given(st.lists(SCALARS, min_size=1, max_size=4))
def test_every_name_that_a_grid_makes_can_be_read_back_from_a_record(values: list[str | float]) -> None:
    (variant,) = grid(**{f"axis{index}": value for index, value in enumerate(values)})
    assert msgspec.convert(variant.name, Name) == variant.name


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a\n", "a b", "\x00", "ä"])
def test_a_name_that_leaves_its_folder_is_not_read(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="matching regex"):
        msgspec.convert(name, Name)


def test_names_that_differ_only_in_case_are_refused() -> None:
    with pytest.raises(WrongUsage, match="a_b: two variants have this name"):
        Scenario(title="t", question="q?", variants=grid(mode=("a b", "A_B")))
    with pytest.raises(WrongUsage, match="two variants have this name"):
        Scenario(title="t", question="q?", variants=grid(n=1) + grid(n=1, protocol=Protocol(active=9)))


@pytest.mark.parametrize("name", ["declaration", "Declaration"])
def test_a_variant_cannot_take_the_place_of_the_declaration(name: str) -> None:
    with pytest.raises(WrongUsage, match="cannot have this name"):
        Scenario(title="t", question="q?", variants=grid(mode=("eager", name)))


def test_a_variant_whose_name_no_file_can_have_is_refused_before_it_is_measured() -> None:
    with pytest.raises(WrongUsage, match="this name is too long for a file"):
        Scenario(title="t", question="q?", variants=grid(n=10**250))


def test_a_scenario_without_variants_is_refused() -> None:
    with pytest.raises(WrongUsage, match="Sums: there is no variant to measure"):
        Scenario(title="Sums", question="q?", variants=grid(n=()))


def test_a_choice_that_fits_no_variant_is_refused() -> None:
    with pytest.raises(WrongUsage, match=re.escape("quick={'n': 3}: no variant has these parameters")):
        Scenario(title="t", question="q?", variants=grid(n=(1, 2)), quick={"n": 3})


def test_quick_measures_what_it_names() -> None:
    found = scenario(*grid(n=(1, 2, 3)), quick={"n": [1, 2]})
    assert names(found.planned(quick=True)) == ["1", "2"]
    assert names(found.planned()) == ["1", "2", "3"]


def test_a_declaration_comes_back_from_json_as_it_was() -> None:
    declared = Scenario(
        title="t",
        question="q?",
        variants=grid(n=(1, 2), flag=(True, False), scale=(0.5, 2.0), work=lambda _: Work(flops=1.0, bytes=2.0)),
        predictions=(predict.within("step_us", (1, None), where={"n": [1, 2]}, because="b"),),
        claims=(claim("A-1", "It is so.", predict.count("kernel", 2), figure="2", on="A100", source="link"),),
        baseline={"n": 1},
        quick={"flag": [True]},
    )
    assert msgspec.json.decode(msgspec.json.encode(declared), type=Scenario) == declared
