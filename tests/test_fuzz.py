"""A few hundred damaged traces and names, always the same: each ends in an answer or in one sentence, soon."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz import target
from fuzz.mutation import mutate

SEEDS = target.seeds()
MUTATIONS = 400
MOST_BYTES = 20_000


@pytest.mark.parametrize("path", sorted(target.CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_corpus_is_read_or_refused_as_its_names_say(path: Path) -> None:
    refused = path.name in ("cut.json", "cut.json.gz", "two_documents.json")
    assert target.hold(path.read_bytes()) != refused


@pytest.mark.parametrize("part", range(4))
def test_no_damage_ends_in_anything_but_an_answer_or_a_sentence(part: int) -> None:
    random = Random(part)  # noqa: S311 - for damage, not for secrets
    read = [target.hold(mutate(SEEDS, random, most=MOST_BYTES)) for _ in range(MUTATIONS // 4)]
    assert 0.2 < sum(read) / len(read) < 0.95, "damage that is always or never refused reaches little of the reader"
