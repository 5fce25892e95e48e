"""The one exception base: every problem a user can meet is a sentence with an exit code.

The sentence says where, what is wrong and what to do; `cli` prints it and exits with `exit_code`. Anything else that
escapes is a bug of ours and may show its traceback.
"""

from __future__ import annotations


class ForetraceError(Exception):
    """A problem to be told in one sentence.

    Args:
        what: what is wrong, without a full stop.
        where: the file, byte, line, variant or option it concerns.
        remedy: what the user can do about it.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.remedy = what, where, remedy

    def __str__(self) -> str:
        """The whole sentence, on one line."""
        sentence = f"{self.where}: {self.what}" if self.where else self.what
        if self.remedy:
            sentence = f"{sentence}; {self.remedy}"
        return " ".join(sentence.split()).removesuffix(".") + "."


class GateFailed(ForetraceError):  # noqa: N818 - a verdict, not a malfunction
    """A gate or a judgement that the user asked to be held did not hold."""

    exit_code = 1


class WrongUsage(ForetraceError):  # noqa: N818
    """The command line or a declaration asks for something that does not exist or cannot be."""

    exit_code = 2


class UnreadableInput(ForetraceError):  # noqa: N818
    """A file that cannot be read as what it should be."""

    exit_code = 3


class CannotMeasure(ForetraceError):  # noqa: N818
    """This machine lacks what a measurement needs."""

    exit_code = 4
