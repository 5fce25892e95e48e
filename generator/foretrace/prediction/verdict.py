"""The one judge, and all kinds in a row: an expectation and what a run knows come in, a verdict goes out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import get_args

import msgspec

from foretrace.prediction.basis import Expectation, Finding, Measured, State, Verdict, no_variant
from foretrace.prediction.counts import Appears, CallsCounted, Counted, Launches, PrecededBy
from foretrace.prediction.kernels import Decoded, Distinct, Geometry, Kernels, PartKernels, PartWithin, Share
from foretrace.prediction.numbers import LimitedBy, Ordered, RatioWithin, Within


class AllOf(Expectation, frozen=True, kw_only=True, tag="all"):
    """Several expectations that make one statement; each part brings its own `where`."""

    parts: tuple[Kind, ...]

    def describe(self) -> str:  # noqa: D102
        return "; ".join(part.describe() for part in self.parts)

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        for part in self.parts:
            for finding in tuple(part.find(measured)) or (no_variant(),):
                yield msgspec.structs.replace(finding, part=finding.part or part.describe())


Kind = (
    LimitedBy
    | Counted
    | CallsCounted
    | Launches
    | Appears
    | PrecededBy
    | Kernels
    | Decoded
    | Distinct
    | Geometry
    | Share
    | PartKernels
    | PartWithin
    | Within
    | RatioWithin
    | Ordered
    | AllOf
)
KINDS: tuple[type[Expectation], ...] = get_args(Kind)


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A published statement, in the form in which it can be judged here."""

    id: str
    statement: str
    expectation: Kind
    figure: str  # as published, with units; "–" where the source gives none
    on: str  # the GPU it was measured on
    source: str  # a link


def judge(expectation: Kind, measured: Measured) -> Verdict:
    """The verdict on an expectation: refuted by one finding, held only if all hold, else undecided."""
    findings = tuple(expectation.find(measured)) or (no_variant(),)
    states = {finding.state for finding in findings}
    state: State = "refuted" if "refuted" in states else "undecided" if "undecided" in states else "held"
    return Verdict(state=state, findings=findings)


def seal(*declared: object) -> str:
    """The sha256, in hex, of declarations in canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(declared, order="deterministic")).hexdigest()
