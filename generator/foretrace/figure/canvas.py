"""A sheet to draw on in points, x to the right and y down: boxes, lines, dots and text go in, SVG bytes come out.

Shapes of one look become one path, so that a figure of hundreds of boxes stays small. Nothing depends on the reader's
fonts, on matplotlib's settings or on the time: the same drawing gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Literal

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from foretrace.figure import svg
from foretrace.figure.lettering import Weight, fit, font_file, printable, width
from foretrace.figure.theme import Theme

Point = tuple[float, float]
Align = Literal["left", "center", "right"]

_CAP_HEIGHT = 0.73  # of DejaVu Sans, in ems
_TOLD = 8000  # characters of a description: a chart of many rows states the values of each
_SETTINGS = {"svg.fonttype": "path", "svg.hashsalt": "foretrace", "hatch.linewidth": 0.6}
_MOVE, _LINE, _CURVE, _CLOSE = (int(code) for code in (Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CLOSEPOLY))
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in points."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The y of its horizontal centre line."""
        return self.top + self.height / 2


class Canvas:
    """A drawing of fixed width that grows downwards; later shapes cover earlier ones."""

    def __init__(self, width: float, theme: Theme) -> None:
        self.width, self.theme = width, theme
        self._downwards = Affine2D()
        self._artists: list[Callable[[], PathPatch | Text]] = []  # made when drawn, under our own settings

    def boxes(
        self, boxes: Iterable[Box], *, fill: str, edge: str | None = None, line: float = 0.5, hatch: str | None = None
    ) -> None:
        """Rectangles of one look; `hatch` is matplotlib's, drawn in the colour of the edge."""
        shapes = [
            ((b.left, b.top), (b.right, b.top), (b.right, b.bottom), (b.left, b.bottom), (b.left, b.top)) for b in boxes
        ]
        codes = (_MOVE, _LINE, _LINE, _LINE, _CLOSE)
        self._shapes(
            shapes, codes, facecolor=fill, edgecolor=edge or "none", linewidth=line if edge else 0, hatch=hatch
        )

    def polygons(self, polygons: Iterable[Sequence[Point]], *, fill: str) -> None:
        """Filled polygons of one look."""
        for size, alike in _by_length(polygons).items():
            codes = (_MOVE, *[_LINE] * (size - 1), _CLOSE)
            self._shapes([(*corners, corners[0]) for corners in alike], codes, facecolor=fill, linewidth=0)

    def lines(
        self, lines: Iterable[Sequence[Point]], *, colour: str, line: float, dash: tuple[float, ...] | None = None
    ) -> None:
        """Polylines of one look; `dash` is lengths in points, on and off in turn."""
        for size, alike in _by_length(lines).items():
            codes = (_MOVE, *[_LINE] * (size - 1))
            look = (0, dash) if dash else "solid"
            self._shapes(alike, codes, fill=False, edgecolor=colour, linewidth=line, linestyle=look)

    def curves(self, ends: Iterable[tuple[Point, Point]], *, colour: str, line: float) -> None:
        """Thin curves that leave their first end and reach their second one vertically."""
        shapes = [((x0, y0), (x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)) for (x0, y0), (x1, y1) in ends]
        codes = (_MOVE, _CURVE, _CURVE, _CURVE)
        self._shapes(shapes, codes, fill=False, edgecolor=colour, linewidth=line)

    def dots(self, centres: Iterable[Point], *, size: float, colour: str) -> None:
        """Round dots, `size` points across: lines of no length with round ends."""
        shapes = [(centre, centre) for centre in centres]
        codes = (_MOVE, _LINE)
        self._shapes(shapes, codes, fill=False, edgecolor=colour, linewidth=size, capstyle="round")

    def text(
        self,
        at: Point,
        text: str,
        *,
        size: float,
        colour: str | None = None,
        align: Align = "left",
        weight: Weight = "regular",
    ) -> None:
        """One line of text, its capitals centred on the y of `at`."""
        line, (x, y) = printable(text), at
        wide = width(line, size, weight)
        left = x - wide * {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        drawn = partial(
            Text,
            left,
            y + _CAP_HEIGHT * size / 2,
            line,
            color=colour or self.theme.text,
            fontproperties=FontProperties(fname=str(font_file(weight)), size=size),
            parse_math=False,
            usetex=False,
            transform=self._downwards,
        )
        if line:
            self._artists.append(drawn)

    def label(self, box: Box, text: str, *, size: float, fill: str, align: Align = "left", pad: float = 3) -> None:
        """The part of `text` that fits into `box`, readable on `fill`; nothing where nothing legible fits."""
        fitting = fit(text, box.width - 2 * pad, size)
        x = {"left": box.left + pad, "center": box.left + box.width / 2, "right": box.right - pad}[align]
        if fitting:
            self.text((x, box.middle), fitting, size=size, colour=self.theme.ink(fill), align=align)

    def svg(self, *, height: float, title: str, description: str) -> bytes:
        """The drawing as an SVG document of `height` points, with a title and a description for screen readers."""
        self._downwards.clear().scale(1, -1).translate(0, height)
        with style.context(_SETTINGS, after_reset=True):
            figure = Figure(figsize=(self.width / 72, height / 72), dpi=72, facecolor=self.theme.background)
            for order, make in enumerate(self._artists):
                artist = make()
                artist.set_zorder(order)
                figure.add_artist(artist)
            drawn = BytesIO()
            figure.savefig(drawn, format="svg", metadata=_NO_METADATA)
        return svg.tidy(drawn.getvalue(), title=printable(title), description=printable(description, most=_TOLD))

    def _shapes(self, shapes: Sequence[Sequence[Point]], codes: Sequence[int], **look: Any) -> None:
        vertices = [vertex for shape in shapes for vertex in shape]
        if vertices:
            path = Path(vertices, [*codes] * len(shapes))
            path.should_simplify = False
            self._artists.append(partial(PathPatch, path, transform=self._downwards, **look))


def _by_length(lines: Iterable[Sequence[Point]]) -> dict[int, list[Sequence[Point]]]:
    sorted_out: dict[int, list[Sequence[Point]]] = {}
    for line in lines:
        sorted_out.setdefault(len(line), []).append(line)
    return sorted_out
