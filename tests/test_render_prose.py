"""An author's prose: its holes are filled, its reasons are kept, its mistakes are told with their line."""

from __future__ import annotations

import re

import pytest
import studies

from foretrace import page
from foretrace.errors import WrongUsage
from foretrace.page import Pages
from foretrace.render import Prose, markdown

WHERE = "scenarios/matmul_add/page.md.j2"
EXTENDS = '{% extends "scenario.md.j2" %}\n'


@pytest.fixture(scope="module")
def pages() -> Pages:
    return page.build(studies.study())


def rendered(pages: Pages, source: str, name: str = "matmul-add") -> str:
    return markdown(pages, prose={"matmul_add": Prose(source=source, where=WHERE)})[f"reports/{name}.md"]


def intro(pages: Pages, text: str) -> str:
    """What a text prints as a page's intro."""
    whole = rendered(pages, f"{EXTENDS}{{% block intro %}}>>>{text}<<<{{% endblock %}}")
    return whole.partition(">>>")[2].partition("<<<")[0]


@pytest.mark.parametrize(
    ("hole", "printed"),
    [
        ('value("dispatch_us", "64-eager")', "23.6 µs"),
        ('interval("dispatch_us", "64-eager")', "23.6 µs (20.7 … 26.6 µs)"),
        ('ratio("dispatch_us", "64-compile", "64-eager")', "1.43× (1.40 … 1.46×)"),
        ('launched("64-compile")', "1 kernel + 1 memcpy"),
        ('bound("4096-eager")', "compute"),
        ('kernels("4096-eager", family="gemm")', f"<code>{studies.GEMM}</code>"),
        ('link("64-eager")', '<a href="matmul-add/64-eager.html"><code>64-eager</code></a>'),
        ('measured("P1-03")', "2 kernels in each of 3 steps"),
        ("measured(2)", "2 kernels in each of 3 steps"),
        ("gpu", "Test GPU 9000"),
        ('state("P1-13")', "refuted"),
    ],
)
def test_a_hole_is_filled_from_the_facts(pages: Pages, hole: str, printed: str) -> None:
    assert intro(pages, f"{{{{ {hole} }}}}") == printed


def test_a_verdict_is_a_word_and_not_only_a_colour(pages: Pages) -> None:
    assert "refuted" in intro(pages, '{{ verdict("P1-13") }}')


def test_hostile_kernel_names_are_escaped_in_prose(pages: Pages) -> None:
    printed = intro(pages, '{{ kernels("64-eager") }}')

    assert "<script" not in printed
    assert "&#60;script&#62;" in printed
    assert "{{" not in printed


@pytest.mark.parametrize(
    ("hole", "gap"),
    [
        ('value("dispatch_us", "128-eager")', "value(dispatch_us, 128-eager)"),
        ('interval("step_us", "128-eager")', "interval(step_us, 128-eager)"),
        ('value("sync_us", "64-eager")', "value(sync_us, 64-eager)"),
        ('value("event_us", "64-eager")', "value(event_us, 64-eager)"),
        ('value("step_us", "8192-compile")', "value(step_us, 8192-compile)"),
        ('ratio("step_us", "8192-compile", "64-eager")', "ratio(step_us, 8192-compile, 64-eager)"),
        ('kernels("64-eager", family="conv")', "kernels(64-eager, conv)"),
        ('part("duration", "gate", "64-eager")', "part(duration, gate, 64-eager)"),
        ('share("gemm", "128-eager")', "share(gemm, 128-eager)"),
        ('geometry("registers", "attention", "64-eager")', "geometry(registers, attention, 64-eager)"),
        ('opaque("128-eager")', "opaque(128-eager)"),
        ('calls("aten::mm", "128-eager")', "calls(aten::mm, 128-eager)"),
        ('verdict("P9-99")', "verdict(P9-99)"),
        ('link("128-eager")', "link(128-eager)"),
    ],
)
def test_what_the_run_does_not_have_is_printed_as_such_and_listed_as_a_gap(pages: Pages, hole: str, gap: str) -> None:
    source = f"{EXTENDS}{{% block intro %}}>>>{{{{ {hole} }}}}<<<{{% endblock %}}"

    assert intro(pages, f"{{{{ {hole} }}}}") == "n/a"
    assert f"<code>matmul&#95;add: {gap}</code>" in rendered(pages, source, "index").replace(
        "matmul_add", "matmul&#95;add"
    )


def why(pages: Pages, arguments: str, name: str = "matmul-add") -> str:
    """The page after its mismatches, with a reason given for some of them."""
    source = f"{EXTENDS}{{% call why({arguments}) %}}\n    It adds *the bias*.\n{{% endcall %}}\n"
    page = rendered(pages, source, name)
    return page[page.index("## Unexplained") :] if name == "index" else page.partition("What came out otherwise")[2]


