"""How a kernel name is spelled: takes the text of any profiler, gives the qualified name and its template arguments.

Kineto, nsys, ncu, nvprof and rocprof print one kernel in several dialects: `4`, `(int)4`, `int=4`; `(anonymous
namespace)`, `<unnamed>`, `unnamed>`; mangled, with `.kd`, or cut at a column width. Everything here is linear in
the length of the name.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from foretrace.grammars.mangled import demangle

COMPONENT = re.compile(r"\(anonymous namespace\)|<unnamed>|unnamed>|[\w$~.@-]+")
BRACKET = re.compile(r"<unnamed>|unnamed>|operator ?(?:\(\)<?|<<=?|<=>?|<|>>=?|>=?|->)|->|[<>(){}\[\],]")
WRAPPER = re.compile(r"cutlass\w*::(?:Kernel2?|device_kernel)$|ck_tile::kentry$")
NUMBER = re.compile(r"(?:\((?:[\w: ]+)\)|[\w: ]+=)?(-?\d+)(?:[uUlL]+)?$")
CUT = ("...", "…", "?")
SUBJECT = 160
LONGEST = 1 << 16  # characters of a name that are looked at: ten times what any compiler was seen to write
MEMORY = ("Memcpy", "Memset", "[CUDA mem", "[CUDA Unified")
ALNUM = string.ascii_letters + string.digits

DTYPES = {
    "float": "f32", "double": "f64", "int": "i32", "long": "i64", "long long": "i64", "short": "i16", "signed "
    "char": "i8",
    "char": "i8", "unsigned char": "u8", "unsigned short": "u16", "unsigned int": "u32", "unsigned long": "u64",
    "unsigned long long": "u64", "bool": "bool", "int8_t": "i8", "uint8_t": "u8", "int32_t": "i32", "int64_t": "i64",
    "c10::BFloat16": "bf16", "__nv_bfloat16": "bf16", "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16",
    "nv_bfloat16": "bf16",
    "cutlass::bfloat16_t": "bf16", "__bf16": "bf16", "at::BFloat16": "bf16",
    "c10::Half": "f16", "__half": "f16", "half": "f16", "cutlass::half_t": "f16", "_Float16": "f16", "at::Half": "f16",
    "cutlass::tfloat32_t": "tf32",
    "c10::Float8_e4m3fn": "e4m3", "cutlass::float_e4m3_t": "e4m3", "__nv_fp8_e4m3": "e4m3",
    "c10::Float8_e4m3fnuz": "e4m3fnuz",
    "c10::Float8_e5m2": "e5m2", "cutlass::float_e5m2_t": "e5m2", "__nv_fp8_e5m2": "e5m2",
    "c10::Float8_e5m2fnuz": "e5m2fnuz",
    "c10::complex<float>": "c64", "c10::complex<double>": "c128", "float2": "c64", "c10::complex<c10::Half>": "c32",
}  # fmt: skip


class Argument(NamedTuple):
    """One template argument and where it stands in the text."""

    text: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Start and end in the text of the name."""
        return self.start, self.end


class Name(NamedTuple):
    """A name cut into what the grammars look at; offsets count in `text`.

    Attributes:
        text: the name, demangled if it was mangled.
        subject: what a pattern is matched with: the qualified name without namespaces that have no name; for a
            wrapper (`cutlass::Kernel2`) followed by `<` and what it wraps; for a memory operation the whole text.
        start: where the qualified name begins, behind a return type.
        leaf: span of its last component.
        inner: where the name that says most begins: inside a wrapper, else at the last component.
        end: how far the text can be trusted; a word that touches a cut is left out.
        arguments: the template arguments of the kernel; of a cut name, those that survive whole.
        rest: where the template arguments end.
        truncated: whether the name was cut.
    """

    text: str
    subject: str
    start: int
    leaf: tuple[int, int]
    inner: int
    end: int
    arguments: tuple[Argument, ...]
    rest: int
    truncated: bool

    @property
    def symbol(self) -> str:
        """The last component of the qualified name."""
        return self.text[self.leaf[0] : self.leaf[1]]


def number(argument: str) -> int | None:
    """The integer that an argument spells in any dialect: `4`, `4u`, `(int)4`, `int=4`."""
    match = NUMBER.match(argument.strip())
    return int(match[1]) if match else None


def flag(argument: str) -> bool | None:
    """The truth value that an argument spells in any dialect: `true`, `(bool)1`, `bool=0`, `1`."""
    argument = argument.strip()
    if argument in ("true", "false"):
        return argument == "true"
    value = number(argument)
    return None if value not in (0, 1) else bool(value)


