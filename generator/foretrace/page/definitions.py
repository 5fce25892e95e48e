"""The definitions page: the vocabulary of quantities and every table's columns, as they are shown."""

from __future__ import annotations

import re

from foretrace.facts import QUANTITIES
from foretrace.page import (
    addresses,
    comparison,
    cpu,
    front,
    fusion,
    given,
    glossary,
    layers,
    pieces,
    ranks,
    savings,
    scenario,
    sweep,
    variant,
)
from foretrace.page.models import Column, Definitions
from foretrace.page.statements import STATES

TABLES = {
    "Step times": scenario.STEPS,
    "CPU beside GPU": scenario.BESIDE,
    "The CPU's side": cpu.CPU,
    "Parts of a step": pieces.PARTS,
    "Sweep": sweep.SWEEP,
    "Which kernel where": sweep.CHOSEN,
    "Variants": scenario.VARIANTS,
    "Against the baseline": comparison.PAIR,
    "Layers of a pair": layers.AGAINST,
    "Memory traffic of a pair": savings.SAVINGS,
    "How far it was fused": fusion.FUSION,
    "Noise": comparison.NOISE,
    "Layers": layers.LAYERS,
    "Quantities of a variant": variant.QUANTITY,
    "GPU work": variant.KERNEL,
    "GPU work in order": pieces.SEQUENCE,
    "What each operator launches": cpu.OPERATORS,
    "Recorded steps": variant.STEP,
    "Dispatch chain": variant.CHAIN,
    "Operators and calls": cpu.CALL,
    "Integrity": variant.CHECK,
    "Device": variant.DEVICE,
    "Scenarios": front.SCENARIOS,
    "Reports on traces": given.REPORTS,
    "Busy and idle": given.USAGE,
    "Ranks": ranks.RANKS,
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
        tables=tuple(
            (re.sub(r"[^a-z]+", "-", title.lower()).strip("-"), title, columns) for title, columns in TABLES.items()
        ),
    )