def unexplained(page: str) -> list[str]:
    """The statements that a page calls unexplained."""
    listed = page.partition('<ul class="ft-unexplained">')[2].partition("</ul>")[0]
    return re.findall(r"<a href=[^>]*>([^<]*(?:prediction \d|P1-\d\d))</a>", listed)


def test_a_reason_stands_with_its_mismatch_and_the_front_page_leads_to_it(pages: Pages) -> None:
    page, front = why(pages, '"P1-13"'), why(pages, '"P1-13"', "index")

    assert 'id="why-claim-P1-13"' in page
    assert "\nIt adds *the bias*.\n" in page
    assert unexplained(page) == ["prediction 3", "prediction 4"]
    assert '<a href="matmul-add.html#why-claim-P1-13">why</a>' in front
    assert unexplained(front) == ["Matmul and add, prediction 3", "Matmul and add, prediction 4"]


def test_a_mismatch_without_a_reason_is_called_unexplained(pages: Pages) -> None:
    said = rendered(pages, EXTENDS, "index")

    assert unexplained(said) == [
        "Matmul and add, prediction 3",
        "Matmul and add, prediction 4",
        "Matmul and add, P1-13",
    ]
    assert "3 of 3 that came out otherwise still wait for an explanation" in said


def test_unexplained_mismatches_come_before_explained_ones(pages: Pages) -> None:
    said = why(pages, "3", "index")

    assert said.index("prediction 4") < said.index("P1-13") < said.index("prediction 3")


def test_our_predictions_are_explained_by_number(pages: Pages) -> None:
    assert "It adds *the bias*." in why(pages, "3")


@pytest.mark.parametrize(
    "arguments",
    ['"P1-03"', '"P1-13", "undecided"', '"P1-13", on="H200"'],
    ids=["it held", "another verdict", "another device"],
)
def test_a_reason_that_does_not_apply_is_not_printed(pages: Pages, arguments: str) -> None:
    said = why(pages, arguments)

    assert "It adds" not in said
    assert unexplained(said) == ["prediction 3", "prediction 4", "P1-13"]


@pytest.mark.parametrize("arguments", ['"P1-13", "refuted"', '"P1-13", on="GPU 9000"'])
def test_a_reason_that_applies_is_printed(pages: Pages, arguments: str) -> None:
    assert "It adds *the bias*." in why(pages, arguments)


def test_a_reason_may_stand_inside_a_block_below_the_place_that_shows_it(pages: Pages) -> None:
    source = f'{EXTENDS}{{% block end %}}{{% call why("P1-13") %}}Below.{{% endcall %}}{{% endblock %}}'

    assert "Below." in rendered(pages, source).partition("What came out otherwise")[2]


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("\n# just text\n", "", "does not extend a page"),
        (f"{EXTENDS}\n{{% block itnro %}}x{{% endblock %}}", ", line 3", "no block `itnro`"),
        (f"{EXTENDS}\nlost text\n", ", line 2", "outside all blocks"),
        (f"{EXTENDS}{{{{ gpu }}}}", ", line 2", "outside all blocks"),
        (f"{EXTENDS}\n{{% block intro %}}", ", line 3", ""),
        (f"{EXTENDS}\n\n{{% block intro %}}{{{{ 1 +* 2 }}}}{{% endblock %}}", ", line 4", "unexpected"),
        (f"{EXTENDS}{{% block intro %}}\n{{{{ valeu(1) }}}}{{% endblock %}}", ", line 3", "'valeu' is undefined"),
        (
            f'{EXTENDS}{{% block intro %}}\n{{{{ value("dispatch_ms", "64-eager") }}}}{{% endblock %}}',
            ", line 3",
            "dispatch_ms",
        ),
        (
            f'{EXTENDS}{{% block intro %}}\n{{{{ value("dispatch_ms", "nowhere") }}}}{{% endblock %}}',
            ", line 3",
            "dispatch_ms",
        ),
        (f'{EXTENDS}{{% block intro %}}\n\n{{{{ value("dispatch_us") }}}}{{% endblock %}}', ", line 4", "TypeError"),
        (f"{EXTENDS}{{% block intro %}}\n{{{{ value }}}}{{% endblock %}}", ", line 3", "cannot print"),
    ],
    ids=[
        "no extends",
        "unknown block",
        "text outside",
        "hole outside",
        "not closed",
        "syntax",
        "unknown function",
        "unknown quantity",
        "unknown quantity and variant",
        "missing argument",
        "no text",
    ],
)
def test_a_mistake_is_told_with_file_and_line(pages: Pages, source: str, line: str, what: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        rendered(pages, source)

    assert str(caught.value).startswith(f"{WHERE}{line}: ")
    assert what in str(caught.value)
