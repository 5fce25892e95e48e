"""Quantities as cells: a summary, a count or a name comes in, a `Cell` with its text goes out."""

from __future__ import annotations

from collections.abc import Iterable

from foretrace import units
from foretrace.facts import QUANTITIES, Activities, Facts
from foretrace.page.models import Cell, Column
from foretrace.prediction import Unmeasured
from foretrace.stats import Summary

MISSING = "n/a"
LONGEST, TAIL = 160, 40
"""The most characters of a name in a cell, and how many of them are its end; the files beside a page have all."""
STEPS = 8
"""The most steps whose counts stand one by one in a cell."""


def measured(facts: Facts | Unmeasured, quantity: str, *, typical: float | None = None) -> Cell:
    """A quantity of one variant: the median with its interval, or why there is none."""
    if isinstance(facts, Unmeasured):
        return missing(f"not measured: {facts.reason}")
    if quantity in facts.withheld:
        return missing(facts.withheld[quantity], text="withheld")
    found = facts.quantities.get(quantity)
    return missing("not known for this variant") if found is None else summary(found, quantity, typical=typical)


def summary(found: Summary, quantity: str, *, typical: float | None = None) -> Cell:
    """The median, and its interval where it was sampled."""
    return spread_out(found, QUANTITIES[quantity].unit, typical=typical)


def spread_out(found: Summary, unit: str, *, typical: float | None = None) -> Cell:
    """The median in `unit`, and its interval where there is more than one sample."""
    middle = units.quantity(found.median, unit, typical=typical)
    return Cell(text=middle, order=_order(found.median), detail=interval(found, unit, typical=typical))


def interval(found: Summary, unit: str, *, typical: float | None = None) -> str:
    """The interval that holds the median, in words; "" for what was counted, or was the same every time."""
    if found.count == 1 or found.low == found.high == found.median:
        return ""
    return between(found.low, found.high, unit, typical=found.median if typical is None else typical)


def between(low: float, high: float, unit: str, *, typical: float) -> str:
    """Two values in one unit; the one value where they are equal."""
    if low == high:
        return units.quantity(low, unit, typical=typical)
    if unit in {"count", "registers", "threads"}:
        return f"{units.quantity(low, unit)} … {units.quantity(high, unit)}"
    step, name = units.scale(unit, typical)
    ends = dict.fromkeys((units.number(low / step), units.number(high / step)))  # one where they print alike
    text = " … ".join(ends)
    return f"{text}×" if name == "×" else f"{text} {name}".rstrip()


def spread(found: Summary | None) -> Cell:
    """Half the interval's width as a share of the median."""
    if found is None or found.count == 1:
        return missing("there are no samples")
    return Cell(text=f"± {units.quantity(found.spread, 'share')}", order=_order(found.spread))


def reach(found: Summary | None, unit: str, *, typical: float | None = None) -> Cell:
    """The smallest and the largest sample."""
    if found is None or found.count == 1:
        return missing("there are no samples")
    text = between(found.minimum, found.maximum, unit, typical=found.median if typical is None else typical)
    return Cell(text=text, order=_order(found.maximum))


def amount(value: float | None, unit: str, *, typical: float | None = None) -> Cell:
    """One number with its unit; missing where it is None."""
    if value is None:
        return missing("the trace does not say")
    return Cell(text=units.quantity(value, unit, typical=typical), order=_order(value))


def unless(withheld: str, cell: Cell) -> Cell:
    """A cell, or, where there is a reason to withhold it, that."""
    return missing(withheld, text="withheld") if withheld else cell


def count(value: int | None) -> Cell:
    """A whole number."""
    return amount(value, "count")


def each(counts: tuple[int, ...]) -> Cell:
    """A count in each recorded step: once where it is always the same."""
    if not counts:
        return missing("no step was recorded")
    one_by_one = " / ".join(f"{number:,}" for number in counts)
    mean = _order(sum(counts) / len(counts))
    if len(set(counts)) == 1:
        return Cell(text=f"{counts[0]:,}", order=mean, hint=f"in each of {len(counts)} recorded steps")
    if len(counts) <= STEPS:
        return Cell(text=one_by_one, order=mean, hint="step by step")
    text = f"{min(counts):,} … {max(counts):,}"
    return Cell(text=text, exact=one_by_one, order=mean, hint=f"the fewest and the most in {len(counts)} steps")


def missing(why: str, *, text: str = MISSING) -> Cell:
    """Nothing to show, and the reason."""
    return Cell(text=text, hint=why, kind="missing")


def code(name: str, *, to: str = "", detail: str = "", depth: int = 0) -> Cell:
    """A name as it is spelt; of a very long one its beginning and its end."""
    text = short(name)
    return Cell(text=text, exact="" if text == name else name, detail=detail, kind="code", to=to, depth=depth)


def short(name: str) -> str:
    """A name that does not fill a page: its beginning and its end, where it is longer than `LONGEST`."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - TAIL - 1]}…{name[-TAIL:]}"


def head(quantity: str) -> Column:
    """The column of a defined quantity."""
    definition = QUANTITIES[quantity]
    return Column(title=definition.title, meaning=definition.meaning, numeric=True)


def typical(found: Iterable[Facts | Unmeasured], quantity: str) -> float | None:
    """A value whose unit suits the whole column, see `smallest`; None where nothing is known."""
    medians = [
        facts.quantities[quantity].median
        for facts in found
        if isinstance(facts, Facts) and quantity in facts.quantities and quantity not in facts.withheld
    ]
    return smallest(medians)


def smallest(values: Iterable[float]) -> float | None:
    """The smallest size that is not 0, but a whole unit where any is larger: so that no column reads `10,000 ns`."""
    sizes = [abs(value) for value in values if value]
    return max(min(sizes), min(max(sizes), 1.0)) if sizes else None


def activities(facts: Facts | Unmeasured) -> str:
    """What each recorded step launched, in words: `2 kernels`; several ways of it where the steps differ."""
    if isinstance(facts, Unmeasured) or not facts.steps or "activities" in facts.withheld:
        return ""
    return " / ".join(dict.fromkeys(str(step.activities) for step in facts.steps))


def launched_nothing(work: Activities) -> bool:
    """Whether no GPU work is counted."""
    return not (work.kernel or work.memcpy or work.memset)


def _order(value: float) -> str:
    return f"{value:.9g}"
