"""The decoder on a table of real names, where one is at hand: what it tells is right, and it tells nearly all."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from foretrace import grammars

CORPUS = os.environ.get("FORETRACE_CORPUS", "")
TABLE = Path(CORPUS) / "kernel_names.tsv"
pytestmark = pytest.mark.skipif(
    not CORPUS or not TABLE.exists(), reason="FORETRACE_CORPUS names no folder with kernel_names.tsv"
)
UNSCORED = {"truncated", "bias_capable", "splitk_capable"}


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf8") as table:
        return list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))


def spelled(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(sorted(map(str, value)))
    return str(value).lower()


def wanted(text: str) -> str:
    return ",".join(sorted(text.lower().split(",")))


def test_families_and_fields_of_real_names_are_right() -> None:
    right = missing = wrong = families = counted = 0
    for row in rows():
        reading = grammars.decode(row["name"])
        if row["family"] not in ("other", "triton"):
            counted += 1
            families += reading.family == {"copy/cat": "copy"}.get(row["family"], row["family"])
        for part in filter(None, row["expected_fields"].split(";")):
            key, _, want = part.partition("=")
            if key in UNSCORED:
                continue
            if key not in reading.fields:
                missing += 1
            elif spelled(reading.fields[key]) == wanted(want):
                right += 1
            else:
                wrong += 1
    total = right + missing + wrong
    assert families / counted >= 0.97
    assert right / total >= 0.95
    assert wrong / total <= 0.01


def test_no_real_name_is_claimed_twice() -> None:
    assert [row["name"] for row in rows() if len(grammars.claimants(row["name"])) > 1] == []


def test_tokens_of_every_real_name_join_to_it() -> None:
    for row in rows():
        assert "".join(token.text for token in grammars.tokens(row["name"])) == row["name"]


def test_no_two_real_names_share_a_label() -> None:
    names = [row["name"] for row in rows()]
    labels = grammars.labels(names)
    assert len(set(labels.values())) == len(set(names))
    assert max(map(len, labels.values())) <= 40
