"""The GPU work of a step in order: windows and declared work come in, `facts.Piece`s go out.

Only where every recorded step of a round runs the same names in the same order is there a sequence; a round that runs
another one than the first adds nothing to its durations.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from foretrace import grammars, stats
from foretrace.analysis.kernels import ACTIVITIES
from foretrace.facts import Piece
from foretrace.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretrace.analysis.window import Window
    from foretrace.scenario import Part, Work
    from foretrace.stats import Rounds
    from foretrace.trace import Int64

Run = tuple[tuple[Kind, str], ...]
"""What a step runs, in order."""

LONGEST = 400
"""Longer steps than this have no sequence: nobody declares or reads so many parts."""


def sequence(windows: Sequence[Window], work: Work | None) -> tuple[Piece, ...]:
    """What every step runs, in the order of its starts; () where steps differ, or run too much to be told apart.

    Args:
        windows: the recorded windows, one a round.
        work: what a step has to do; its parts are found among the pieces.
    """
    found = [_steps(window) for window in windows]
    run = _run(windows[0], found[0])
    if not run:
        return ()
    same = [(window, steps) for window, steps in zip(windows, found, strict=True) if _run(window, steps) == run]
    parts = _placed(work.parts if work else (), run)
    label = windows[0].labels
    return tuple(
        _piece(kind, name, label[name], _durations(same, place), part=parts.get(place), work=work)
        for place, (kind, name) in enumerate(run)
    )


def _steps(window: Window) -> list[Int64]:
    """The trace rows of each step's GPU work, in start order; what starts at one instant by name."""
    trace = window.trace

    def place(row: int) -> tuple[int, str, int]:
        return int(trace.start_ns[row]), trace.text(row), int(trace.dur_ns[row])

    rows = (window.rows_of(window.work_of(step)).tolist() for step in range(len(window)))
    return [np.array(sorted(each, key=place), dtype=np.int64) for each in rows]


def _run(window: Window, steps: Sequence[Int64]) -> Run:
    """What all steps of a window run; () where they differ."""
    if not steps or not 0 < len(steps[0]) <= LONGEST:
        return ()
    runs = {tuple((Kind(int(window.trace.kind[row])), window.trace.text(row)) for row in rows) for rows in steps}
    return runs.pop() if len(runs) == 1 else ()


def _durations(rounds: Sequence[tuple[Window, Sequence[Int64]]], place: int) -> Rounds:
    """The durations in µs of the piece at a place, by round."""
    return tuple(tuple(int(window.trace.dur_ns[rows[place]]) / 1000 for rows in steps) for window, steps in rounds)


def _placed(parts: Sequence[Part], run: Run) -> Mapping[int, Part]:
    """The declared part at each place of a run: the first of a family is its first kernel, and so on.

    A family of which a step runs more or fewer kernels than were declared is not told apart.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, (kind, name) in enumerate(run):
        places[_family(kind, name)].append(place)
    declared: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        declared[part.family].append(part)
    return {
        place: part
        for family, members in declared.items()
        if len(members) == len(places[family])
        for place, part in zip(places[family], members, strict=True)
    }


def _piece(kind: Kind, name: str, label: str, durations: Rounds, *, part: Part | None, work: Work | None) -> Piece:
    return Piece(
        activity=ACTIVITIES[kind],
        name=name,
        family=_family(kind, name),
        label=label or ACTIVITIES[kind],
        duration=stats.across(durations),
        part=part.name if part else "",
        flops=part.flops if part else None,
        bytes=part.bytes if part else None,
        dtype=(part.dtype or work.dtype) if part and work else "",
        tflops=_rate(part.flops / 1e6 if part else 0.0, durations),
        gbps=_rate(part.bytes / 1e3 if part else 0.0, durations),
    )


def _rate(amount: float, durations: Rounds) -> stats.Summary | None:
    """An amount over each duration; None where there is no amount, or a duration of 0."""
    if not amount or not all(value > 0 for each in durations for value in each):
        return None
    return stats.across(tuple(tuple(amount / value for value in each) for each in durations))


def _family(kind: Kind, name: str) -> str:
    return grammars.decode(name).family if kind is Kind.KERNEL else ACTIVITIES[kind]
