"""Bars: rates beside their ceilings, and steps by families of GPU work, read back from the drawn shapes."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_figure import HOSTILE, SVG, THEMES, boxes, drawn_text, parsed, shapes

from foretrace import figure
from foretrace.figure import bars
from foretrace.figure.theme import GROUPS
from foretrace.page.models import Families, Picture, Rates
from foretrace.render.pictures import draw
from foretrace.stats import Summary, exact

LIGHT = figure.LIGHT
LONG = "a name that is longer than any column of labels will ever be, whatever the reader's screen " * 3


def sampled(median, low, high):
    return Summary(count=30, median=median, low=low, high=high, minimum=low, maximum=high, mean=median)


def described(document):
    return parsed(document).findtext(f"{SVG}desc")


def ceilings(document, theme=LIGHT):
    """The x of every ceiling's mark, from the top."""
    return [points[0][0] for points in shapes(document, fill="none", stroke=theme.text, stroke_width="2.4")]


# ── rates ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_rate_reaches_as_far_towards_its_ceiling_as_its_share_says():
    document = figure.rates([("a", exact(600.0), 800.0), ("b", exact(200.0), 400.0)], theme=LIGHT)
    bars_drawn = boxes(document, LIGHT.series[0])
    shares = [(right - left) / (at - left) for (left, right, _), at in zip(bars_drawn, ceilings(document), strict=True)]
    assert shares == pytest.approx([0.75, 0.5], abs=0.001)


def test_a_rate_states_its_interval_and_its_share_of_the_ceiling():
    said = described(figure.rates([("matmul", sampled(712.0, 705.0, 716.0), 788.0)], theme=LIGHT))
    assert "matmul: 712 TFLOP/s (705 … 716), 90.4 % of 788 TFLOP/s" in said


def test_an_interval_is_in_the_unit_of_its_rate():
    said = described(figure.rates([("a", sampled(2500.0, 2400.0, 2600.0), None)], theme=LIGHT, unit="us"))
    assert "2.50 ms (2.40 … 2.60)" in said


@pytest.mark.parametrize("ceiling", [None, 0.0, -1.0, math.inf, math.nan])
def test_a_rate_without_a_ceiling_has_no_mark_and_says_so(ceiling):
    document = figure.rates([("a", exact(600.0), ceiling), ("b", exact(600.0), 700.0)], theme=LIGHT)
    assert len(ceilings(document)) == 1
    assert "a: 600 TFLOP/s, no ceiling known; b: 600 TFLOP/s, 85.7 % of 700 TFLOP/s" in described(document)


def test_ceilings_twenty_times_apart_share_a_linear_axis_and_rates_further_apart_a_logarithmic_one():
    near = figure.rates([("a", exact(700.0), 1000.0), ("b", exact(45.0), 50.0)], theme=LIGHT)
    far = figure.rates([("a", exact(700.0), 1000.0), ("b", exact(1.0), 50.0)], theme=LIGHT)
    (left, right, _), (_, shorter, _) = boxes(near, LIGHT.series[0])
    assert (right - left) / (shorter - left) == pytest.approx(700 / 45, rel=0.01)
    (left, right, _), (_, shorter, _) = boxes(far, LIGHT.series[0])
    assert shorter - left > 10
    assert (right - left) / (shorter - left) < 50


@THEMES
def test_an_interval_is_set_off_the_bar_that_it_stands_on(theme):
    document = figure.rates([("a", sampled(600.0, 500.0, 700.0), None)], theme=theme)
    rim, whisker = (shapes(document, fill="none", stroke=colour) for colour in (theme.background, theme.text))
    assert rim == whisker
    assert document.index(f"stroke: {theme.background}".encode()) < document.index(f"stroke: {theme.text}".encode())


def test_a_rate_that_is_no_number_is_left_out():
    rows = [("lost", exact(math.nan), 5.0), ("too much", exact(math.inf), 5.0), ("kept", exact(4.0), 5.0)]
    document = figure.rates(rows, theme=LIGHT)
    assert len(boxes(document, LIGHT.series[0])) == 1
    assert "lost" not in described(document)


def test_an_interval_without_an_end_stays_on_the_paper():
    document = figure.rates([("a", sampled(4.0, 3.0, math.inf), 5.0)], theme=LIGHT)
    drawn = shapes(document, fill="none", stroke=LIGHT.text)
    assert len(drawn) > 1
    assert all(x <= 680 for points in drawn for x, _ in points)