def dtype(argument: str) -> str | None:
    """The element type that an argument spells, as `bf16`, `f32`, …; None if it is no plain type."""
    return DTYPES.get(argument.strip().removeprefix("const ").removesuffix(" const").strip())


def split(text: str, opening: int) -> tuple[list[tuple[int, int]], int]:
    """The spans of the template arguments after the `<` at `opening`, and the offset behind the closing `>` or -1."""
    spans: list[tuple[int, int]] = []
    begin = opening + 1
    stack = ["<"]
    parentheses = 0
    for match in BRACKET.finditer(text, begin):
        piece = match[0]
        last = piece[-1]
        if piece == "," and len(stack) == 1:
            spans.append((begin, match.start()))
            begin = match.end()
        elif last == "<" and (len(piece) > 1 or text[match.start() - 1] != ")"):
            if len(piece) == 1 or piece.endswith(")<"):
                stack.append("<")
        elif len(piece) > 1:
            continue
        elif piece == ">" and stack[-1] == "<":
            stack.pop()
            if not stack:
                spans.append((begin, match.start()))
                return spans, match.end()
        elif piece == "(":
            stack.append("(")
            parentheses += 1
        elif piece == ")" and parentheses:
            while stack.pop() != "(":
                pass
            parentheses -= 1
        elif piece in "[{":
            stack.append(piece)
        elif piece in "]}" and stack[-1] == ("[" if piece == "]" else "{"):
            stack.pop()
    return spans, -1


def inside(name: Name, template: str) -> tuple[Argument, ...]:
    """The arguments of the first `template<…>` inside a name; of a cut one, those that survive whole."""
    at = name.text.find(f"{template}<", name.start, name.end)
    if at < 0:
        return ()
    spans, _ = split(name.text, at + len(template))
    return tuple(_argument(name.text, start, end) for start, end in spans)


def parse(name: str) -> Name:
    """Cut a name, in any dialect, into qualified name and template arguments."""
    end, cut = _body(name)
    text = name[:end]
    if text.startswith("_Z"):
        text, broken = demangle(text)
        cut = cut or broken
        end = len(text)
    if text.startswith(MEMORY):
        return Name(text, text, 0, (0, end), 0, end, (), end, cut)
    parts, start, leaf, opening, arguments, at = _head(text)
    cut = cut or at < 0 or text.endswith("::") or (text.startswith("(", at) and text[-1] not in ")}]")
    at = end if at < 0 else at
    subject = "::".join(parts)
    inner = leaf[0]
    found = tuple(_argument(text, a, b) for a, b in arguments)
    if opening and WRAPPER.match(subject):
        inner = next((a.start for a in found if number(a.text) is None), found[-1].end + 1 if found else opening)
        subject = f"{subject}<{text[inner : inner + SUBJECT]}"
    trusted = len(text.rstrip(ALNUM).rstrip("_")) if cut else end
    return Name(text, (subject or text)[:SUBJECT], start, leaf, inner, trusted, found, at, cut)


def _argument(text: str, start: int, end: int) -> Argument:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    piece = piece.strip()
    return Argument(piece, start, start + len(piece))


def _body(text: str) -> tuple[int, bool]:
    """Where the name ends without `.kd` and cut marks, and whether it shows such a mark or is cut here."""
    if len(text) > LONGEST:
        return LONGEST, True
    end = len(text.rstrip())
    for mark in CUT:
        if text.endswith(mark, 0, end):
            return end - len(mark), True
    for suffix in (".kd", ".k"):
        if text.endswith(suffix, 0, end):
            return end - len(suffix), suffix != ".kd"
    return end, False


def _head(text: str) -> tuple[list[str], int, tuple[int, int], int, list[tuple[int, int]], int]:
    """The qualified name behind any return type: its named components, its start, the span of the last component, the
    offset behind the `<` of its template arguments or 0, their spans, and where they end or -1 if they do not.
    """
    parts: list[str] = []
    at = start = opening = 0
    leaf = (0, 0)
    arguments: list[tuple[int, int]] = []
    while match := COMPONENT.match(text, at):
        leaf, at, opening = match.span(), match.end(), 0
        if match[0][-1] not in ")>":
            parts.append(match[0])
        arguments = []
        if text.startswith("<", at) and not text.startswith("<unnamed>", at):
            opening = at + 1
            arguments, at = split(text, at)
            if at < 0:
                break
        if text.startswith("::", at):
            at += 2
        elif text.startswith(" ", at) and COMPONENT.match(text, at + 1):
            at = start = at + 1
            parts.clear()
        else:
            break
    return parts, start, leaf, opening, arguments, at
