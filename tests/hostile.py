"""Texts that try to get out of a page, a table, an image, a file or a terminal, and traces that are full of them.

Whatever of them runs leaves a mark on the document: `MARK` as an attribute of its root, or a request to `host`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import builders

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "data-pwned"
RUN = f"document.documentElement.setAttribute('{MARK}','1')"


def names(host: str) -> list[str]:
    """Each of them an attack of another kind; requests go to `host`."""
    return [
        f"<script>{RUN}</script>",
        f'<img src=x onerror="{RUN}">',
        f"<svg onload={RUN}>",
        f'"><svg/onload={RUN}>',
        f"' onmouseover='{RUN}",
        f"</script><script>{RUN}</script>",
        f"</title></style></textarea><script>{RUN}</script>",
        f"-->\n<!--><script>{RUN}</script>",
        "<!-- a comment that never ends",
        "<![CDATA[ <b>cdata</b> ]]>",
        f"[click](javascript:{RUN})",
        f"](javascript:{RUN})",
        f'[x]: javascript:{RUN} "t"',
        f"![image](http://{host}/markdown.png)",
        f'<img src="http://{host}/html.png">',
        f'<link rel="stylesheet" href="http://{host}/own.css">',
        f"<style>body{{background:url(http://{host}/css.png)}}</style>",
        f"background:url(http://{host}/attribute.png)",
        f"<javascript:{RUN}>",
        f"<http://{host}/autolink>",
        "| a | table | row |\n|---|---|---|\n| 1 | 2 | 3 |",
        "</td></tr><tr><td>another row",
        "a\nb\r\nc\u2028d",
        "# a heading",
        "```\ncode\n```",
        "1. a list\n- of things",
        "*emphasis* __strong__ ~~struck~~ `code` ==mark== ^^ins^^ :smile:",
        '!!! danger "an admonition"',
        '??? danger "details"',
        "{: onclick=alert(1) .x #y }",
        "{{ 7 * 7 }}",
        "{% raw %}",
        "{# a comment",
        "{{ config.__class__ }}",
        "--8<-- '/proc/version'",
        "[TOC]",
        "\\<b\\> \\| \\`",
        "&lt;script&gt;&#x3C;script&#x3E;&amp;lt;b&amp;gt;&NewLine;&colon;",
        "\u202eright to left\u2066isolate",
        "\x1b[31mred\x1b]0;title\x07",
        "nul\x00 and \x08 and \x7f",
        "=HYPERLINK(0)",
        "+1+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "-2+3",
        "\t=1",
        "../../../etc/passwd",
        "..\\..\\x",
        "con.nul:stream?*",
        "${jndi:ldap://x}",
        "%3Cscript%3E",
        "void gemm<Tile<128, 64>, '\"&>(float*, int) [clone .x]",
        "x" * 3000,
        "😀 Ünïcödé 漢字",
    ]


def harmless(text: str) -> str:
    """A text of the same length and the same words, of letters, digits and single blanks alone."""
    return re.sub(r"[^A-Za-z0-9]", "x", text)


def document(host: str, spelt: Callable[[str], str] = str, *, rank: int = 0) -> dict[str, Any]:
    """A trace in which every text that its program could choose is hostile.

    Args:
        host: where requests go.
        spelt: `harmless` makes its twin of the same shape.
        rank: that it names.
    """
    chosen = [*map(spelt, names(host)), "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4"]
    events: list[dict[str, Any]] = []
    for number in range(2):
        start = 10_000 * number
        events.append(builders.step(number, at=start, us=9_000))
        for place, name in enumerate(chosen):
            at, correlation = start + 20 + 100 * place, 1000 * number + place + 1
            events += [
                builders.annotation(name, at=at, us=90),
                builders.op(name, at=at + 1, us=80),
                builders.launch(name, at=at + 2, us=5, correlation=correlation),
                builders.kernel(name, at=at + 10, us=20 + place % 7, correlation=correlation),
            ]
    for place, name in enumerate(chosen[:20]):
        events += [
            builders.memcpy(name, at=30_000 + 10 * place, us=3),
            {"ph": "M", "name": "thread_name", "pid": 100, "tid": place, "args": {"name": name}},
            {"ph": "M", "name": "process_name", "pid": place, "args": {"name": name}},
        ]
    gpu = {**builders.GPU, "name": chosen[0]}
    return builders.document(
        *events,
        deviceProperties=[gpu],
        traceName=chosen[1],
        distributedInfo={"rank": rank, "world_size": 2, "backend": chosen[2], "pg_config": chosen[3]},
    )
