"""The definitions page: the vocabulary of quantities and every table's columns, as they are shown."""

from __future__ import annotations

from foretrace.facts import QUANTITIES
from foretrace.page import addresses, comparison, front, glossary, layers, scenario, sweep, variant
from foretrace.page.models import Column, Definitions
from foretrace.page.statements import STATES

TABLES = {
    "Step times": scenario.STEPS,
    "CPU beside GPU": scenario.BESIDE,
    "Sweep": sweep.SWEEP,
    "Variants": scenario.VARIANTS,
    "Against the baseline": comparison.PAIR,
    "Layers of a pair": layers.AGAINST,
    "Noise": comparison.NOISE,
    "Layers": layers.LAYERS,
    "Quantities of a variant": variant.QUANTITY,
    "GPU work": variant.KERNEL,
    "Recorded steps": variant.STEP,
    "Dispatch chain": variant.CHAIN,
    "Operators and calls": variant.CALL,
    "Integrity": variant.CHECK,
    "Device": variant.DEVICE,
    "Scenarios": front.SCENARIOS,
    "Kernel names": glossary.TERM,
}
"""Every kind of table that a page can hold, under its section's name."""

_UNITS = {
    "us": "time",
    "bytes": "size",
    "ratio": "factor",
    "share": "share",
    "count": "count",
    "tflops": "TFLOP/s",
    "gbps": "GB/s",
}


def build() -> Definitions:
    """The page; it does not depend on any run."""
    return Definitions(
        address=addresses.DEFINITIONS,
        quantities=tuple(
            (key, Column(title=found.title, meaning=found.meaning), _UNITS[found.unit])
            for key, found in QUANTITIES.items()
        ),
        states=tuple(STATES.items()),
        tables=tuple((title.lower().replace(" ", "-"), title, columns) for title, columns in TABLES.items()),
    )