def test_a_rate_of_endless_digits_leaves_room_for_the_bars():
    document = figure.rates([("a", sampled(1e300, 1e299, 1.1e300), 1e301)], theme=LIGHT)
    ((left, right, _),) = boxes(document, LIGHT.series[0])
    assert right - left > 30
    assert drawn_text(document) < 300


# ── families ───────────────────────────────────────────────────────────────────────────────────────────────────────


def hatched(document):
    """How many shapes have a pattern, its own tile left out."""
    return document.count(b"fill: url(#")


def test_the_parts_of_a_step_compare_by_their_length_and_those_of_all_steps_on_one_scale():
    rows = [("a", (("gemm", 600.0), ("attention", 200.0))), ("b", (("gemm", 300.0), ("attention", 100.0)))]
    document = figure.families(rows, theme=LIGHT)
    lengths = [
        right - left for family in ("gemm", "attention") for left, right, _ in boxes(document, LIGHT.work(family))
    ]
    assert [length + bars.SEAM for length in lengths] == pytest.approx(
        [(lengths[0] + bars.SEAM) * part / 6 for part in (6, 3, 2, 1)], abs=0.05
    )


def test_a_part_starts_where_the_one_before_it_ends_in_the_same_order_in_every_row():
    rows = [("a", (("gemm", 600.0), ("attention", 200.0))), ("b", (("attention", 300.0), ("gemm", 100.0)))]
    document = figure.families(rows, theme=LIGHT)
    for (_, end, _), (start, _, _) in zip(
        boxes(document, LIGHT.work("gemm")), boxes(document, LIGHT.work("attention")), strict=True
    ):
        assert end + bars.SEAM == pytest.approx(start, abs=0.02)


@THEMES
def test_families_of_one_colour_differ_by_their_hatching(theme):
    alike = [family for family, group in GROUPS.items() if group == "copy"]
    document = figure.families([("a", [(family, 100.0) for family in alike])], theme=theme)
    patterns = [element.get("id") for element in parsed(document).iter(f"{SVG}pattern")]
    assert len(set(patterns)) == len(alike) - 1
    assert hatched(document) == 2 * (len(alike) - 1)  # the part, and its entry in the legend
    assert hatched(figure.families([("a", [("gemm", 1.0), ("copy", 1.0)])], theme=theme)) == 0


def test_there_is_a_hatching_for_every_family_of_a_colour():
    assert max(Counter(GROUPS.values()).values()) <= len(bars.HATCHES) == len(set(bars.HATCHES))


def test_steps_far_apart_are_shown_by_their_shares_and_the_picture_says_so():
    near = figure.families([("a", [("gemm", 1000.0)]), ("b", [("gemm", 25.0)])], theme=LIGHT)
    far = figure.families([("a", [("gemm", 1000.0)]), ("b", [("gemm", 5.0), ("comm", 5.0)])], theme=LIGHT)
    (left, right, _), (_, shorter, _) = boxes(near, LIGHT.work("gemm"))
    assert (shorter - left + bars.SEAM) / (right - left + bars.SEAM) == pytest.approx(1 / 40, abs=0.001)
    (left, right, _), (_, shorter, _) = boxes(far, LIGHT.work("gemm"))
    assert (shorter - left + bars.SEAM) / (right - left + bars.SEAM) == pytest.approx(1 / 2, abs=0.001)
    same_caption = [
        figure.families(rows, theme=LIGHT, caption="as asked")
        for rows in ([("a", [("gemm", 9.0)])], [("a", [("gemm", 9.0)]), ("b", [("gemm", 900.0)])])
    ]
    assert drawn_text(same_caption[1]) > drawn_text(same_caption[0]) + 80


def test_a_step_states_its_total_and_each_familys_time_and_share_the_longest_first():
    said = described(figure.families([("train", (("copy", 16.0), ("gemm", 64.0)))], theme=LIGHT))
    assert "train: 80.0 µs (gemm 64.0 µs or 80.0 %, copy 16.0 µs or 20.0 %)" in said


def test_a_step_without_gpu_work_keeps_its_row():
    assert "idle: 0 µs" in described(figure.families([("idle", ()), ("busy", [("gemm", 5.0)])], theme=LIGHT))


def test_a_step_with_a_time_that_is_no_number_is_left_out():
    rows = [("lost", [("gemm", math.nan), ("copy", 3.0)]), ("kept", [("gemm", 5.0), ("copy", -1.0)])]
    document = figure.families(rows, theme=LIGHT)
    assert "lost" not in described(document)
    assert "kept: 5.00 µs (gemm 5.00 µs or 100 %)" in described(document)


