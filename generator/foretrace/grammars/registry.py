"""The grammars that exist, as a literal; their order never matters, because no two claim one name."""

from __future__ import annotations

from foretrace.grammars import (
    aten_elementwise,
    aten_foreach,
    cublas_sass,
    cutlass2,
    inductor,
    memory,
    nvjet,
)

GRAMMARS = (
    aten_elementwise.GRAMMAR,
    aten_foreach.GRAMMAR,
    cublas_sass.GRAMMAR,
    cutlass2.GRAMMAR,
    inductor.GRAMMAR,
    memory.GRAMMAR,
    nvjet.GRAMMAR,
)
