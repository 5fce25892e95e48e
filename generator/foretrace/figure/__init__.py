"""Images: facts and summaries go in, deterministic SVG bytes in a light or a dark theme come out."""

from __future__ import annotations

from foretrace.figure.bars import families, rates
from foretrace.figure.curves import sweep
from foretrace.figure.lanes import timeline
from foretrace.figure.marks import changes, choices
from foretrace.figure.rows import cpu_gpu, samples
from foretrace.figure.theme import DARK, LIGHT, Theme

__all__ = [
    "DARK", "LIGHT", "Theme", "changes", "choices", "cpu_gpu", "families", "rates", "samples", "sweep", "timeline",
]  # fmt: skip