def test_a_part_too_short_to_be_seen_is_drawn_over_its_neighbour():
    document = figure.families([("a", [("comm", 0.01), ("gemm", 1000.0)]), ("b", [("comm", 2000.0)])], theme=LIGHT)
    left, right, _ = min(boxes(document, LIGHT.work("comm")), key=lambda box: box[1] - box[0])
    assert right - left == pytest.approx(bars.NARROWEST, abs=0.02)
    first, second = (document.index(f"fill: {LIGHT.work(family)}".encode()) for family in ("gemm", "comm"))
    assert first < second


def test_an_unknown_family_is_other():
    said = described(figure.families([("a", [("<b>new</b>", 5.0), ("other", 5.0)])], theme=LIGHT))
    assert "a: 10.0 µs (other 10.0 µs or 100 %)" in said


# ── both ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@THEMES
@pytest.mark.parametrize("name", [*HOSTILE, LONG])
def test_hostile_and_endless_labels_are_drawn_as_text(name, theme):
    for document in (
        figure.rates([(name, exact(1.0), 2.0)], theme=theme, title=name, caption=name),
        figure.families([(name, [(name, 1.0), ("gemm", 2.0)])], theme=theme, title=name, caption=name),
    ):
        tags = {element.tag.rpartition("}")[2] for element in parsed(document).iter()}
        assert tags <= {"svg", "title", "desc", "defs", "style", "g", "path", "use", "pattern", "rect"}
        assert described(document).isprintable()


@THEMES
def test_bars_of_nothing_are_still_a_picture(theme):
    for document in (figure.rates([], theme=theme), figure.families([], theme=theme)):
        assert parsed(document).get("role") == "img"


@THEMES
def test_sixty_rows_are_drawn_and_described_to_the_last(theme):
    rates = [(f"row {n}", sampled(100.0 + n, 99.0, 200.0), 300.0) for n in range(60)]
    steps = [(f"row {n}", [("gemm", 100.0 + n), ("copy", 30.0)]) for n in range(60)]
    for document in (figure.rates(rates, theme=theme), figure.families(steps, theme=theme)):
        assert "row 59: 1" in described(document)
        assert float(parsed(document).get("height").removesuffix("pt")) > 60 * bars.ROW
        assert len(document) < 400_000


def test_the_same_bars_give_the_same_bytes_and_the_themes_do_not():
    rows = Families(rows=(("a", (("gemm", 9.0), ("conv", 2.0), ("rng", 1.0), ("norm", 1.0))),))
    rated = Rates(unit="gbps", rows=(("a", sampled(3000.0, 2900.0, 3100.0), 4800.0),))
    for drawing in (rows, rated):
        picture = Picture(stem="x", title="t", alt="", caption="", drawing=drawing)
        first, second = dict(draw(picture)), dict(draw(picture))
        assert first == second
        assert first["x-light.svg"] != first["x-dark.svg"]
        assert LIGHT.background.encode() in first["x-light.svg"]
        assert figure.DARK.background.encode() in first["x-dark.svg"]


number = st.floats(allow_nan=True, allow_infinity=True)
time = st.one_of(st.floats(min_value=0, max_value=1e9), st.just(math.nan), st.just(math.inf), st.just(-5.0))
family = st.one_of(st.sampled_from(sorted(GROUPS)), st.text(max_size=8))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.text(max_size=80), st.lists(st.tuples(family, time), max_size=6)), max_size=5),
    title=st.text(max_size=60),
)
def test_any_families_are_a_well_formed_picture_that_stays_on_its_paper(rows, title):
    document = figure.families(rows, theme=figure.DARK, title=title)
    for fill in set(figure.DARK.gpu.values()):
        for left, right, _ in boxes(document, fill):
            assert 0 <= left <= right <= 680


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.text(max_size=80), time, st.one_of(st.none(), time)), max_size=5),
    title=st.text(max_size=60),
)
def test_any_rates_are_a_well_formed_picture_that_stays_on_its_paper(rows, title):
    document = figure.rates([(label, exact(rate), ceiling) for label, rate, ceiling in rows], theme=LIGHT, title=title)
    assert all(0 <= x <= 680 for x in ceilings(document))
    for left, right, _ in boxes(document, LIGHT.series[0]):
        assert 0 <= left <= right <= 680
