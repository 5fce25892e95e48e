"""Reports on a larger collection of real and broken traces, where one lies beside the checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from foretrace import intake, page
from foretrace.errors import UnreadableInput
from foretrace.render import markdown, render

CORPUS = Path(os.environ.get("FORETRACE_CORPUS", ""))
LARGE = CORPUS / "traces" / "h200" / "gpt_large_rank0.json.gz"
MOST = 1_000_000  # bytes of a page, without the files beside it

pytestmark = pytest.mark.skipif(
    not (CORPUS / "traces" / "public").is_dir(), reason="FORETRACE_CORPUS names no folder of reference traces"
)


def given() -> Iterator[Path]:
    yield from sorted((CORPUS / "traces" / "public").glob("*.gz"))
    yield from sorted((CORPUS / "bug_inputs").glob("*.json"))


def pages(folder: Path, path: Path) -> page.Pages:
    return page.build(examined=intake.add(folder / "traces", [path], intake.Wish(name="x"), workspace=folder))


def test_every_trace_becomes_a_page_of_a_size_that_loads_or_is_refused_in_a_sentence(tmp_path: Path) -> None:
    sizes: dict[Path, int] = {}
    refused: dict[Path, str] = {}
    for number, path in enumerate(given()):
        try:
            texts = markdown(pages(tmp_path / str(number), path), prose={})
            sizes[path] = len(texts["reports/traces/x.md"].encode())
        except UnreadableInput as error:
            refused[path] = str(error)

    assert len(sizes) > 80
    assert {path: size for path, size in sizes.items() if size >= MOST} == {}
    assert {path: said for path, said in refused.items() if not said.startswith(f"{path}: ")} == {}


def test_a_trace_of_many_megabytes_is_a_page_of_less_than_one(tmp_path: Path) -> None:
    files = render(pages(tmp_path, LARGE), prose={})
    sizes = {path.suffix: len(data) for path, data in files.items() if "traces/x" in str(path)}
    shown = [len(data) for path, data in files.items() if "traces/x" in str(path) and path.suffix in {".md", ".svg"}]

    assert {".md", ".svg", ".csv", ".json"} == sizes.keys()
    assert sum(shown) < MOST
