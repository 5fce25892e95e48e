"""Pure functions from a `trace.Trace` to facts, each with a unit and a definition; no paths, no printing, no charts."""

from foretrace.analysis.lanes import timeline
from foretrace.analysis.variant import facts

__all__ = ["facts", "timeline"]
