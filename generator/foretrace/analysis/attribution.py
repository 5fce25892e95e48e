"""Who launched what: a trace comes in, the launch of every GPU activity goes out.

A launch is any runtime or driver call that bears the activity's correlation id, whatever its name; one graph launch has
many activities. Where the trace has no correlation ids (older ROCm), the operator with the same External id is given
instead, apart, because it is no launch.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foretrace.trace import LAUNCHERS, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from foretrace.trace import Int64, Trace

GRAPH_LAUNCH = re.compile(r"graph_?launch", re.IGNORECASE)  # cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """The origin of each GPU activity; entry `i` belongs to `trace.gpu.row[i]`, `NONE` where there is none."""

    launch: Int64  # trace row of the runtime or driver call
    op: Int64  # trace row of the operator with the same External id, only where there is no launch
    from_graph: NDArray[np.bool_]  # the launch was that of a graph, so that no operator can be named

    @property
    def cause(self) -> Int64:
        """The CPU row that stands for the launch: the launch itself, else the operator by External id."""
        return np.where(self.launch == NONE, self.op, self.launch)


def attribute(trace: Trace) -> Attribution:
    """The launch of every GPU activity of `trace`."""
    launch = _launches(trace)
    graph_name = np.array([GRAPH_LAUNCH.search(name) is not None for name in trace.names] or [False])
    return Attribution(
        launch=launch,
        op=np.where(launch == NONE, _ops_by_external_id(trace), NONE),
        from_graph=(launch != NONE) & graph_name[trace.name[launch]] if len(trace) else np.empty(0, dtype=bool),
    )


def processes(trace: Trace) -> Int64:
    """A number for each lane that is the same for all lanes of one process."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(lane.process, len(numbers)) for lane in trace.lanes], dtype=np.int64)


def _launches(trace: Trace) -> Int64:
    calls = trace.rows(*LAUNCHERS)
    calls = calls[trace.correlation[calls] >= 0]
    calls = calls[np.argsort(trace.correlation[calls], kind="stable")]  # of one id, in start order
    ids, wanted = trace.correlation[calls], trace.correlation[trace.gpu.row]
    first, past = np.searchsorted(ids, wanted), np.searchsorted(ids, wanted, side="right")
    launch = np.full(len(wanted), NONE, dtype=np.int64)
    known = (past > first) & (wanted >= 0)
    launch[known] = calls[first[known]]
    unclear = np.flatnonzero(known & (past - first > 1))
    if len(unclear):
        candidates = {int(at): calls[first[at] : past[at]].tolist() for at in unclear}
        _choose_among(trace, launch, candidates)
    return launch


def _choose_among(trace: Trace, launch: Int64, candidates: dict[int, list[int]]) -> None:
    """Settle activities whose id several calls bear, as in traces merged from several processes.

    The calls of the process that clearly launches on that device come first; of those, the last before the activity.
    """
    process = processes(trace)[trace.lane]
    start, device = trace.start_ns, trace.gpu.device
    for at, calls in candidates.items():
        launch[at] = _last_before(calls, start, int(start[trace.gpu.row[at]]))
    clear = np.ones(len(launch), dtype=bool)
    clear[list(candidates)] = False
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    for electorate in (np.flatnonzero(clear & (launch != NONE)), np.array(list(candidates))):
        undecided = ~np.isin(device[electorate], list(votes))
        for at in electorate[undecided].tolist():
            votes[int(device[at])][int(process[launch[at]])] += 1
    for at, calls in candidates.items():
        home = votes[int(device[at])].most_common(1)[0][0]
        own = [call for call in calls if process[call] == home] or calls
        launch[at] = _outermost(trace, own, _last_before(own, start, int(start[trace.gpu.row[at]])))


def _last_before(calls: Sequence[int], start: Int64, time: int) -> int:
    """Of calls in start order, the last that starts at or before `time`; the first if none does."""
    return next((call for call in reversed(calls) if start[call] <= time), calls[0])


def _outermost(trace: Trace, calls: Sequence[int], chosen: int) -> int:
    """The runtime call around `chosen`, where both it and the driver call inside bear the id."""
    end = trace.end_ns
    around = (call for call in calls if trace.start_ns[call] <= trace.start_ns[chosen] and end[call] >= end[chosen])
    return next((call for call in around if trace.lane[call] == trace.lane[chosen]), chosen)


def _ops_by_external_id(trace: Trace) -> Int64:
    ops = trace.rows(Kind.OP)
    ops = ops[trace.external[ops] > 0]
    ids, first = np.unique(trace.external[ops], return_index=True)
    wanted = trace.external[trace.gpu.row]
    place = np.searchsorted(ids, wanted)
    known = (place < len(ids)) & (wanted > 0)
    known[known] = ids[place[known]] == wanted[known]
    op = np.full(len(wanted), NONE, dtype=np.int64)
    op[known] = ops[first[place[known]]]
    return op
