"""The one escape of every text that a page prints: any string in, text that HTML, Markdown and Jinja leave alone out.

Whatever an HTML reader or a Markdown reader could obey becomes a character reference; what a browser would hide or obey
(control characters, bidirectional marks, line ends) is spelt out. It holds in running text, in tables, in attributes.
"""

from __future__ import annotations

import re

from jinja2 import Undefined
from markupsafe import Markup

from foretrace.analysis.inspection import visible

_MARKS = {ord(mark): f"&#{ord(mark)};" for mark in "&<>\"'*`[]{}|\\~^#"}
_INSTEAD = {
    ord(mark): instead
    for mark, instead in {"<": "‹", ">": "›", "&": "and", '"': "”", "\\": "/", "{": "(", "}": ")"}.items()
}
_LOOSE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")  # an underscore inside a word is only itself
_LEADING = re.compile(r"^[ !-%'-/:-@\[-`{-~]|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)| $", re.ASCII)


def escape(value: object) -> Markup:
    """`value` as text of a page; what is markup already stays as it is."""
    if isinstance(value, Markup):
        return value
    text = visible(str(value)).translate(_MARKS)
    for loose in (_LOOSE, _LEADING):
        text = loose.sub(lambda found: f"&#{ord(found[0])};", text)
    return Markup(text)  # noqa: S704 - escaped just above


def printed(value: object) -> Markup:
    """What a template prints for `value`; `TypeError` for what has no text, so that no page ever says `None`."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return escape(value)
    if isinstance(value, Undefined):
        str(value)  # tells which name is not defined
    raise TypeError(f"a page cannot print {type(value).__name__}")


def joined(values: object, separator: str = "") -> Markup:
    """The template filter `join`: each part escaped by our rule, the separator as the template has it."""
    assert isinstance(values, list | tuple)
    return Markup(separator).join(escape(value) for value in values)  # noqa: S704 - written in a template


def heading(text: str) -> str:
    """`text` for the title of a page, which a theme prints unescaped in some places and unescapes in others."""
    return visible(text).translate(_INSTEAD)
