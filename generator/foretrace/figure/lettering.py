"""Text that is safe to draw: any string in, one printable line out, measured in points and cut to a width.

All lettering is DejaVu Sans as matplotlib ships it, so that a figure is the same on every machine.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import matplotlib as mpl
from matplotlib.ft2font import FT2Font

Weight = Literal["regular", "bold"]

_FILES: dict[Weight, str] = {"regular": "DejaVuSans.ttf", "bold": "DejaVuSans-Bold.ttf"}
_MEASURED_AT = 1000  # points; widths scale linearly
_LONGEST = 400  # characters: more than any figure is wide


def font_file(weight: Weight = "regular") -> Path:
    """The font file that matplotlib ships."""
    return Path(mpl.get_data_path()) / "fonts" / "ttf" / _FILES[weight]


def printable(text: str, *, most: int = _LONGEST) -> str:
    """`text` on one line of at most `most` characters, all of which the font has.

    Any other character is drawn as `\N{REPLACEMENT CHARACTER}`.
    """
    line = " ".join(text[: 4 * most].split())[:most]
    known = _characters()
    return "".join(c if c.isprintable() and ord(c) in known else "\N{REPLACEMENT CHARACTER}" for c in line)


def width(text: str, size: float, weight: Weight = "regular") -> float:
    """How wide a printable line is, in points."""
    return sum(_advance(character, weight) for character in text) * size


def fit(text: str, room: float, size: float, weight: Weight = "regular") -> str:
    """`text` if it fits into `room` points, else its beginning and `…`, or nothing where four characters do not fit."""
    line = printable(text)
    if width(line, size, weight) <= room:
        return line
    room -= width("…", size, weight)
    kept = 0
    for character in line:
        room -= width(character, size, weight)
        if room < 0:
            break
        kept += 1
    return f"{line[:kept].rstrip()}…" if kept >= 4 else ""


def wrap(text: str, room: float, size: float, *, most: int | None = None) -> list[str]:
    """`text` in lines of at most `room` points, broken between words; a word that is too long is cut.

    Of more than `most` lines the last one ends in `…`.
    """
    lines: list[str] = []
    for word in printable(text).split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and width(joined, size) <= room:
            lines[-1] = joined
        elif len(lines) == most:
            lines[-1] = fit(joined, room, size)
            break
        else:
            lines.append(fit(word, room, size))
    return lines


@cache
def _font(weight: Weight) -> FT2Font:
    font = FT2Font(str(font_file(weight)))  # our own: matplotlib resizes those that it shares
    font.set_size(_MEASURED_AT, 72)
    return font


@cache
def _advance(character: str, weight: Weight) -> float:
    """The width of a character in ems."""
    return _font(weight).load_char(ord(character)).linearHoriAdvance / 65536 / _MEASURED_AT


@cache
def _characters() -> frozenset[int]:
    return frozenset(_font("regular").get_charmap()) & frozenset(_font("bold").get_charmap())
