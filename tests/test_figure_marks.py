"""Marks joined by lines: kernels over a parameter, and values before and after, read back from the drawn shapes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_figure import HOSTILE, SVG, THEMES, dots, drawn_text, parsed, shapes

from foretrace import figure
from foretrace.figure import lettering, marks, scale
from foretrace.figure.canvas import Canvas
from foretrace.figure.frame import draw_axis
from foretrace.figure.theme import GROUPS
from foretrace.page.models import Changes, Choices, Picture
from foretrace.render.pictures import draw
from foretrace.stats import Summary, exact

LIGHT = figure.LIGHT
SIDES = ("eager", "compiled")
LONG = "a name that is longer than any column of labels will ever be, whatever the reader's screen " * 3


def sampled(median, low, high):
    return Summary(count=30, median=median, low=low, high=high, minimum=low, maximum=high, mean=median)


def described(document):
    return parsed(document).findtext(f"{SVG}desc")


def joins(document, theme=LIGHT):
    """The lines between marks, each as its rows of marks' heights from its start to its end."""
    return shapes(document, fill="none", stroke=theme.muted, stroke_width="1.2")


# ── choices ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_kernel_has_a_mark_wherever_it_ran_at_equal_steps_for_equal_factors():
    document = figure.choices([("a", "gemm", (64.0, 256.0, 1024.0))], parameter="size", theme=LIGHT)
    (first, y), (second, _), (third, _) = dots(document, LIGHT.work("gemm"))
    assert second - first == pytest.approx(third - second, abs=0.02)
    assert {height for _, height in dots(document, LIGHT.work("gemm"))} == {y}


def test_a_line_stays_in_the_row_of_a_kernel_that_goes_on_and_changes_rows_halfway_to_the_next():
    rows = [("old", "gemm", (64.0, 128.0)), ("new", "gemm", (256.0,))]
    document = figure.choices(rows, parameter="size", theme=LIGHT)
    a, b, c = dots(document, LIGHT.work("gemm"))
    level, stair = sorted(joins(document), key=len)
    assert level == [pytest.approx(a, abs=0.02), pytest.approx(b, abs=0.02)]
    half = (b[0] + c[0]) / 2
    expected = [b, (half, b[1]), (half, c[1]), c]
    assert stair == [pytest.approx(point, abs=0.02) for point in expected]


def test_a_kernel_is_followed_by_one_of_its_own_family():
    rows = [
        ("split", "gemm", (64.0,)),
        ("reduce", "reduction", (64.0,)),
        ("whole", "gemm", (128.0,)),
        ("fill", "memset", (64.0, 128.0)),
    ]
    document = figure.choices(rows, parameter="size", theme=LIGHT)
    gemm = dots(document, LIGHT.work("gemm"))
    (stair,) = [points for points in joins(document) if len(points) == 4]
    assert (stair[0], stair[-1]) == (pytest.approx(gemm[0], abs=0.02), pytest.approx(gemm[1], abs=0.02))


def test_a_kernel_of_another_family_takes_over_where_none_of_its_own_begins():
    rows = [("dot", "reduction", (1.0,)), ("tile", "gemm", (2.0,))]
    assert len(joins(figure.choices(rows, parameter="size", theme=LIGHT))) == 1


def test_a_kernel_that_comes_back_is_joined_again():
    rows = [("a", "gemm", (1.0, 4.0)), ("b", "gemm", (2.0,))]
    assert [len(points) for points in joins(figure.choices(rows, parameter="size", theme=LIGHT))] == [4, 4]


def test_choices_state_where_each_kernel_ran():
    rows = [("nvjet 128x256", "gemm", (1024.0, 16777216.0, 0.5))]
    said = described(figure.choices(rows, parameter="size", theme=LIGHT))
    assert "Kernels by size. nvjet 128x256 (gemm): 0.500, 1,024, 16,777,216" in said


def test_values_without_a_place_on_a_logarithmic_axis_are_left_out_and_counted():
    values = (0.0, -4.0, math.nan, math.inf, 8.0)
    lost, kept = (figure.choices([("a", "gemm", given)], parameter="n", theme=LIGHT) for given in (values, (8.0,)))
    assert len(dots(lost, LIGHT.work("gemm"))) == len(dots(kept, LIGHT.work("gemm"))) == 1
    assert f"a (gemm): 8. {marks.NO_PLACE} 4." in described(lost)
    assert marks.NO_PLACE not in described(kept)
    assert drawn_text(lost) > drawn_text(kept) + 40


