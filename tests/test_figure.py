"""Figures: the same bytes everywhere, readable in both themes, and harmless whatever a trace calls its kernels."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

from foretrace import figure
from foretrace.facts import Arrow, Lane, Span, Timeline
from foretrace.figure import lettering
from foretrace.figure.theme import GROUPS, contrast
from foretrace.grammars.reading import Family

THEMES = pytest.mark.parametrize("theme", [figure.LIGHT, figure.DARK], ids=lambda theme: theme.name)
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
    (tmp_path / "matplotlibrc").write_text("svg.fonttype: none\nfont.size: 30\ntext.color: red\nsavefig.dpi: 300\n")
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
    said = root.findtext("{http://www.w3.org/2000/svg}title")
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
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "One step"
    assert "GPU stream 7" in root.findtext("{http://www.w3.org/2000/svg}desc")


def test_a_label_that_does_not_fit_is_cut_and_one_without_room_is_left_out():
    assert lettering.fit("matmul", 100, 8) == "matmul"
    cut = lettering.fit("cudaLaunchKernelExC", 50, 8)
    assert cut.endswith("…")
    assert lettering.width(cut, 8) <= 50
    assert lettering.fit("cudaLaunchKernelExC", 12, 8) == ""


def test_calls_nested_too_deep_to_draw_are_said_to_be_missing():
    deep = step_of(cpu=[span("op", 0, 90, depth=depth) for depth in range(40)])
    root = parsed(figure.timeline(deep, theme=figure.LIGHT))
    assert "28 calls nested deeper" in root.findtext("{http://www.w3.org/2000/svg}desc")
    assert float(root.get("height").removesuffix("pt")) < 500


@THEMES
def test_an_empty_timeline_is_still_a_picture(theme):
    empty = Timeline(end_us=0, lanes=(), arrows=(), borders_us=())
    assert parsed(figure.timeline(empty, theme=theme)).get("role") == "img"


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
