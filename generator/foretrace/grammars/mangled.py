"""Itanium C++ names made readable as far as kernel names need it: takes `_ZN…`, gives text and whether the name is cut.

Source: Itanium C++ ABI, section 5.1 (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). Read are the
function's qualified name and its template arguments; the parameter types, which a kernel name repeats, are left
out. What a cut name still holds is given back; depth and length are bounded, so that a hostile name costs no more
than a long one.
"""

from __future__ import annotations

BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "e": "long "
    "double",
    "g": "__float128", "z": "...",
}  # fmt: skip
BUILTIN_LONG = {
    "DF16_": "_Float16",
    "DF16b": "__bf16",
    "Dh": "_Float16",
    "Dn": "std::nullptr_t",
    "Da": "auto",
    "Di": "char32_t",
}
STANDARD = {"St": "std", "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string"}
OPERATOR = {
    "cl": "operator()",
    "pl": "operator+",
    "mi": "operator-",
    "ml": "operator*",
    "dv": "operator/",
    "aS": "operator=",
}
QUALIFIER = {"K": " const", "V": " volatile", "r": " restrict", "P": "*", "R": "&", "O": "&&", "C": " complex", "G": ""}
DEEPEST = 96
LONGEST = 20_000


class _Stop(Exception):  # noqa: N818 - the end of what can be read, not a fault
    """The name ends, or uses something that is not read here."""


