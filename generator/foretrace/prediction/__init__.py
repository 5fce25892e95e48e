"""Expectations as data, and the one judge: an expectation and facts go in; held, refuted or undecided comes out.

A prediction of ours and a published claim are the same kind of thing with another author, so one judge serves both.
Every kind names the variants it speaks of (`where`: parameter -> value, or a list of allowed values) and says
`because`. A verdict covers all variants it speaks of: refuted by one, held only by all. Where the facts do not carry
an answer the finding is undecided and says what is missing; where an interval straddles a limit, it says that too.

A new kind is one struct with `describe` and `look` (or `find`, where it speaks of pairs), one row in `verdict.Kind`,
and one builder function for authors in `predict`.
"""

from __future__ import annotations

from foretrace.prediction.basis import (
    Expectation,
    Finding,
    Frequency,
    Measured,
    State,
    Unmeasured,
    Verdict,
    Where,
    change,
    each,
    fits,
    per_step,
    said,
    select,
    worded,
)
from foretrace.prediction.counts import CUDA_CALL, Appears, CallKind, CallsCounted, Counted, Launches, PrecededBy
from foretrace.prediction.kernels import Decoded, Distinct, Geometry, Kernels, PartKernels, PartWithin, Share
from foretrace.prediction.numbers import LimitedBy, Ordered, RatioWithin, Within
from foretrace.prediction.verdict import KINDS, AllOf, Claim, Kind, judge, seal

__all__ = [
    "CUDA_CALL", "KINDS", "AllOf", "Appears", "CallKind", "CallsCounted", "Claim", "Counted", "Decoded", "Distinct",
    "Expectation", "Finding", "Frequency", "Geometry", "Kernels", "Kind", "Launches", "LimitedBy", "Measured",
    "Ordered", "PartKernels", "PartWithin", "PrecededBy", "RatioWithin", "Share", "State", "Unmeasured", "Verdict",
    "Where", "Within", "change", "each", "fits", "judge", "per_step", "said", "seal", "select",
    "worded",
]  # fmt: skip
