"""Figures: the same bytes everywhere, readable in both themes, and harmless whatever a trace calls its kernels."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretrace import figure
from foretrace.facts import Arrow, Lane, Span, Timeline
from foretrace.figure import lettering, scale
from foretrace.figure.theme import GROUPS, contrast
from foretrace.grammars.reading import Family
from foretrace.page.models import Series
from foretrace.stats import Summary, across, exact, summarise

THEMES = pytest.mark.parametrize("theme", [figure.LIGHT, figure.DARK], ids=lambda theme: theme.name)
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "]]>&amp;--><b",
    "$\\frac{broken$",
    "{{ 7*7 }}\nnew\tline",
    "\x00\x1b[31mred\x7f\u202e",
    "\U0001f9ff\ue000\ud800",
    "void k<T, std::array<char*, 3ul> >(int, " * 200,
)


def span(kind, start, dur, name="k", **more):
    return Span(kind=kind, start_us=start, dur_us=dur, name=name, label=more.pop("label", name), **more)


def step_of(*gpu, arrows=(), cpu=(), end=100.0, caption=""):
    """One step of 100 µs with a launch at 20 µs."""
    lanes = (
        Lane(title="Steps", role="steps", spans=(span("step", 0, end, "ProfilerStep#1", label="Step 1"),)),
        Lane(title="CPU", role="cpu", spans=tuple(cpu)),
        Lane(title="CUDA calls", role="launch", spans=(span("runtime", 20, 5, "cudaLaunchKernel"),)),
        Lane(title="GPU stream 7", role="gpu", spans=tuple(gpu)),
    )
    return Timeline(end_us=end, lanes=lanes, arrows=tuple(arrows), borders_us=(0.0, end), caption=caption)


def sampled(label, samples):
    """A row of samples with their summary."""
    return label, summarise(samples), samples


def parsed(document: bytes) -> ET.Element:
    return ET.fromstring(document)  # noqa: S314 - our own


def drawn_text(document: bytes) -> int:
    """How many glyphs a document shows."""
    return len(re.findall(rb"<use ", document))


# ── bytes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


PROGRAM = """
import sys
from foretrace import figure
from test_figure import EXAMPLE
sys.stdout.buffer.write(figure.timeline(EXAMPLE, theme=figure.DARK, title="One step"))
"""
EXAMPLE = step_of(
    span("kernel", 30, 40, "gemm", family="gemm"),
    span("memset", 71, 0.1, "Memset"),
    arrows=[Arrow(from_us=20, to_us=30, to_lane=3)],
    cpu=[span("op", 5, 50, "aten::mm", depth=1), span("overhead", 60, 20, "Activity Buffer Request")],
)


def test_the_same_timeline_gives_the_same_bytes_in_every_process_whatever_the_user_set_matplotlib_to(tmp_path):
    mine = (
        "svg.fonttype: none",
        "font.size: 30",
        "savefig.bbox: tight",
        "savefig.facecolor: red",
        "path.sketch: 1, 9, 2",
    )
    (tmp_path / "matplotlibrc").write_text("\n".join(mine))
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), **settings},
        ).stdout
        for seed, settings in (("1", {}), ("2", {"MATPLOTLIBRC": str(tmp_path), "SOURCE_DATE_EPOCH": "0"}))
    ]
    assert runs[0] == runs[1] == figure.timeline(EXAMPLE, theme=figure.DARK, title="One step")


def test_a_busy_timeline_of_150_spans_stays_below_200_kb():
    kernels = [
        span("kernel", 6.0 * i, 5.0, f"kernel_{i}", family=family)
        for i, family in zip(range(150), itertools.cycle(GROUPS), strict=False)
    ]
    arrows = [Arrow(from_us=20, to_us=each.start_us, to_lane=3) for each in kernels]
    assert len(figure.timeline(step_of(*kernels, arrows=arrows, end=900.0), theme=figure.LIGHT)) < 200_000


# ── hostile text ───────────────────────────────────────────────────────────────────────────────────────────────────


@THEMES
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_comes_out_as_drawn_text_and_never_as_markup(name, theme):
    shown = step_of(span("kernel", 0, 90, name), cpu=[span("op", 0, 90, name)], caption=name)
    root = parsed(figure.timeline(shown, theme=theme, title=name))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "defs", "style", "g", "path", "use", "pattern", "rect"}
    assert not [key for element in root.iter() for key in element.attrib if key.lower().startswith("on")]
    said = root.findtext(f"{SVG}title")
    assert said
    assert said.isprintable()


def test_a_dollar_sign_is_a_dollar_sign():
    plain, dollars = (figure.timeline(step_of(), theme=figure.LIGHT, title=title) for title in ("a x^2 b", "a $x^2$ b"))
    assert drawn_text(dollars) == drawn_text(plain) + 2


def test_a_character_that_the_font_lacks_is_drawn_as_a_replacement():
    assert lettering.printable("gemm\x1b\ue000\n\tend") == "gemm\ufffd\ufffd end"


# ── what is drawn ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_picture_says_what_it_shows_to_those_who_cannot_see_it():
    root = parsed(figure.timeline(EXAMPLE, theme=figure.LIGHT, title="One step"))
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "One step"
    assert "GPU stream 7" in root.findtext(f"{SVG}desc")


def test_a_label_that_does_not_fit_is_cut_and_one_without_room_is_left_out():
    assert lettering.fit("matmul", 100, 8) == "matmul"
    cut = lettering.fit("cudaLaunchKernelExC", 50, 8)
    assert cut.endswith("…")
    assert lettering.width(cut, 8) <= 50
    assert lettering.fit("cudaLaunchKernelExC", 12, 8) == ""


def test_calls_nested_too_deep_to_draw_are_said_to_be_missing():
    deep = step_of(cpu=[span("op", 0, 90, depth=depth) for depth in range(40)])
    root = parsed(figure.timeline(deep, theme=figure.LIGHT))
    assert "28 calls nested deeper" in root.findtext(f"{SVG}desc")
    assert float(root.get("height").removesuffix("pt")) < 500


@THEMES
def test_an_empty_timeline_is_still_a_picture(theme):
    empty = Timeline(end_us=0, lanes=(), arrows=(), borders_us=())
    assert parsed(figure.timeline(empty, theme=theme)).get("role") == "img"


# ── geometry: the picture is parsed back ───────────────────────────────────────────────────────────────────────────


def shapes(document: bytes, **look: str) -> list[list[tuple[float, float]]]:
    """The corners of every shape whose style has the given values: `fill="#1f6fd6"`."""
    wanted = {f"{key.replace('_', '-')}: {value}" for key, value in look.items()}
    found = []
    for path in parsed(document).iter(f"{SVG}path"):
        if wanted <= set((path.get("style") or "").split("; ")):
            for part in path.get("d").split("M")[1:]:
                numbers = [float(number) for number in re.findall(r"-?[\d.]+", part)]
                found.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return found


def boxes(document: bytes, fill: str) -> list[tuple[float, float, float]]:
    """Left, right and top of every box in a colour, legend swatches (9 points wide) left out."""
    corners = shapes(document, fill=fill)
    sides = [(min(x for x, _ in c), max(x for x, _ in c), min(y for _, y in c)) for c in corners if len(c) == 4]
    return [(left, right, top) for left, right, top in sides if abs(right - left - 9) > 0.01]


def test_a_box_is_as_wide_as_its_duration_and_never_too_narrow_to_see():
    light = figure.LIGHT
    document = figure.timeline(
        step_of(
            span("kernel", 10, 40, family="gemm"),
            span("kernel", 60, 20, family="attention"),
            span("memset", 90, 0.001),
        ),
        theme=light,
    )
    ((left, right, _),) = boxes(document, light.gpu["gemm"])
    ((other_left, other_right, _),) = boxes(document, light.gpu["attention"])
    ((tiny_left, tiny_right, _),) = boxes(document, light.gpu["memset"])
    assert (right - left + 0.5) / (other_right - other_left + 0.5) == pytest.approx(2, abs=0.01)
    assert (other_left - left) / (right - left + 0.5) == pytest.approx(50 / 40, abs=0.01)
    assert tiny_right - tiny_left == pytest.approx(0.8, abs=0.02)


def test_an_arrow_leads_from_the_launch_to_the_start_of_its_kernel():
    light = figure.LIGHT
    document = figure.timeline(EXAMPLE, theme=light)
    ((kernel, _, top),) = boxes(document, light.gpu["gemm"])
    ((launch, _, _),) = boxes(document, light.runtime)
    (curve,) = [
        points for points in shapes(document, fill="none", stroke=light.border, stroke_width="0.8") if len(points) == 4
    ]
    assert curve[0][0] == pytest.approx(launch, abs=0.02)
    assert curve[-1] == pytest.approx((kernel, top - 0.5), abs=0.02)
    (head,) = [points for points in shapes(document, fill=light.border) if len(points) == 3]
    assert curve[-1] in head


def test_work_that_reaches_beyond_the_shown_time_ends_at_the_edge():
    light = figure.LIGHT
    document = figure.timeline(
        step_of(span("kernel", -50, 500, family="comm"), span("kernel", 150, 9, family="gemm")), theme=light
    )
    ((left, right, _),) = boxes(document, light.gpu["comm"])
    ((track_left, track_right, _), *_) = boxes(document, light.track)
    assert (left, right) == pytest.approx((track_left, track_right), abs=0.6)
    assert not boxes(document, light.gpu["gemm"])


def test_waiting_is_grey_and_the_profilers_own_time_is_hatched():
    light = figure.LIGHT
    calls = (span("runtime", 30, 60, "cudaDeviceSynchronize"), span("driver", 2, 9, "cuLaunchKernelEx"))
    lanes = (
        Lane(title="CPU", role="cpu", spans=(span("overhead", 0, 50, "Activity Buffer Request"),)),
        Lane(title="CUDA calls", role="launch", spans=calls),
    )
    document = figure.timeline(Timeline(end_us=100, lanes=lanes, arrows=(), borders_us=()), theme=light)
    assert len(boxes(document, light.sync)) == 1
    assert len(boxes(document, light.driver)) == 1
    assert parsed(document).find(f".//{SVG}pattern") is not None
    assert b"fill: url(#" in document


def test_children_are_drawn_below_their_parents():
    light = figure.LIGHT
    nested = [span("annotation", 0, 90, "a"), span("op", 5, 60, "b", depth=1), span("op", 10, 20, "c", depth=2)]
    document = figure.timeline(step_of(cpu=nested), theme=light)
    tops = [boxes(document, fill)[0][2] for fill in (light.annotation, *light.ops[:2])]
    assert tops[0] < tops[1] < tops[2]


def test_a_label_stands_inside_its_box_or_beside_it_or_not_at_all():
    inside = step_of(span("kernel", 0, 90, "elementwise"))
    beside = step_of(span("kernel", 0, 1, "elementwise"))
    crowded = step_of(*(span("kernel", start, 0.9, "elementwise") for start in range(100)))
    drawn = [drawn_text(figure.timeline(shown, theme=figure.LIGHT)) for shown in (inside, beside, crowded)]
    assert drawn[0] == drawn[1]  # "elementwise" over "90.0 µs", and over "1.00 µs"
    assert drawn[2] < drawn[1]


text = st.text(max_size=60)
times = st.floats(min_value=-1e3, max_value=1e5, allow_nan=False)
durations = st.floats(min_value=0, max_value=1e5, allow_nan=False)
work = st.builds(
    Span,
    kind=st.sampled_from(("kernel", "memcpy", "memset")),
    start_us=times,
    dur_us=durations,
    name=text,
    label=text,
    family=st.one_of(st.sampled_from(sorted(GROUPS)), text),
)


@settings(max_examples=40, deadline=None)
@given(spans=st.lists(work, max_size=8), title=text, end=st.floats(min_value=0.001, max_value=1e6))
def test_any_timeline_is_a_well_formed_picture_that_stays_on_its_paper(spans, title, end):
    document = figure.timeline(step_of(*spans, end=end), theme=figure.DARK, title=title)
    root = parsed(document)
    width, height = (float(part) for part in root.get("viewBox").split()[2:])
    fills = {figure.DARK.work(span.family or span.kind) for span in spans}
    for left, right, top in (box for fill in fills for box in boxes(document, fill)):
        assert 0 <= left <= right <= width
        assert 0 <= top <= height


@given(text=st.text(), room=st.floats(min_value=0, max_value=300), size=st.floats(min_value=4, max_value=20))
def test_fitted_text_always_fits(text, room, size):
    assert lettering.width(lettering.fit(text, room, size), size) <= room + 1e-6
    assert all(lettering.width(line, size) <= room + 1e-6 for line in lettering.wrap(text, room, size))


# ── charts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def dots(document: bytes, colour: str) -> list[tuple[float, float]]:
    """The round dots in a colour; a path that only moves there draws none."""
    lines = shapes(document, stroke=colour, stroke_linecap="round")
    return [points[0] for points in lines if len(points) == 2]


@THEMES
def test_every_sample_is_a_dot_and_dots_of_equal_samples_do_not_cover_each_other(theme):
    document = figure.samples([sampled("eager", [20.0] * 50 + [22 + n / 100 for n in range(100)])], theme=theme)
    drawn = dots(document, theme.series[0])
    assert len(drawn) == len(set(drawn)) == 150
    assert len({x for x, _ in drawn}) == 101


def test_samples_that_span_decades_are_drawn_on_a_logarithmic_axis():
    light = figure.LIGHT
    near = [x for x, _ in dots(figure.samples([sampled("a", [10.0, 20.0, 40.0])], theme=light), light.series[0])]
    far = [x for x, _ in dots(figure.samples([sampled("a", [10.0, 100.0, 1000.0])], theme=light), light.series[0])]
    assert near[2] - near[1] == pytest.approx(2 * (near[1] - near[0]), abs=0.05)
    assert far[2] - far[1] == pytest.approx(far[1] - far[0], abs=0.05)


def test_a_sample_that_is_not_a_number_is_left_out_and_so_is_a_variant_without_any():
    light = figure.LIGHT
    rows = [
        ("a", exact(10.0), [10.0, float("nan"), float("inf")]),
        ("b", exact(1.0), []),
        ("c", summarise([11.0, 12.0]), [11.0, 12.0]),
    ]
    document = figure.samples(rows, theme=light)
    assert len(dots(document, light.series[0])) == 3
    said = parsed(document).findtext(f"{SVG}desc")
    assert "a: 10.0 µs (one sample)" in said
    assert "b:" not in said


def test_a_row_of_samples_states_the_median_and_interval_that_it_was_given():
    rounds = ([10.0, 10.0, 10.0, 10.0], [20.0])
    found = across(rounds)
    document = figure.samples([("a", found, [*rounds[0], *rounds[1]])], theme=figure.LIGHT)
    assert "a: 15.0 µs (10.0 … 20.0 µs)" in parsed(document).findtext(f"{SVG}desc")


def test_the_bars_of_cpu_and_gpu_compare_by_their_length():
    light = figure.LIGHT
    rows = [("small", exact(20.0), exact(5.0)), ("large", exact(20.0), exact(40.0))]
    document = figure.cpu_gpu(rows, theme=light)
    cpu, gpu = (boxes(document, light.series[place]) for place in (0, 1))
    lengths = [right - left for left, right, _ in (*cpu, *gpu)]
    assert lengths == pytest.approx([lengths[0], lengths[0], lengths[0] / 4, lengths[0] * 2], abs=0.05)


def test_a_short_bar_beside_a_very_long_one_can_still_be_seen():
    document = figure.cpu_gpu([("a", exact(20.0), exact(20_000.0))], theme=figure.LIGHT)
    ((left, right, _),) = boxes(document, figure.LIGHT.series[0])
    assert right - left > 20


def test_a_whisker_spans_the_interval_of_its_bar():
    light = figure.LIGHT
    found = Summary(count=9, median=20.0, low=15.0, high=30.0, minimum=1.0, maximum=90.0, mean=20.0)
    document = figure.cpu_gpu([("a", found, exact(10.0))], theme=light)
    ((left, right, _),) = boxes(document, light.series[0])
    lines = [points for points in shapes(document, fill="none", stroke=light.text) if len(points) == 2]
    (whisker,) = [points for points in lines if points[0][1] == points[1][1]]
    unit = (right - left) / 20
    assert [x for x, _ in whisker] == pytest.approx([left + 15 * unit, left + 30 * unit], abs=0.05)


def line_of(label, x, y):
    return Series(label=label, x=x, y=y, low=tuple(v * 0.9 for v in y), high=tuple(v * 1.1 for v in y))


def test_a_power_law_is_a_straight_line_in_a_sweep():
    light, sizes = figure.LIGHT, (64.0, 256.0, 1024.0)
    document = figure.sweep([line_of("GPU", sizes, tuple(x**3 / 1e5 for x in sizes))], parameter="size", theme=light)
    ((a, b, c),) = [points for points in shapes(document, fill="none", stroke=light.series[0]) if len(points) == 3]
    assert b == pytest.approx(((a[0] + c[0]) / 2, (a[1] + c[1]) / 2), abs=0.05)


def test_the_names_of_lines_that_end_at_one_point_stand_apart():
    light, sizes = figure.LIGHT, (64.0, 256.0, 1024.0)
    lines = [line_of(name, sizes, (1.0, 2.0, 3.0)) for name in ("CPU dispatch", "GPU busy", "Step time")]
    document = figure.sweep(lines, parameter="size", theme=light)
    keys = [max(shapes(document, fill=colour), key=lambda corners: corners[0][0]) for colour in light.series[:3]]
    middles = sorted(sum(y for _, y in corners) / len(corners) for corners in keys)
    assert min(b - a for a, b in itertools.pairwise(middles)) > 10


def test_a_sweep_leaves_out_what_a_logarithmic_axis_cannot_show():
    light = figure.LIGHT
    series = Series(label="a", x=(0.0, 1.0, 2.0, 4.0), y=(5.0, 5.0, 0.0, 6.0), low=(5.0,) * 4, high=(6.0,) * 4)
    document = figure.sweep([series], parameter="size", theme=light)
    (line,) = shapes(document, fill="none", stroke=light.series[0], stroke_width="1.6")
    assert len(line) == 2


@THEMES
@pytest.mark.parametrize("name", HOSTILE)
def test_charts_draw_hostile_labels_too(name, theme):
    for document in (
        figure.samples([sampled(name, [1.0, 2.0])], theme=theme, title=name, caption=name),
        figure.cpu_gpu([(name, exact(1.0), exact(2.0))], theme=theme, title=name, caption=name),
        figure.sweep([line_of(name, (1.0, 2.0), (1.0, 2.0))], parameter=name, theme=theme, title=name, caption=name),
    ):
        assert b"<script" not in document
        assert parsed(document).findtext(f"{SVG}desc").isprintable()


@THEMES
def test_a_chart_of_nothing_is_still_a_picture(theme):
    for document in (
        figure.samples([], theme=theme),
        figure.cpu_gpu([], theme=theme),
        figure.sweep([], parameter="size", theme=theme),
    ):
        assert parsed(document).get("role") == "img"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 1000.0, [1, 3, 10, 30, 100, 300, 1000]),
        (1.0, 1e9, [1.0, 100.0, 1e4, 1e6, 1e8]),
        (15.0, 70.0, [20, 50]),
        (42.0, 47.0, [42, 43, 44, 45, 46, 47]),
    ],
)
def test_a_logarithmic_axis_has_few_round_ticks(low, high, expected):
    assert scale.Scale(low=low, high=high, start=0, end=1, decades=True).ticks(8) == pytest.approx(expected)


def test_ticks_say_their_unit():
    linear = scale.linear(0, 1200, start=0, end=1)
    assert [scale.tick_label(tick, "us", axis=linear) for tick in (0, 250, 1000)] == ["0", "0.25 ms", "1 ms"]
    log = scale.logarithmic([1, 5000], start=0, end=1)
    assert [scale.tick_label(tick, "us", axis=log) for tick in (0.5, 20, 2000)] == ["500 ns", "20 µs", "2 ms"]


# ── colours ────────────────────────────────────────────────────────────────────────────────────────────────────────

COLOUR_BLIND = {  # Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def seen(colour, matrix):
    """A colour in OKLab × 100 as an eye with that matrix sees it: 2 is a just noticeable difference."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    red, green, blue = (min(max(sum(w * c for w, c in zip(row, linear, strict=True)), 0), 1) for row in matrix)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        100 * (0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short),
        100 * (1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short),
        100 * (0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short),
    )


@THEMES
@pytest.mark.parametrize("sight", COLOUR_BLIND)
def test_the_families_stay_apart_for_colour_blind_readers(theme, sight):
    for one, other in itertools.combinations(theme.gpu, 2):
        places = [seen(theme.gpu[group], COLOUR_BLIND[sight]) for group in (one, other)]
        assert sum((a - b) ** 2 for a, b in zip(*places, strict=True)) ** 0.5 > 6, (one, other)


@THEMES
def test_all_text_has_enough_contrast_to_what_it_stands_on(theme):
    for ground in (theme.background, theme.track):
        assert contrast(theme.text, ground) >= 4.5
        assert contrast(theme.muted, ground) >= 4.5
    fills = [theme.step, theme.annotation, *theme.ops, theme.runtime, theme.driver, theme.sync, *theme.gpu.values()]
    for fill in fills:
        assert contrast(theme.ink(fill), fill) >= 4.5, fill


def test_every_family_that_a_kernel_name_can_have_has_a_colour():
    assert set(GROUPS) == set(get_args(Family))
