"""The words in which a scenario's author says what to expect; each returns one expectation of `prediction`.

    predict.count("kernel", 2, where={"mode": "eager"}, because="one GEMM, one elementwise add")

`where` restricts the statement to the variants with those parameter values (a list allows several); without it the
statement is about every variant of the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from foretrace.errors import WrongUsage
from foretrace.facts import FAMILIES, QUANTITIES, Limiter, Params, Scalar
from foretrace.prediction import (
    AllOf,
    Appears,
    CallKind,
    CallsCounted,
    Counted,
    Decoded,
    Distinct,
    Frequency,
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

Wanted = Mapping[str, Scalar | Sequence[Scalar]]
Interval = tuple[float | None, float | None]


def bound(limiter: Limiter, *, where: Wanted | None = None, because: str = "") -> LimitedBy:
    """A step's time is limited by `overhead`, `compute`, `memory`, `communication` or `sync`."""
    if limiter == "undecided":
        raise WrongUsage("`undecided` is a verdict, not a prediction", where="bound", remedy="say what limits the step")
    return LimitedBy(limiter=limiter, where=_where(where), because=because)


def count(
    activity: Literal["kernel", "memcpy", "memset", "any"],
    number: int,
    *,
    family: str = "",
    where: Wanted | None = None,
    because: str = "",
) -> Counted:
    """Every recorded step launches this many; of kernels one may count a family alone."""
    if family and activity != "kernel":
        raise WrongUsage(
            "only kernels have a family", where=f"count({activity!r})", remedy="count kernels, or no family"
        )
    return Counted(
        activity=activity,
        number=_number(number),
        family=_family(family) if family else "",
        where=_where(where),
        because=because,
    )


def calls(name: str, number: int, *, where: Wanted | None = None, because: str = "") -> CallsCounted:
    """Every recorded step makes this many calls of a name; `*` stands for anything."""
    return CallsCounted(call=name, number=_number(number), where=_where(where), because=because)


def launches(op: str, number: int, *, where: Wanted | None = None, because: str = "") -> Launches:
    """A recorded step launches this many kernels inside the operators of a name; `*` stands for anything."""
    return Launches(op=op, number=_number(number), where=_where(where), because=because)


def same_kernels(
    *, between: Mapping[str, tuple[Scalar, Scalar]], family: str = "", where: Wanted | None = None, because: str = ""
) -> Kernels:
    """The kernel names (of one family) are the same for two values of one parameter."""
    return Kernels(
        relation="same",
        between=_between(between),
        family=_family(family) if family else "",
        where=_where(where),
        because=because,
    )


def different_kernels(
    *, between: Mapping[str, tuple[Scalar, Scalar]], family: str = "", where: Wanted | None = None, because: str = ""
) -> Kernels:
    """The kernel names (of one family) differ between two values of one parameter."""
    return Kernels(
        relation="different",
        between=_between(between),
        family=_family(family) if family else "",
        where=_where(where),
        because=because,
    )


def present(what: CallKind, name: str, *, where: Wanted | None = None, because: str = "") -> Appears:
    """A name (`*` stands for anything) is seen in every recorded step."""
    return Appears(what=what, name=name, how_often="always", where=_where(where), because=because)


def absent(what: CallKind, name: str, *, where: Wanted | None = None, because: str = "") -> Appears:
    """A name (`*` stands for anything) is seen in no recorded step."""
    return Appears(what=what, name=name, how_often="never", where=_where(where), because=because)


def decoded(family: str, field: str, value: str, *, where: Wanted | None = None, because: str = "") -> Decoded:
    """The names of a family's kernels say this of a field, such as `layout` or `tile`; `*` stands for anything."""
    return Decoded(family=_family(family), field=field, value=value, where=_where(where), because=because)


def distinct(
    family: str,
    field: str,
    between: tuple[int, int | None],
    *,
    where: Wanted | None = None,
    because: str = "",
) -> Distinct:
    """Over these variants the longest kernel of a family has so many different names, or tiles, or other fields.

    `predict.distinct("gemm", "tile", (2, None))` says that the tile is not always the same.
    """
    least, most = between
    if least < 2 and most is None:
        raise WrongUsage("one sort there always is", where=f"between={between}", remedy="name two, or an upper end")
    if most is not None and most < least:
        raise WrongUsage("an interval's lower end comes first", where=f"between={between}", remedy="swap its ends")
    return Distinct(family=_family(family), field=field, least=least, most=most, where=_where(where), because=because)


def share(family: str, between: Interval, *, where: Wanted | None = None, because: str = "") -> Share:
    """A kernel family's share of all GPU time of the recorded steps, 0 … 1; `memcpy` and `memset` are families too."""
    low, high = _limits(between)
    _refuse_beyond_one(between)
    return Share(family=_family(family), low=low, high=high, where=_where(where), because=because)


def same_kernel(*parts: str, where: Wanted | None = None, because: str = "") -> PartKernels:
    """Two declared parts of a step (`Work.parts`) run a kernel of one name."""
    return PartKernels(relation="same", parts=_two(parts), where=_where(where), because=because)


