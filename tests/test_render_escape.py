"""Any text comes through Markdown, HTML, attributes and Jinja as what it is."""

from __future__ import annotations

from html.parser import HTMLParser

import markdown
import pytest
import studies
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from foretrace.analysis.inspection import visible
from foretrace.render.escape import escape, heading, joined, printed

EXTENSIONS = ["admonition", "attr_list", "md_in_html", "tables", "toc", "pymdownx.details", "pymdownx.superfences"]
MARKED = st.text(alphabet=st.sampled_from("<>&|*_`[](){}#!-+=~\\\"'$:/.?;12 ab\n\t\r\x00\x1b\x02\x03\u202e\u2028é"))


class Outline(HTMLParser):
    """The tags of a page and its text, as a browser would have them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.titles: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.titles += [value or "" for key, value in attrs if key == "title"]

    def handle_data(self, data: str) -> None:
        self.text += data


def built(source: str) -> Outline:
    return Outline(markdown.markdown(source, extensions=EXTENSIONS))


def spelt(text: str) -> str:
    """What a reader should see, spaces as HTML shows them."""
    return " ".join(visible(text).split())


def holds(text: str) -> None:
    running = built(f"Before {escape(text)} after")
    code = built(f"Before <code>{escape(text)}</code> after")
    cell = built(
        f'<table><tbody>\n<tr><td title="{escape(text)}"><code>{escape(text)}</code></td></tr>\n</tbody></table>'
    )

    assert running.tags == ["p"]
    assert code.tags == ["p", "code"]
    assert cell.tags == ["table", "tbody", "tr", "td", "code"]
    assert " ".join(running.text.split()) == " ".join(f"Before {spelt(text)} after".split())
    assert " ".join(code.text.split()) == " ".join(f"Before {visible(text)} after".split())
    assert " ".join(cell.text.split()) == spelt(text)
    assert cell.titles == [visible(text)]


@pytest.mark.parametrize("name", studies.HOSTILE)
def test_a_hostile_name_is_printed_as_it_is_spelt(name: str) -> None:
    holds(name)


@given(MARKED)
def test_any_text_of_special_characters_is_printed_as_it_is_spelt(text: str) -> None:
    holds(text)


@given(st.text())
def test_any_text_is_printed_as_it_is_spelt(text: str) -> None:
    holds(text)


@pytest.mark.parametrize("name", studies.HOSTILE)
def test_a_name_at_the_start_of_a_line_starts_nothing(name: str) -> None:
    assert built(f"{escape(name)}").tags == ["p"]


@given(MARKED)
def test_no_text_opens_a_template(text: str) -> None:
    assert not any(mark in escape(text) for mark in ("{{", "{%", "{#", "{"))


@given(st.text())
def test_a_page_title_is_one_line_of_yaml_and_no_markup(text: str) -> None:
    assert yaml.safe_load(f'title: "{heading(text)}"')["title"] == heading(text)
    assert not set("<>&") & set(heading(text))


def test_markup_that_is_there_already_stays() -> None:
    assert escape(Markup("<b>")) == "<b>"
    assert joined(["<", Markup("<b>")], ", ") == "&#60;, <b>"


@pytest.mark.parametrize("value", [None, (), True])
def test_what_has_no_text_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="cannot print"):
        printed(value)
