"""Pure functions from a `trace.Trace` to facts, each with a unit and a definition; no paths, no printing, no charts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foretrace.analysis.alone import of_trace
    from foretrace.analysis.lanes import timeline
    from foretrace.analysis.variant import facts

__all__ = ["facts", "of_trace", "timeline"]


def __getattr__(name: str) -> Any:
    """The functions when they are asked for, so that `inspect` starts without the kernel-name grammars."""
    if name == "facts":
        from foretrace.analysis.variant import facts

        return facts
    if name == "timeline":
        from foretrace.analysis.lanes import timeline

        return timeline
    if name == "of_trace":
        from foretrace.analysis.alone import of_trace

        return of_trace
    raise AttributeError(name)