def different_kernel(*parts: str, where: Wanted | None = None, because: str = "") -> PartKernels:
    """Two declared parts of a step (`Work.parts`) run kernels of different names."""
    return PartKernels(relation="different", parts=_two(parts), where=_where(where), because=because)


def part(
    name: str,
    measure: Literal["duration", "tflops", "gbps"],
    between: Interval,
    *,
    where: Wanted | None = None,
    because: str = "",
) -> PartWithin:
    """What a declared part of a step takes, in µs, or reaches, in TFLOP/s or GB/s of its declared work."""
    low, high = _limits(between)
    return PartWithin(part=name, measure=measure, low=low, high=high, where=_where(where), because=because)


def within(quantity: str, between: Interval, *, where: Wanted | None = None, because: str = "") -> Within:
    """A quantity lies in a closed interval in its own unit; `None` leaves an end open."""
    low, high = _limits(between)
    if QUANTITIES[_known(quantity)].unit == "share" and quantity != "busy_share":  # which may be over 1
        _refuse_beyond_one(between)
    return Within(quantity=quantity, low=low, high=high, where=_where(where), because=because)


def first_step_wider(factor: float, *, where: Wanted | None = None, because: str = "") -> Within:
    """The first recorded step is at least `factor` times as wide as the median of the others."""
    return within("first_step_ratio", (factor, None), where=where, because=because)


def ratio(
    quantity: str, *, of: Params, over: Params, between: Interval, where: Wanted | None = None, because: str = ""
) -> RatioWithin:
    """A quantity of one variant over that of the variant that differs from it as `of` from `over`."""
    low, high = _limits(between)
    if of == over:
        raise WrongUsage("a ratio needs two variants", where=f"of={of}", remedy="let `over` differ from `of`")
    return RatioWithin(
        quantity=_known(quantity), of=of, over=over, low=low, high=high, where=_where(where), because=because
    )


def order(
    quantity: str, *, parameter: str, growing: Sequence[Scalar], where: Wanted | None = None, because: str = ""
) -> Ordered:
    """A quantity grows along these values of a parameter."""
    if len(growing) < 2:
        raise WrongUsage("an order needs two values", where=f"growing={growing!r}", remedy=f"name more of {parameter}")
    return Ordered(
        quantity=_known(quantity), parameter=parameter, values=tuple(growing), where=_where(where), because=because
    )


def geometry(
    family: str,
    field: Literal["registers", "shared_bytes", "occupancy", "occupancy_reported", "threads"],
    between: Interval,
    *,
    where: Wanted | None = None,
    because: str = "",
) -> Geometry:
    """For every kernel of a family, a launch resource lies in a closed interval."""
    low, high = _limits(between)
    return Geometry(family=_family(family), field=field, low=low, high=high, where=_where(where), because=because)


def preceded(
    family: str, call: str, how_often: Frequency, *, where: Wanted | None = None, because: str = ""
) -> PrecededBy:
    """A family's launches always, or never, have a CUDA call before them in the same operator."""
    return PrecededBy(family=_family(family), call=call, how_often=how_often, where=_where(where), because=because)


def all_of(*parts: Kind, because: str = "") -> AllOf:
    """One statement made of several expectations."""
    if not parts:
        raise WrongUsage("the statement has no part", where="all_of", remedy="give it expectations")
    return AllOf(parts=parts, because=because)


def _where(wanted: Wanted | None) -> dict[str, Scalar | list[Scalar]]:
    return {
        key: value if isinstance(value, str | int | float | bool) else list(value)
        for key, value in (wanted or {}).items()
    }


def _limits(between: Interval) -> Interval:
    low, high = between
    if low is None and high is None:
        raise WrongUsage("an interval without limits cannot be refuted", where="between", remedy="give it an end")
    if low is not None and high is not None and not low <= high:
        raise WrongUsage("an interval's lower end comes first", where=f"between={between}", remedy="swap its ends")
    return None if low is None else float(low), None if high is None else float(high)


def _refuse_beyond_one(between: Interval) -> None:
    if any(end is not None and not 0 <= end <= 1 for end in between):
        raise WrongUsage("a share lies between 0 and 1", where=f"between={between}", remedy="0.25 is a quarter")


def _number(number: int) -> int:
    if number < 0:
        raise WrongUsage("nothing happens less often than never", where=f"{number}", remedy="name 0 or more")
    return number


def _family(name: str) -> str:
    if name not in FAMILIES:
        raise WrongUsage("no such family of GPU work", where=name, remedy=f"one of {', '.join(FAMILIES)}")
    return name


def _two(parts: Sequence[str]) -> tuple[str, str]:
    if len(parts) != 2:
        raise WrongUsage("two parts are compared", where=f"{parts}", remedy="name two parts of the step")
    return parts[0], parts[1]


def _between(pair: Mapping[str, tuple[Scalar, Scalar]]) -> dict[str, tuple[Scalar, Scalar]]:
    if len(pair) != 1:
        raise WrongUsage(
            "`between` names one parameter and its two values",
            where=f"between={dict(pair)}",
            remedy="use `where` for the others",
        )
    return dict(pair)


def _known(quantity: str) -> str:
    if quantity not in QUANTITIES:
        raise WrongUsage("no such quantity", where=quantity, remedy=f"one of {', '.join(QUANTITIES)} can be predicted")
    return quantity
