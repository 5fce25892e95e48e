"""Images of earlier builds: drawn once, as long as neither what they show nor the code that draws them changes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from foretrace import album
from foretrace.album import Album
from foretrace.page.models import CpuGpu, Picture
from foretrace.render import pictures
from foretrace.stats import exact

PICTURE = Picture(
    stem="reports/x/images/beside",
    title="Beside",
    alt="",
    caption="",
    drawing=CpuGpu(rows=(("64", exact(20.0), exact(10.0)),)),
)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stems that are really drawn."""
    found: list[str] = []
    draw = pictures.draw

    def watched(picture: Picture) -> object:
        found.append(picture.stem)
        return draw(picture)

    monkeypatch.setattr(pictures, "draw", watched)
    return found


def test_a_picture_is_drawn_once_and_is_the_same_each_time(tmp_path: Path, drawn: list[str]) -> None:
    first, again = (list(Album(tmp_path).draw(PICTURE)) for _ in range(2))

    assert first == again
    assert [address for address, _ in first] == [f"{PICTURE.stem}-{theme}.svg" for theme in ("light", "dark")]
    assert drawn == [PICTURE.stem]


def test_what_is_shown_under_another_address_is_drawn_once(tmp_path: Path, drawn: list[str]) -> None:
    moved = msgspec.structs.replace(PICTURE, stem="reports/y/images/z")

    assert [image for _, image in Album(tmp_path).draw(PICTURE)] == [image for _, image in Album(tmp_path).draw(moved)]
    assert next(address for address, _ in Album(tmp_path).draw(moved)) == "reports/y/images/z-light.svg"
    assert drawn == [PICTURE.stem]


@pytest.mark.parametrize(
    "change", [{"title": "Another"}, {"drawing": CpuGpu(rows=(("64", exact(20.0), exact(10.5)),))}]
)
def test_another_picture_is_drawn(tmp_path: Path, drawn: list[str], change: dict[str, object]) -> None:
    Album(tmp_path).draw(PICTURE)
    Album(tmp_path).draw(msgspec.structs.replace(PICTURE, **change))

    assert len(drawn) == 2


def test_other_code_draws_again(tmp_path: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Album(tmp_path).draw(PICTURE)
    monkeypatch.setattr(album, "_code", lambda: b"another version")
    Album(tmp_path).draw(PICTURE)

    assert len(drawn) == 2


def test_what_a_build_does_not_show_is_taken_away(tmp_path: Path) -> None:
    Album(tmp_path).draw(PICTURE)
    later = Album(tmp_path)
    later.draw(msgspec.structs.replace(PICTURE, title="Another"))
    later.prune()

    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_and_what_another_build_took_away_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "old").write_bytes(b"")
    unlink = Path.unlink

    def raced(path: Path, *, missing_ok: bool = False) -> None:
        unlink(path)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", raced)
    Album(tmp_path).prune()

    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_damaged_image_is_drawn_again(tmp_path: Path, drawn: list[str]) -> None:
    first = list(Album(tmp_path).draw(PICTURE))
    for path in tmp_path.iterdir():
        path.write_bytes(b"\x00")

    assert list(Album(tmp_path).draw(PICTURE)) == first
    assert len(drawn) == 2
