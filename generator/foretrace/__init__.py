"""Foretrace: say what you expect before you open the trace.

What a scenario's author needs: `Scenario`, `grid`, `Protocol`, `Work`, `claim`, and the words of `predict`.
"""

from foretrace import predict
from foretrace.scenario import Part, Protocol, Scenario, Work, claim, grid

__all__ = ["Part", "Protocol", "Scenario", "Work", "claim", "grid", "predict"]
__version__ = "0.1.0"
