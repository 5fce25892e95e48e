"""The rendered pages as a whole: golden texts, complete files, equal bytes."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
import studies

from foretrace import page
from foretrace.render import Prose, render

if TYPE_CHECKING:
    from collections.abc import Callable

PROSE = """{% extends "scenario.md.j2" %}

{% block intro %}
One product and one sum: the CPU hands a step of 64 over in {{ interval("dispatch_us", "64-eager") }}.
{% endblock %}

{% call why("P1-13") %}
Compiled, {{ gpu }} launches {{ kernels("4096-compile", family="gemm") }}, which adds the bias itself.
{% endcall %}
"""
GOLDEN = {
    "front.md": "reports/index.md",
    "scenario.md": "reports/matmul-add.md",
    "variant.md": "reports/matmul-add/64-eager.md",
    "claims.md": "reports/claims.md",
    "failed.md": "reports/matmul-add/8192-compile.md",
}


def rendered() -> dict[PurePosixPath, bytes]:
    pages = page.build(studies.study(), timelines=studies.TIMELINES)
    return render(pages, prose={"matmul_add": Prose(source=PROSE, where="scenarios/matmul_add/page.md.j2")})


@pytest.fixture(scope="module")
def files() -> dict[PurePosixPath, bytes]:
    return rendered()


@pytest.mark.parametrize("name", GOLDEN)
def test_a_page_is_the_golden_one(
    files: dict[PurePosixPath, bytes], golden: Callable[[str, str], None], name: str
) -> None:
    golden(name, files[PurePosixPath(GOLDEN[name])].decode())


def test_the_same_study_gives_the_same_bytes(files: dict[PurePosixPath, bytes]) -> None:
    assert rendered() == files


def test_every_image_of_a_page_is_there_in_light_and_dark(files: dict[PurePosixPath, bytes]) -> None:
    shown = {
        PurePosixPath(path).parent / source
        for path, data in files.items()
        for source in re.findall(
            r'<img src="([^"#]+)#only-(?:light|dark)"', data.decode() if path.suffix == ".md" else ""
        )
    }
    drawn = {path for path in files if path.suffix == ".svg"}

    assert {str(path).removesuffix("-light.svg") for path in shown if "light" in path.name} == {
        str(path).removesuffix("-dark.svg") for path in shown if "dark" in path.name
    }
    assert shown == drawn


def test_no_image_runs_a_script_or_fetches_anything(files: dict[PurePosixPath, bytes]) -> None:
    for path, data in files.items():
        if path.suffix == ".svg":
            assert b"<script" not in data, path
            assert not re.search(rb'(?:href|src)="(?!#)', data), path


def test_all_quantities_are_in_one_csv(files: dict[PurePosixPath, bytes]) -> None:
    rows = list(csv.DictReader(io.StringIO(files[PurePosixPath("reports/matmul-add/quantities.csv")].decode())))
    found = {(row["variant"], row["quantity"]): float(row["median"]) for row in rows}
    known = studies.measured(64, "eager")

    assert found["64-eager", "dispatch_us"] == known.quantities["dispatch_us"].median
    assert not any(variant == "8192-compile" for variant, _ in found)
    assert not any(quantity == "sync_us" for _, quantity in found)


def test_a_variants_facts_are_in_one_json_file(files: dict[PurePosixPath, bytes]) -> None:
    found = json.loads(files[PurePosixPath("reports/matmul-add/64-eager.facts.json")])

    assert next(kernel["name"] for kernel in found["kernels"]) == studies.GEMM
    assert found["withheld"] == {"sync_us": "the trace has no closing synchronisation"}


def test_no_page_prints_what_is_not_known(files: dict[PurePosixPath, bytes]) -> None:
    for path, data in files.items():
        if path.suffix == ".md":
            assert not re.search(r"\b(None|nan|inf|Undefined)\b", data.decode()), path