class _Reader:
    """A cursor over a mangled name; every method reads one production and gives its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 2
        self.depth = 0
        self.budget = LONGEST
        self.cut = False
        self.known: list[str] = []

    def peek(self, literal: str) -> bool:
        return self.text.startswith(literal, self.at)

    def take(self, literal: str) -> bool:
        if self.peek(literal):
            self.at += len(literal)
            return True
        return False

    def learn(self, text: str) -> str:
        """Remember a substitution candidate."""
        self.known.append(text)
        return text

    def end(self) -> None:
        """Read no further: what follows is missing or not understood."""
        self.at = len(self.text)
        self.cut = True

    def digits(self, allowed: str = "0123456789") -> str:
        begin = at = self.at
        text, end = self.text, len(self.text)
        while at < end and text[at] in allowed:
            at += 1
        self.at = at
        return text[begin:at]

    def identifier(self) -> str:
        count = self.digits()
        if not count or len(count) > 5:
            raise _Stop
        begin = self.at
        self.at += int(count)
        if self.at > len(self.text):
            self.at = len(self.text)
            raise _Stop
        name = self.text[begin : self.at]
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N") else name

    def substitution(self) -> str:
        """`S_`, `S0_`, … or a standard abbreviation."""
        standard = STANDARD.get(self.text[self.at : self.at + 2])
        if standard:
            self.at += 2
            return standard
        self.at += 1
        digits = self.digits("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        index = int(digits, 36) + 1 if digits and len(digits) < 5 else 0
        if not self.take("_") or index >= len(self.known) or len(digits) > 4:
            raise _Stop
        self.budget -= len(self.known[index])
        if self.budget < 0:
            raise _Stop
        return self.known[index]

    def unqualified(self) -> str:
        """A source name, an operator, or a lambda."""
        if self.text[self.at : self.at + 1].isdecimal():
            return self.identifier()
        if self.take("Ul"):
            parameters = []
            while not self.take("E"):
                parameters.append(self.type())
            number = self.digits()
            if not self.take("_"):
                raise _Stop
            inner = "" if parameters == ["void"] else ", ".join(parameters)
            return f"{{lambda({inner})#{int(number[:5]) + 2 if number else 1}}}"
        if self.take("Ut"):
            self.digits()
            self.take("_")
            return "{unnamed}"
        operator = OPERATOR.get(self.text[self.at : self.at + 2])
        if operator:
            self.at += 2
            return operator
        self.take("L")
        return self.identifier()

    def nested(self) -> str:
        """`N … E`: qualified names, each prefix of which is a substitution candidate."""
        while self.at < len(self.text) and self.text[self.at] in "rVKRO":
            self.at += 1
        prefix = ""
        try:
            while not self.take("E"):
                letter = self.text[self.at : self.at + 1]
                if letter == "S":
                    prefix = self.substitution()
                elif letter == "I":
                    prefix = self.learn(prefix + self.arguments())
                elif letter in ("T", "D"):
                    prefix = self.type()
                else:
                    part = self.unqualified()
                    prefix = f"{prefix}::{part}" if prefix else part
                    if not self.peek("E"):
                        self.learn(prefix)
        except _Stop:
            self.end()
        return prefix

    def local(self) -> str:
        """`Z encoding E entity`: something declared inside a function."""
        function = self.encoding()
        if not self.take("E"):
            raise _Stop
        if self.take("s"):
            return function
        entity = self.name()
        if self.take("_"):
            self.digits()
        return f"{function}::{entity}"

    def name(self) -> str:
        """Any name, without its template arguments unless nested."""
        if self.take("N"):
            return self.nested()
        if self.take("Z"):
            return self.local()
        if self.take("St"):
            return "std::" + self.unqualified()
        if self.peek("S"):
            return self.substitution()
        return self.unqualified()

    def encoding(self) -> str:
        """A function: its name, template arguments and, where it stands inside another name, its parameters."""
        text = self.name()
        if self.peek("I"):
            if not text.endswith(">"):
                self.learn(text)
            text += self.arguments()
        if text.endswith(">"):
            self.type()
        parameters = []
        while self.at < len(self.text) and not self.peek("E"):
            parameters.append(self.type())
        return f"{text}({'' if parameters == ['void'] else ', '.join(parameters)})"

    def arguments(self) -> str:
        """`I … E`; `J … E` is a pack."""
        self.at += 1
        found: list[str] = []
        try:
            while not self.take("E"):
                found.append(self.argument())
        except _Stop:
            self.end()
        return f"<{', '.join(part for part in found if part)}{'' if self.cut else '>'}"

    def argument(self) -> str:
        letter = self.text[self.at : self.at + 1]
        if letter == "L":
            return self.literal()
        if letter == "J":
            return self.arguments()[1:-1]
        if letter == "X":
            raise _Stop
        return self.type()

    def literal(self) -> str:
        """`Lb1E` is true, `Li64E` is 64, `LN4enumE3E` an enumerator's number."""
        self.at += 1
        if self.take("_Z"):
            text = self.encoding()
            if not self.take("E"):
                raise _Stop
            return "&" + text
        kind = self.type()
        sign = "-" if self.take("n") else ""
        value = self.digits("0123456789abcdef")
        if not self.take("E"):
            raise _Stop
        if kind == "bool":
            return "true" if value == "1" else "false"
        return sign + value if kind in BUILTIN.values() else f"({kind}){sign}{value}"

    def type(self) -> str:
        """A type, with what qualifies it."""
        self.depth += 1
        if self.depth > DEEPEST or self.at >= len(self.text):
            raise _Stop
        try:
            return self._type()
        finally:
            self.depth -= 1

    def _type(self) -> str:
        letter = self.text[self.at]
        if letter in BUILTIN:
            self.at += 1
            return BUILTIN[letter]
        if letter == "D":
            for code, text in BUILTIN_LONG.items():
                if self.take(code):
                    return text
        if letter in QUALIFIER:
            self.at += 1
            return self.learn(self.type() + QUALIFIER[letter])
        if letter == "T":
            self.at += 1
            text = f"T{self.digits('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')}"
            if not self.take("_"):
                raise _Stop
            self.learn(text)
        elif self.take("Dp"):
            return self.learn(self.type() + "...")
        elif letter == "A":
            self.at += 1
            count = self.digits()
            self.take("_")
            return self.learn(f"{self.type()}[{count}]")
        elif letter == "F":
            self.at += 1
            parts = []
            while not self.take("E"):
                parts.append(self.type())
            return self.learn(f"{parts[0] if parts else ''} ({', '.join(parts[1:])})")
        elif letter == "S" and not self.peek("St"):
            text = self.substitution()
        else:
            nested = letter == "N"
            text = self.name()
            if not (nested and text.endswith(">")):
                self.learn(text)
        if self.peek("I"):
            text = self.learn(text + self.arguments())
        return text


def demangle(name: str) -> tuple[str, bool]:
    """The readable qualified name with template arguments, and whether reading ended before they did."""
    reader = _Reader(name)
    try:
        text = reader.name()
        if reader.peek("I"):
            reader.learn(text)
            text += reader.arguments()
    except (_Stop, RecursionError):
        return name, True
    return text or name, reader.cut
