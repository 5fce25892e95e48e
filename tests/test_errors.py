"""What a user reads when something is wrong: one sentence, and the exit code that a script can test."""

from __future__ import annotations

import pickle

import pytest

from foretrace import errors
from foretrace.errors import CannotMeasure, ForetraceError, GateFailed, UnreadableInput, WrongUsage


def test_the_sentence_says_where_what_and_what_to_do() -> None:
    error = UnreadableInput("is cut short", where="trace.json", remedy="copy it again")
    assert str(error) == "trace.json: is cut short; copy it again."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ForetraceError("nothing to do"), "nothing to do."),
        (ForetraceError("nothing to do", where="x"), "x: nothing to do."),
        (ForetraceError("nothing to do", remedy="go home"), "nothing to do; go home."),
        (ForetraceError("ValueError: it broke.", where="x"), "x: ValueError: it broke."),
        (ForetraceError("bad\nname\t here", where="a\r\nb"), "a b: bad name here."),
    ],
)
def test_the_sentence_is_one_line_with_one_full_stop(error: ForetraceError, sentence: str) -> None:
    assert str(error) == sentence


def test_each_sort_of_problem_has_its_own_exit_code() -> None:
    codes = {GateFailed: 1, WrongUsage: 2, UnreadableInput: 3, CannotMeasure: 4}
    assert {sort: sort.exit_code for sort in codes} == codes
    declared = {sort for sort in vars(errors).values() if isinstance(sort, type) and issubclass(sort, ForetraceError)}
    assert declared - {ForetraceError} == set(codes), "an exit code that the README does not list"


def test_an_error_survives_the_way_from_a_child_process() -> None:
    error = CannotMeasure("no GPU", where="cuda:0", remedy="use --device cpu")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own bytes
