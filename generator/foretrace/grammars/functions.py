"""Grammars of libraries whose kernels are C++ functions: takes a table of functions, gives a pattern and a reader.

Where a library's names are function names with template arguments, its rules are a table: which function does what,
and what each template argument means. A row is believed only for the whole last component of the qualified name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from foretrace.grammars.reading import Draft, Family, Value
from foretrace.grammars.spelling import Argument, Name, dtype, flag, number

TYPES = frozenset({"dtype", "dtype_out", "accum", "index_dtype", "dtype_weight", "dtype_kv"})
NUMBERS = frozenset(
    {"vec", "threads", "vt", "log2_elements", "head_dim", "block_m", "block_n", "warps", "stages", "max_threads",
     "output_vec", "hidden", "conv_width", "items"}
)  # fmt: skip
FLAGS = frozenset({"log_softmax", "masked", "causal", "descending"})


class Function(NamedTuple):
    """One kernel function, or several that differ in nothing the table says.

    Attributes:
        pattern: what the last component of the qualified name must match as a whole.
        family: what it does.
        fields: what its name fixes.
        roles: the term of each template argument in turn, empty where nothing is known.
    """

    pattern: str
    family: Family
    fields: dict[str, Value]
    roles: tuple[str, ...] = ()


class Table:
    """The functions of one library."""

    def __init__(self, library: str, functions: tuple[Function, ...], *, namespaces: str = r"(?:\w++::)*+") -> None:
        self.library = library
        self.functions = functions
        self.compiled = [re.compile(function.pattern) for function in functions]
        names = "|".join(function.pattern for function in functions)
        self.pattern = re.compile(rf"(?:{namespaces})(?:{names})$")

    def find(self, symbol: str) -> Function | None:
        """The row for the last component of a qualified name."""
        for compiled, function in zip(self.compiled, self.functions, strict=True):
            if compiled.fullmatch(symbol):
                return function
        return None

    def read(self, name: Name) -> Draft:
        """What the row says, and the template arguments by their roles."""
        function = self.find(name.symbol)
        if function is None:
            return Draft("other", self.library)
        draft = Draft(function.family, self.library)
        draft.mark(name.leaf, "function", "")
        draft.fields |= function.fields
        for role, argument in zip(function.roles, name.arguments, strict=False):
            fill(draft, role, argument)
        return draft


class Words:
    """Words by which a name tells what it does, the most telling first; each is looked for anywhere in the name."""

    def __init__(self, *rows: Function) -> None:
        self.rows = tuple((re.compile(row.pattern), row) for row in rows)

    def find(self, text: str) -> Function | None:
        """The first row with a word in `text`."""
        return next((row for compiled, row in self.rows if compiled.search(text)), None)

    def tell(self, draft: Draft, text: str) -> bool:
        """Set family and fields from the words in `text`, if it has any."""
        row = self.find(text)
        if row is not None:
            draft.family = row.family
            draft.fields |= row.fields
        return row is not None


def fill(draft: Draft, role: str, argument: Argument) -> None:
    """Set the field `role` from a template argument, if the argument is of the kind that the role asks for."""
    value: Value | None
    if role in TYPES:
        value = dtype(argument.text)
    elif role in FLAGS:
        value = flag(argument.text)
    elif role in NUMBERS:
        value = number(argument.text)
    elif role:
        draft.mark(argument.span, role, argument.text)
        return
    else:
        return
    if value is not None:
        draft.say(argument.span, role, value)
