"""The colours of the figures: a frozen palette for light pages and one for dark pages.

The eight colours of GPU work stay apart under the three common kinds of colour blindness, and every text colour has a
contrast of at least 4.5 to what it stands on; the tests hold both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Group = Literal["gemm", "attention", "pointwise", "reduction", "copy", "memset", "comm", "other"]

GROUPS: Mapping[str, Group] = {
    "gemm": "gemm",
    "conv": "gemm",
    "attention": "attention",
    "pointwise": "pointwise",
    "rng": "pointwise",
    "optimizer": "pointwise",
    "reduction": "reduction",
    "softmax": "reduction",
    "norm": "reduction",
    "copy": "copy",
    "memcpy": "copy",
    "index": "copy",
    "sort": "copy",
    "memset": "memset",
    "comm": "comm",
    "other": "other",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of one page background, all as `#rrggbb`."""

    name: Literal["light", "dark"]
    background: str
    track: str  # the empty part of a lane, and the bands of a chart
    grid: str
    text: str
    muted: str  # captions, tick labels
    border: str  # arrows, and where steps begin and end
    inks: tuple[str, str]  # text inside a box: the better of the two
    step: str
    annotation: str
    ops: tuple[str, ...]  # from the outermost inwards, the last one for all deeper rows
    runtime: str
    driver: str
    sync: str
    overhead: str
    gpu: Mapping[Group, str]
    series: tuple[str, ...]  # of a chart, in order

    def work(self, family: str) -> str:
        """The colour of a family of GPU work; an unknown one is `other`."""
        return self.gpu[GROUPS[known(family)]]

    def ink(self, fill: str) -> str:
        """The text colour that reads best on `fill`."""
        return max(self.inks, key=lambda ink: contrast(ink, fill))


def known(family: str) -> str:
    """A family of GPU work as the figures name it: one that has no colour is `other`."""
    return family if family in GROUPS else "other"


def contrast(one: str, other: str) -> float:
    """The WCAG contrast ratio of two colours, 1 … 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


LIGHT = Theme(
    name="light",
    background="#ffffff",
    track="#f4f5f8",
    grid="#e1e4ea",
    text="#1c2230",
    muted="#5d6677",
    border="#8b93a3",
    inks=("#ffffff", "#14171f"),
    step="#e3e6ed",
    annotation="#dcd5f0",
    ops=("#a8bedf", "#b8cae5", "#c7d5eb"),
    runtime="#3f4a60",
    driver="#66738c",
    sync="#c4c8d0",
    overhead="#f0d9d4",
    gpu={
        "gemm": "#1f6fd6",
        "attention": "#d07fe0",
        "pointwise": "#f7b733",
        "reduction": "#2fb98a",
        "copy": "#9fd2f0",
        "memset": "#998036",
        "comm": "#b5280f",
        "other": "#59636f",
    },
    series=("#1f6fd6", "#d9820f", "#14936a", "#b04cc4", "#b5280f", "#59636f"),
)

DARK = Theme(
    name="dark",
    background="#1e2129",
    track="#272b35",
    grid="#363c49",
    text="#e6e9f0",
    muted="#a3acbd",
    border="#737d90",
    inks=("#ffffff", "#14171f"),
    step="#3a4150",
    annotation="#544a78",
    ops=("#4c6794", "#445c84", "#3d5275"),
    runtime="#c3cad8",
    driver="#9aa5ba",
    sync="#4d5464",
    overhead="#5c3f3b",
    gpu={
        "gemm": "#4a85f0",
        "attention": "#dc98e8",
        "pointwise": "#fdc93a",
        "reduction": "#4fd6a2",
        "copy": "#b4e4fb",
        "memset": "#b5a45c",
        "comm": "#c9421f",
        "other": "#70767e",
    },
    series=("#6a9ff5", "#f5a742", "#4fd6a2", "#dc98e8", "#ef7f62", "#a3acbd"),
)
