"""How fast are kernel names read? Decodes 2,000 distinct names without a warm cache and says how long that took.

The names are the examples of all grammars, varied in their numbers. Exits 1 if the best of five runs takes over 0.2 s,
more than reading the kernels of a trace may add to a command.
"""

from __future__ import annotations

import itertools
import re
import sys
import time
from functools import partial

from foretrace import grammars
from foretrace.grammars.inductor import fused_operations

COUNT = 2000
LIMIT = 0.2
NUMBER = re.compile(r"(?<=[_<x ])\d\d+")


def larger(step: int, match: re.Match[str]) -> str:
    """The number in a name, moved on by `step` tiles of 16."""
    return str(int(match[0]) + 16 * step)


def names() -> list[str]:
    """2,000 distinct names."""
    examples = [name for grammar in grammars.GRAMMARS for name in grammar.examples]
    found: dict[str, None] = dict.fromkeys(examples)
    for step in itertools.count(1):
        for example in examples:
            found[NUMBER.sub(partial(larger, step), example)] = None
            found[f"{example}_{step}"] = None
            if len(found) >= COUNT:
                return list(found)[:COUNT]
    raise AssertionError


def seconds(given: list[str]) -> float:
    """Time to decode every name once."""
    grammars.decode.cache_clear()
    fused_operations.cache_clear()
    begin = time.perf_counter()
    for name in given:
        grammars.decode(name)
    return time.perf_counter() - begin


def main() -> int:
    """Print the times; 1 if even the best run is over the limit."""
    given = names()
    runs = sorted(seconds(given) for _ in range(5))
    print(  # noqa: T201 - a program
        f"{len(given)} names, {sum(map(len, given)) // len(given)} characters on average: best {runs[0] * 1e3:.0f} ms, "
        f"median {runs[2] * 1e3:.0f} ms, limit {LIMIT * 1e3:.0f} ms"
    )
    return int(runs[0] > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
