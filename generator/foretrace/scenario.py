"""What a scenario declares: a question, the variants that could answer it, and what is expected of them.

`scenarios/<slug>/scenario.py` holds one `scenario = Scenario(…)` and imports no torch. The declaration is plain data,
so that a run can seal it before it measures anything.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import msgspec

from foretrace.errors import WrongUsage
from foretrace.facts import Params, Scalar
from foretrace.prediction import Claim, Kind, Where, fits, seal

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.~-]*\Z")]
"""What may name a file or a folder of a record; a record that says otherwise is not read."""

_RESERVED = {"declaration"}  # the record keeps what was sealed under this name, beside the variants
_LONGEST_NAME = 200  # characters: file systems allow 255 bytes, of which a record's endings take some


class Protocol(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a variant is profiled; the defaults are those of the series *Profiling in PyTorch*.

    `torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1)` after `warm_calls` calls and a
    synchronisation. With `warm_calls=0` the process is cold: the profiled window comes before anything else.
    """

    warm_calls: Annotated[int, msgspec.Meta(ge=0)] = 3
    wait: Annotated[int, msgspec.Meta(ge=0)] = 1
    warmup: Annotated[int, msgspec.Meta(ge=0)] = 1
    active: Annotated[int, msgspec.Meta(ge=1)] = 3


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kernel's share of a step's work, by arithmetic.

    A part is found by its place: the first part of a family is the first kernel of that family in the step, and so on.
    """

    name: str  # unique in its step: `gate`, `up`, `down`
    family: str  # of the kernel that does it, as decoded from its name: `gemm`, `pointwise`, …
    flops: float
    bytes: float  # each input read once, each output written once
    dtype: str = ""  # whose matrix-multiply ceiling the flops are held against; "": that of the step


class Work(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one step has to do at least, by arithmetic: the roofline's two inputs."""

    flops: float
    bytes: float  # each input read once, each output written once
    dtype: str = "bf16"  # whose matrix-multiply ceiling the flops are held against
    parts: tuple[Part, ...] = ()  # of its kernels, in the order in which a step runs them; none need be declared

    @classmethod
    def of(cls, *parts: Part, dtype: str = "bf16") -> Work:
        """The work of a step that is the sum of its parts."""
        return cls(
            flops=sum(part.flops for part in parts),
            bytes=sum(part.bytes for part in parts),
            dtype=dtype,
            parts=parts,
        )


class Variant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One point of the grid."""

    name: Name  # the parameters' values, joined: unique in its scenario and fit for a file name
    params: Params
    protocol: Protocol = Protocol()
    work: Work | None = None


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One question with its experiment.

    Args:
        title: the page's title.
        question: what is asked, in one or two sentences of plain text.
        label: the `record_function` label around each step.
        variants: from `grid(…)`; grids are added with `+`.
        predictions: ours, made before the run.
        claims: published by others, with source.
        baseline: the parameter and the value that comparisons start from, such as `{"mode": "eager"}`.
        quick: which variants `--quick` measures; all where it is empty.
    """

    title: str
    question: str
    variants: tuple[Variant, ...]
    label: str = "step"
    predictions: tuple[Kind, ...] = ()
    claims: tuple[Claim, ...] = ()
    baseline: Params = {}
    quick: Where = {}

    def __post_init__(self) -> None:
        """Refuse what could not be measured or told apart."""
        if not self.variants:
            raise WrongUsage("there is no variant to measure", where=self.title, remedy="declare some with grid(…)")
        for name, times in Counter(variant.name.casefold() for variant in self.variants).items():
            if times > 1:
                raise WrongUsage("two variants have this name", where=name, remedy="give them a parameter that differs")
            if name in _RESERVED:
                raise WrongUsage("a variant cannot have this name", where=name, remedy="give it another value")
            if len(name) > _LONGEST_NAME:
                raise WrongUsage("this name is too long for a file", where=name, remedy="give it a shorter value")
        for variant in self.variants:
            parts = [part.name for part in variant.work.parts] if variant.work else []
            if len(set(parts)) < len(parts):
                raise WrongUsage("two parts of a step have one name", where=variant.name, remedy="name each its own")
        if not any(fits(variant.params, self.quick) for variant in self.variants):
            raise WrongUsage("no variant has these parameters", where=f"quick={self.quick}", remedy="see `variants`")

    def seal(self) -> str:
        """The sha256, in hex, of all that decides a verdict: what is measured and what is expected, not the wording."""
        return seal(self.label, self.variants, self.predictions, self.claims)

    def planned(self, *, quick: bool = False) -> tuple[Variant, ...]:
        """The variants to measure, in order."""
        return tuple(variant for variant in self.variants if not quick or fits(variant.params, self.quick))


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """A declaration as it stood before the run."""

    slug: Name
    scenario: Scenario
    seal: str  # `scenario.seal()` before the run
    source_sha256: str  # of scenario.py, to notice that it changed since
    workload_sha256: str = ""  # of workload.py: what was measured


_SERIES = Protocol()


def grid(
    *, protocol: Protocol = _SERIES, work: Callable[[Params], Work] | None = None, **axes: Scalar | Sequence[Scalar]
) -> tuple[Variant, ...]:
    """Every combination of the axes' values, the last axis fastest.

    Args:
        protocol: how these variants are profiled.
        work: from a variant's parameters to what a step has to do.
        axes: parameter name = its values, or one value.
    """
    values = [(axis,) if isinstance(axis, str | int | float | bool) else tuple(axis) for axis in axes.values()]
    points = [dict(zip(axes, point, strict=True)) for point in itertools.product(*values)]
    return tuple(
        Variant(name=_name(point.values()), params=point, protocol=protocol, work=work(point) if work else None)
        for point in points
    )


def claim(id: str, statement: str, expectation: Kind, *, figure: str, on: str, source: str) -> Claim:  # noqa: A002
    """A published statement in the form in which it can be judged: see `prediction.Claim`."""
    return Claim(id=id, statement=statement, expectation=expectation, figure=figure, on=on, source=source)


def _name(values: Iterable[Scalar]) -> str:
    return "-".join(re.sub(r"^\.|[^A-Za-z0-9_.]+", "_", str(value)) or "_" for value in values) or "only"
