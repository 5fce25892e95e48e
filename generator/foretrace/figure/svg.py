"""matplotlib's SVG made small and readable aloud: its bytes go in, the same picture in fewer bytes comes out."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_GROUP, _PATH, _USE = f"{{{_SVG}}}g", f"{{{_SVG}}}path", f"{{{_SVG}}}use"
_HREF = f"{{{_XLINK}}}href"
_SHIFT = re.compile(r"translate\(([^ )]+) 0\)")
_TRANSLATE = re.compile(r"translate\([^)]*\)")
_DECIMAL = re.compile(r"-?\d+\.\d+")


def tidy(drawn: bytes, *, title: str, description: str) -> bytes:
    """The document with short ids, coordinates of two decimals, no comments, and a title and a description.

    `title` and `description` must be free of control characters.
    """
    root = ET.fromstring(drawn)  # noqa: S314 - matplotlib has just written it
    _shorten_glyphs(root)
    for element in root.iter():
        for key, rounded in (("d", _round), ("x", _round), ("transform", _round_translation)):
            if key in element.attrib:
                element.set(key, rounded(element.attrib[key]))
    _unwrap(root)
    _announce(root, title=title, description=description)
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _announce(root: ET.Element, *, title: str, description: str) -> None:
    """Name the picture for screen readers."""
    root.set("role", "img")
    root.set("aria-label", title)
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{tag}")
        element.text = text
        root.insert(place, element)


def _shorten_glyphs(root: ET.Element) -> None:
    """Give glyphs short ids, and place them by an x instead of a transform."""
    names: dict[str, str] = {}
    for use in root.iter(_USE):
        name = use.attrib[_HREF].removeprefix("#")
        use.set(_HREF, f"#{names.setdefault(name, f'g{len(names)}')}")
        if shift := _SHIFT.fullmatch(use.attrib.get("transform", "")):
            del use.attrib["transform"]
            use.set("x", shift[1])
    for path in root.iter(_PATH):
        if path.attrib.get("id") in names:
            path.set("id", names[path.attrib["id"]])


def _unwrap(element: ET.Element) -> None:
    """Drop the ids and the nesting that matplotlib adds for its own sake, and the white space between elements."""
    children: list[ET.Element] = []
    for child in list(element):
        _unwrap(child)
        child.tail = None
        if child.tag == _GROUP:
            child.attrib.pop("id", None)
        children += [child] if child.attrib or child.tag != _GROUP else list(child)
    if children:
        element.text = None
        element[:] = children


def _round(text: str) -> str:
    return " ".join(_DECIMAL.sub(lambda found: f"{round(float(found[0]), 2):g}", text).split())


def _round_translation(text: str) -> str:
    return _TRANSLATE.sub(lambda found: _round(found[0]), text)
