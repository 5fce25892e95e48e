"""The glossary of kernel names says what the grammars say, all of it, and readings lead to it."""

from __future__ import annotations

import html

import pytest
import studies

from foretrace import grammars, page
from foretrace.page import glossary, readings
from foretrace.render import markdown


def test_every_grammar_has_a_section_with_its_words_terms_and_source() -> None:
    sections = {section.anchor: section for section in glossary.build().libraries}
    assert len(sections) == len(grammars.glossary())
    for grammar in grammars.glossary():
        found = sections[grammar.name.replace("_", "-")]
        assert found.title
        assert found.source.startswith("https://")
        assert {row[1].text for row in found.terms.rows} == {
            term.meaning for term in grammar.terms.values() if term.meaning
        }
        assert found.examples


@pytest.mark.parametrize(
    ("name", "anchor"),
    [
        (studies.GEMM, "reports/kernel-names.md#nvjet"),
        ("triton_poi_fused_add_mul_3", "reports/kernel-names.md#inductor"),
        ("nobody_knows_me", ""),
    ],
)
def test_a_reading_leads_to_the_rules_that_made_it(name: str, anchor: str) -> None:
    assert glossary.anchor(name) == anchor


def test_a_kernel_whose_name_was_read_links_to_the_glossary_from_its_variant() -> None:
    facts = studies.measured(64, "eager")
    explained = {reading.name: reading.explained for reading in readings.readings(facts.kernels)}
    assert explained[studies.GEMM] == "reports/kernel-names.md#nvjet"
    text = markdown(page.build(studies.study()), prose={})["reports/matmul-add/64-eager.md"]
    assert 'href="../kernel-names.html#nvjet"' in text


def test_names_and_code_in_the_glossary_are_text() -> None:
    text = markdown(page.build(studies.study()), prose={})["reports/kernel-names.md"]
    assert "<code>OpaqueType<2u></code>" in html.unescape(text)
    assert "OpaqueType<2u>" not in text
