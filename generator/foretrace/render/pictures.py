"""Pictures as files: a page's `Picture` comes in, its light and its dark SVG go out."""

from __future__ import annotations

from collections.abc import Iterator

from foretrace import figure
from foretrace.facts import Timeline
from foretrace.page.models import Changes, Choices, CpuGpu, Families, Picture, Rates, Samples, Sweep


def draw(picture: Picture) -> Iterator[tuple[str, bytes]]:
    """The address and the bytes of the picture in each theme."""
    for theme in (figure.LIGHT, figure.DARK):
        yield f"{picture.stem}-{theme.name}.svg", _drawn(picture, theme)


def _drawn(picture: Picture, theme: figure.Theme) -> bytes:
    match picture.drawing:
        case Timeline() as shown:
            return figure.timeline(shown, theme=theme, title=picture.title)
        case Samples() as shown:
            return figure.samples(shown.rows, theme=theme, title=picture.title, unit=shown.unit)
        case CpuGpu() as shown:
            return figure.cpu_gpu(shown.rows, theme=theme, title=picture.title)
        case Sweep() as shown:
            return figure.sweep(
                shown.series, parameter=shown.parameter, theme=theme, unit=shown.unit, title=picture.title
            )
        case Choices() as shown:
            return figure.choices(shown.rows, parameter=shown.parameter, theme=theme, title=picture.title)
        case Rates() as shown:
            return figure.rates(shown.rows, theme=theme, title=picture.title, unit=shown.unit)
        case Changes() as shown:
            return figure.changes(shown.rows, sides=shown.sides, theme=theme, title=picture.title, unit=shown.unit)
        case Families() as shown:
            return figure.families(shown.rows, theme=theme, title=picture.title)