def test_the_numbers_of_many_values_do_not_touch():
    few = figure.choices([("a", "gemm", (1e6, 2e6))], parameter="n", theme=LIGHT)
    many = figure.choices([("a", "gemm", tuple(1e6 + 1e4 * n for n in range(101)))], parameter="n", theme=LIGHT)
    assert len(dots(many, LIGHT.work("gemm"))) == 101
    assert drawn_text(many) < drawn_text(few) + 15 * 9


# ── changes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def ring_and_dot(document, theme=LIGHT):
    """The places of a single row's two marks; the legend's come last."""
    rings = dots(document, theme.track)
    (ring,) = rings
    return ring, next(at for at in dots(document, theme.series[0]) if at != ring)


@pytest.mark.parametrize(("before", "after", "way"), [(10.0, 15.0, 1), (15.0, 10.0, -1), (10.0, 10.0, 0)])
def test_an_arrow_leads_from_the_ring_before_to_the_dot_after(before, after, way):
    document = figure.changes([("a", exact(before), exact(after))], sides=SIDES, theme=LIGHT)
    ring, dot = ring_and_dot(document)
    assert math.copysign(1, dot[0] - ring[0]) * (dot[0] != ring[0]) == way
    assert dot[1] > ring[1] + marks.MARK
    (head,) = shapes(document, fill=LIGHT.muted)[-1:] or [[]]
    nearest = min(head, key=lambda corner: math.dist(corner, dot))
    assert math.dist(nearest, dot) == pytest.approx(marks.MARK / 2, abs=0.05)


def test_changes_far_apart_are_drawn_on_a_logarithmic_axis():
    rows = [("a", exact(1.0), exact(10.0)), ("b", exact(100.0), exact(1000.0))]
    document = figure.changes(rows, sides=SIDES, theme=LIGHT)
    arrows = joins(document)
    runs = [end[0] - start[0] for start, end in arrows]
    assert runs[0] == pytest.approx(runs[1], abs=0.05)


def test_a_change_states_both_values_and_the_intervals_of_what_was_sampled():
    rows = [
        ("measured", sampled(64.1, 63.0, 65.2), sampled(38.2, 38.0, 38.5)),
        ("counted", exact(6.0), exact(2.0)),
    ]
    said = described(figure.changes(rows, sides=SIDES, theme=LIGHT))
    assert said.startswith("From eager to compiled.")
    assert said.endswith("measured: 64.1 µs → 38.2 µs, 63.0 … 65.2 µs → 38.0 … 38.5 µs; counted: 6.00 µs → 2.00 µs")


def test_only_what_was_sampled_has_a_whisker():
    document = figure.changes([("a", sampled(10.0, 8.0, 12.0), exact(20.0))], sides=SIDES, theme=LIGHT)
    (whisker,) = [
        points
        for points in shapes(document, fill="none", stroke=LIGHT.text)
        if len(points) == 2 and points[0][1] == points[1][1]
    ]
    ring, dot = ring_and_dot(document)
    unit = (dot[0] - ring[0]) / 10
    assert [x for x, _ in whisker] == pytest.approx([ring[0] - 2 * unit, ring[0] + 2 * unit], abs=0.05)
    assert whisker[0][1] == pytest.approx(ring[1], abs=0.02)


@pytest.mark.parametrize(
    ("unit", "pair", "expected"),
    [("count", (6.0, 2.0), "6 → 2"), ("bytes", (3 * 2.0**30, 2.0**20), "3.00 GiB → 1.00 MiB")],
)
def test_a_change_is_in_the_unit_asked_for(unit, pair, expected):
    document = figure.changes([("a", *map(exact, pair))], sides=SIDES, theme=LIGHT, unit=unit)
    assert f"a: {expected}" in described(document)


def test_a_change_with_a_side_that_is_no_number_is_left_out():
    rows = [
        ("lost", exact(math.nan), exact(1.0)),
        ("endless", exact(1.0), exact(math.inf)),
        ("kept", sampled(2.0, -math.inf, math.inf), exact(1.0)),
    ]
    document = figure.changes(rows, sides=SIDES, theme=LIGHT)
    assert len(dots(document, LIGHT.track)) == 1
    assert "lost" not in described(document)
    assert "endless" not in described(document)


# ── both ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@THEMES
@pytest.mark.parametrize("name", [*HOSTILE, LONG])
def test_hostile_and_endless_labels_are_drawn_as_text(name, theme):
    for document in (
        figure.choices([(name, name, (1.0, 2.0))], parameter=name, theme=theme, title=name, caption=name),
        figure.changes(
            [(name, exact(1.0), exact(2.0))], sides=(name, name), theme=theme, title=name, caption=name, unit="count"
        ),
    ):
        tags = {element.tag.rpartition("}")[2] for element in parsed(document).iter()}
        assert tags <= {"svg", "title", "desc", "defs", "style", "g", "path", "use", "pattern", "rect"}
        assert described(document).isprintable()


