"""Achieved rates beside what this device reached at best: variants with declared work come in, pictures go out."""

from __future__ import annotations

from collections.abc import Mapping

from foretrace.analysis.bound import floors
from foretrace.facts import Facts
from foretrace.page import addresses
from foretrace.page.models import Picture, Rates
from foretrace.record import Ceilings
from foretrace.scenario import Work


def pictures(
    found: Mapping[str, Facts], works: Mapping[str, Work], ceilings: Ceilings, *, slug: str, title: str
) -> tuple[Picture, ...]:
    """Up to two: the variants whose arithmetic takes longest at the ceilings, and those whose memory traffic does."""
    computing = {name: by_arithmetic(works[name], ceilings) for name in found if name in works}
    arithmetic = tuple(
        (name, found[name].quantities["tflops"], ceilings.tflops.get(works[name].dtype))
        for name, first in computing.items()
        if first and _known(found[name], "tflops")
    )
    traffic = tuple(
        (name, found[name].quantities["gbps"], ceilings.copy_gbps)
        for name, first in computing.items()
        if not first and _known(found[name], "gbps")
    )
    drawn = []
    if arithmetic:
        drawn.append(
            Picture(
                stem=addresses.picture(slug, "rates"),
                title="Arithmetic, achieved",
                alt=f"Achieved arithmetic rate of variants of {title}, beside the measured ceilings",
                caption="Declared operations over GPU busy time; the mark is the best product that this run measured "
                "in the type.",
                drawing=Rates(unit="tflops", rows=arithmetic),
            )
        )
    if traffic:
        drawn.append(
            Picture(
                stem=addresses.picture(slug, "bandwidth"),
                title="Memory traffic, achieved",
                alt=f"Achieved bandwidth of variants of {title}, beside the measured ceiling",
                caption="Declared bytes over GPU busy time; the mark is the copy bandwidth that this run measured. "
                "What a cache keeps goes beyond it.",
                drawing=Rates(unit="gbps", rows=traffic),
            )
        )
    return tuple(drawn)


def by_arithmetic(work: Work, ceilings: Ceilings) -> bool:
    """Whether a step's arithmetic takes longer than its memory traffic, each at its ceiling; so too if unknown."""
    arithmetic, traffic = floors(work, ceilings)
    return not arithmetic.us < traffic.us


def _known(facts: Facts, quantity: str) -> bool:
    return quantity in facts.quantities and quantity not in facts.withheld
