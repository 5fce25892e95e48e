"""Foretrace: say what you expect before you open the trace."""
