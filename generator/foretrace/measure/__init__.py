"""Measuring, seen from the parent: declarations go in, a record's folder comes out; torch is never imported here.

`run` starts a record and `resume` continues one; `probe` says what could be measured on. A `Progress` is told what
happens meanwhile.
"""

from foretrace.measure.progress import Progress, Silence
from foretrace.measure.session import probe, resume, run

__all__ = ["Progress", "Silence", "probe", "resume", "run"]