def test_a_long_label_takes_as_many_lines_as_its_row_holds():
    short, long = (figure.choices([("kernel " * n, "gemm", (1.0,))], parameter="n", theme=LIGHT) for n in (4, 10))
    assert drawn_text(long) - drawn_text(short) >= 6 * len("kernel")
    lines = lettering.wrap("kernel " * 40, 210, 8.5, most=2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert all(lettering.width(line, 8.5) <= 210 for line in lines)


@THEMES
def test_marks_of_nothing_are_still_a_picture(theme):
    for document in (
        figure.choices([], parameter="n", theme=theme),
        figure.choices([("a", "gemm", ())], parameter="n", theme=theme),
        figure.changes([], sides=SIDES, theme=theme),
    ):
        assert parsed(document).get("role") == "img"


@THEMES
def test_sixty_rows_are_drawn_and_described_to_the_last(theme):
    ran = [(f"kernel {n}", "gemm", (2.0**n,)) for n in range(60)]
    changed = [(f"kernel {n}", sampled(10.0 + n, 9.0, 80.0), sampled(5.0, 4.0, 6.0)) for n in range(60)]
    for document in (
        figure.choices(ran, parameter="n", theme=theme),
        figure.changes(changed, sides=SIDES, theme=theme),
    ):
        assert "kernel 59" in described(document)
        assert float(parsed(document).get("height").removesuffix("pt")) > 60 * marks.CHOICES_ROW
        assert len(document) < 400_000


def test_the_same_marks_give_the_same_bytes_and_the_themes_do_not():
    chosen = Choices(parameter="size", rows=(("a", "gemm", (64.0, 128.0)), ("b", "conv", (256.0,))))
    changed = Changes(unit="us", sides=SIDES, rows=(("a", sampled(9.0, 8.0, 10.0), exact(4.0)),))
    for drawing in (chosen, changed):
        picture = Picture(stem="x", title="t", alt="", caption="", drawing=drawing)
        first, second = dict(draw(picture)), dict(draw(picture))
        assert first == second
        assert first["x-light.svg"] != first["x-dark.svg"]
        assert LIGHT.background.encode() in first["x-light.svg"]
        assert figure.DARK.background.encode() in first["x-dark.svg"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 5 * 2.0**30), [n * 2.0**30 for n in range(6)]),
        ((0, 3 * 2.0**20), [n * 2.0**19 for n in range(7)]),
        ((2.0**20, 2.0**26), [2.0**n for n in range(20, 27)]),
        ((1.0, 2.0**33), [2.0**n for n in range(0, 31, 5)]),
    ],
)
def test_an_axis_of_bytes_is_round_in_the_unit_that_it_prints(values, expected):
    assert scale.around(values, start=0, end=1).ticks(8, "bytes") == pytest.approx(expected)


def test_an_axis_of_what_is_counted_has_no_fractions():
    canvas = Canvas(100, LIGHT)
    draw_axis(canvas, scale.around([2.0, 3.0], start=0, end=99), top=0, bottom=9, unit="count")
    assert drawn_text(canvas.svg(height=30, title="", description="")) == len("23")


def test_a_logarithmic_axis_ends_where_no_reader_could_follow():
    axis = scale.logarithmic([5e-324, 1e-200, 1.0, math.inf], start=0, end=300)
    assert axis.place(1e-200) == axis.place(1e-250) == 0
    assert 250 < axis.place(1.0) < 300
    assert 1 < len(axis.ticks(8)) <= 8


value = st.one_of(st.floats(min_value=0, max_value=1e9), st.just(math.nan), st.just(math.inf), st.just(-5.0))
families = st.one_of(st.sampled_from(sorted(GROUPS)), st.text(max_size=8))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.text(max_size=80), families, st.lists(value, max_size=6)), max_size=5),
    parameter=st.text(max_size=60),
)
def test_any_choices_are_a_well_formed_picture_that_stays_on_its_paper(rows, parameter):
    document = figure.choices(rows, parameter=parameter, theme=figure.DARK)
    for fill in set(figure.DARK.gpu.values()):
        assert all(0 <= x <= 680 and y >= 0 for x, y in dots(document, fill))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.text(max_size=80), value, value, value), max_size=5),
    unit=st.sampled_from(("us", "count", "bytes")),
)
def test_any_changes_are_a_well_formed_picture_that_stays_on_its_paper(rows, unit):
    pairs = [(label, sampled(before, before, other), exact(after)) for label, before, other, after in rows]
    document = figure.changes(pairs, sides=SIDES, theme=LIGHT, unit=unit)
    assert all(0 <= x <= 680 and y >= 0 for x, y in dots(document, LIGHT.series[0]))
