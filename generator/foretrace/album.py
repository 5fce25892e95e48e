"""Images of earlier builds: a picture comes in, its files go out as they were drawn before, or as they are drawn now.

An image is a function of what it shows and of the code that draws it, so both make the name under which it is kept.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import msgspec

from foretrace import figure, units
from foretrace.files import write_atomically
from foretrace.page.models import Picture
from foretrace.render import pictures

FOLDER = ".foretrace_cache"


@dataclass
class Album:
    """The images in a folder; `prune` leaves those that were asked for."""

    folder: Path
    _used: set[Path] = field(default_factory=set)

    def draw(self, picture: Picture) -> Iterable[tuple[str, bytes]]:
        """The address and the bytes of the picture in each theme."""
        kept = self.folder / _key(picture)
        self._used.add(kept)
        with suppress(FileNotFoundError, msgspec.DecodeError):
            images = msgspec.msgpack.decode(kept.read_bytes(), type=dict[str, bytes])
            return [(picture.stem + ending, image) for ending, image in images.items()]
        drawn = list(pictures.draw(picture))
        endings = {address.removeprefix(picture.stem): image for address, image in drawn}
        write_atomically(kept, msgspec.msgpack.encode(endings))
        return drawn

    def prune(self) -> None:
        """Take away what this build did not show."""
        for path in self.folder.glob("*"):
            if path not in self._used and path.is_file():
                path.unlink(missing_ok=True)  # another build may have taken it away


def _key(picture: Picture) -> str:
    shown = msgspec.msgpack.encode((type(picture.drawing).__name__, picture.title, picture.drawing))
    return hashlib.sha256(_code() + shown).hexdigest()


@functools.cache
def _code() -> bytes:
    """A digest of everything that decides how a picture is drawn."""
    sources = sorted(Path(figure.__file__).parent.glob("*.py"))
    texts = [path.read_bytes() for path in (*sources, Path(pictures.__file__), Path(units.__file__))]
    return hashlib.sha256(b"\0".join([version("matplotlib").encode(), *texts])).digest()
