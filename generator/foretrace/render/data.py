"""Numbers for other tools: a scenario's facts come in, a CSV of all quantities and a JSON file a variant go out."""

from __future__ import annotations

import csv
import io

import msgspec

from foretrace.facts import QUANTITIES, Facts
from foretrace.study import Investigation

_HEAD = ("variant", "quantity", "unit", "median", "low", "high", "minimum", "maximum", "mean", "count")


def quantities(found: Investigation) -> bytes:
    """A row for each variant and quantity that is known and trusted, numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEAD)
    measured = {name: facts for name, facts in found.facts.items() if isinstance(facts, Facts)}
    for name, facts in measured.items():
        for key in QUANTITIES:
            if key in facts.quantities and key not in facts.withheld:
                it = facts.quantities[key]
                numbers = (it.median, it.low, it.high, it.minimum, it.maximum, it.mean)
                writer.writerow((name, key, QUANTITIES[key].unit, *map(repr, numbers), it.count))
    return text.getvalue().encode()


def known(found: Facts) -> bytes:
    """All that is known of a variant, as JSON."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
