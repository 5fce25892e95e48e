"""Predictions in a small file of their own, for traces without a scenario: TOML comes in, expectations go out.

    [[expect]]
    kind = "count"
    activity = "kernel"
    number = 5
    because = "one GEMM and four pointwise operators"

A table's keys are those of the kind in `prediction`; what the words of `predict` refuse is refused here, too.
"""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from foretrace import predict
from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.prediction import (
    KINDS,
    AllOf,
    CallsCounted,
    Counted,
    Decoded,
    Distinct,
    Geometry,
    Kernels,
    Kind,
    Launches,
    LimitedBy,
    Ordered,
    PartKernels,
    PartWithin,
    PrecededBy,
    RatioWithin,
    Share,
    Within,
)

_DECLARED = (PartWithin, PartKernels)
"""The kinds about parts of a step that a scenario declares."""
_TAGS = {str(kind.__struct_config__.tag): kind for kind in KINDS if kind not in _DECLARED}


def read(path: Path) -> tuple[Kind, ...]:
    """The expectations in a file.

    Raises:
        WrongUsage: one is not what can be expected; file, table and key are named.
        UnreadableInput: the file cannot be read.
    """
    try:
        document = tomllib.loads(path.read_bytes().decode())
    except (ValueError, RecursionError) as error:  # of TOML, of UTF-8, or a number too long to be one
        raise WrongUsage(f"is not TOML: {error}", where=str(path), remedy="mend it") from error
    except OSError as error:
        raise UnreadableInput(f"cannot be read ({error.strerror})", where=str(path), remedy="check the path") from error
    if unknown := sorted(document.keys() - {"expect"}):
        raise WrongUsage(
            "is not a key of this file", where=f"{path}, key {unknown[0]}", remedy="use `[[expect]]` tables"
        )
    tables = document.get("expect")
    if not isinstance(tables, list) or not tables:
        raise WrongUsage("expects nothing", where=str(path), remedy="say what you expect in `[[expect]]` tables")
    return tuple(_expectation(table, f"{path}, table {number}") for number, table in enumerate(tables, 1))


def _expectation(table: object, where: str) -> Kind:
    _check_keys(table, where)
    try:
        found: Kind = msgspec.convert(table, type=Kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at ")
        key = place.strip("`$.") or "".join(re.findall(r"`(\w+)`", what)[-1:])
        raise WrongUsage(_lowered(what), where=f"{where}, key {key}", remedy="mend the value") from error
    if not found.because:
        raise WrongUsage("a prediction gives no reason", where=f"{where}, key because", remedy="say why you expect it")
    _check_sense(found, where)
    return found


def _check_keys(table: object, where: str) -> None:
    """Raise where a key is no field of the table's kind, or a number is none; what else is wrong, `convert` finds."""
    if not isinstance(table, dict):
        raise WrongUsage("is no table", where=where, remedy="write `[[expect]]` above its keys")
    tag = table.get("kind")
    kind = _TAGS.get(tag) if isinstance(tag, str) else None
    if kind is None:
        what = "is missing" if tag is None else f"is not one that can be expected of a trace: {tag}"
        raise WrongUsage(what, where=f"{where}, key kind", remedy=f"one of {', '.join(_TAGS)}")
    known = ("kind", *kind.__struct_fields__)
    if kind is AllOf and "where" in table:
        raise WrongUsage("is not one of an all's", where=f"{where}, key where", remedy="give each part its own")
    for key, value in table.items():
        if key not in known:
            raise WrongUsage(f"is not one of a {tag}'s", where=f"{where}, key {key}", remedy=f"use {', '.join(known)}")
        if any(isinstance(number, float) and not math.isfinite(number) for number in _scalars(value)):
            raise WrongUsage("is no finite number", where=f"{where}, key {key}", remedy="leave an open end out")
    for number, part in enumerate(table["parts"] if kind is AllOf and isinstance(table.get("parts"), list) else (), 1):
        _check_keys(part, f"{where}, part {number}")


def _check_sense(found: Kind, where: str) -> None:
    """Raise where a table, or one of its parts, says what cannot be judged."""
    try:
        _say_again(found)
    except WrongUsage as error:
        raise WrongUsage(error.what, where=f"{where}, {_key(found, error.where)}", remedy=error.remedy) from error
    for number, part in enumerate(found.parts if isinstance(found, AllOf) else (), 1):
        _check_sense(part, f"{where}, part {number}")


def _key(found: Kind, told: str) -> str:
    """The key that a word's complaint is about: the one whose value it names, or the ends of an interval."""
    if told.startswith("between") and hasattr(found, "low"):
        return "keys low and high"
    keys = [key for key, value in msgspec.structs.asdict(found).items() if told == str(value)]
    return f"key {keys[0]}" if keys else told


def _scalars(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [each for member in value.values() for each in _scalars(member)]
    return [each for item in value for each in _scalars(item)] if isinstance(value, list) else [value]


def _say_again(found: Kind) -> None:
    """Say it in the author's words, which raise `WrongUsage` for what cannot be judged."""
    match found:
        case LimitedBy():
            predict.bound(found.limiter)
        case Counted():
            predict.count(found.activity, found.number, family=found.family)
        case CallsCounted():
            predict.calls(found.call, found.number)
        case Launches():
            predict.launches(found.op, found.number)
        case Decoded():
            predict.decoded(found.family, found.field, found.value)
        case PrecededBy():
            predict.preceded(found.family, found.call, found.how_often)
        case Within():
            predict.within(found.quantity, (found.low, found.high))
        case RatioWithin():
            predict.ratio(found.quantity, of=found.of, over=found.over, between=(found.low, found.high))
        case Ordered():
            predict.order(found.quantity, parameter=found.parameter, growing=found.values)
        case Geometry():
            predict.geometry(found.family, found.field, (found.low, found.high))
        case Share():
            predict.share(found.family, (found.low, found.high))
        case Distinct():
            predict.distinct(found.family, found.field, (found.least, found.most))
        case Kernels():
            predict.same_kernels(between=found.between, family=found.family)
        case AllOf():
            predict.all_of(*found.parts)
        case _:
            pass


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
