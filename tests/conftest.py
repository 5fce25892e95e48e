"""What all tests share: the option that writes golden files anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew; their tests still fail")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/<name>`; with `--update-golden` write it, and fail if it has changed."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        known = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != known and request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            pytest.fail(f"{name} was written anew; read the difference before you commit it")
        assert text == known, f"{name} differs; `pytest --update-golden` writes it anew"

    return compare
