"""Who launched what: a trace comes in, the launch of every GPU activity goes out.

A launch is any runtime or driver call that bears the activity's correlation id, whatever its name; one graph launch has
many activities. Where the trace has no correlation ids (older ROCm), the operator with the same External id is given
instead, apart, because it is no launch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foretrace.analysis.groups import Groups
from foretrace.trace import LAUNCHERS, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foretrace.trace import Int64, Trace

NONE = -1
GRAPH_LAUNCH = re.compile(r"graph_?launch", re.IGNORECASE)  # cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch


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
        op=_ops_by_external_id(trace, launch == NONE),
        from_graph=(launch != NONE) & graph_name[trace.name[launch]] if len(trace) else np.empty(0, dtype=bool),
    )


def processes(trace: Trace) -> Int64:
    """A number for each lane that is the same for all lanes of one process."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(lane.process, len(numbers)) for lane in trace.lanes], dtype=np.int64)


def _launches(trace: Trace) -> Int64:
    calls = trace.rows(*LAUNCHERS)
    calls = calls[trace.correlation[calls] >= 0]
    by_id = Groups(trace, calls, trace.correlation[calls])
    number = by_id.numbers(trace.correlation[trace.gpu.row])
    launch = _latest_else_first(by_id, number, trace.gpu.row)
    unclear = np.flatnonzero((number != NONE) & (np.append(by_id.sizes(), 1)[number] > 1))
    if len(unclear):
        launch[unclear] = _choice(trace, calls, launch, unclear)
    return launch


def _latest_else_first(calls: Groups, number: Int64, rows: Int64) -> Int64:
    latest = calls.latest(number, rows)
    return np.where(latest == NONE, calls.first(number), latest)


def _choice(trace: Trace, calls: Int64, launch: Int64, unclear: Int64) -> Int64:
    """The launches of activities whose id several calls bear, as in traces merged from several processes.

    The calls of the process that clearly launches on that device come first; of those, the last before the activity,
    or the runtime call around it, where both that and the driver call inside bear the id.
    """
    process = processes(trace)[trace.lane]
    row = trace.gpu.row[unclear]
    calls = calls[np.isin(trace.correlation[calls], trace.correlation[row])]
    ids, number = np.unique(trace.correlation[calls], return_inverse=True)
    most = int(process.max()) + 1
    by_process = Groups(trace, calls, number.reshape(-1) * most + process[calls])
    at_home = np.searchsorted(ids, trace.correlation[row]) * most + _home(trace, process, launch, unclear)
    own = _latest_else_first(by_process, by_process.numbers(at_home), row)
    return _outermost(trace, calls, np.where(own == NONE, launch[unclear], own))


def _home(trace: Trace, process: Int64, launch: Int64, unclear: Int64) -> Int64:
    """For each unclear activity, the process that launches most on its device: of what is clear, else of them all."""
    clear = launch != NONE
    clear[unclear] = False
    clear |= ~np.isin(trace.gpu.device, trace.gpu.device[clear]) & (launch != NONE)
    device, votes = trace.gpu.device[clear].astype(np.int64), process[launch[clear]]
    most = int(process.max()) + 1
    pairs, first, count = np.unique((device + 1) * most + votes, return_index=True, return_counts=True)
    best = np.lexsort((first, -count, pairs // most))  # of two with as many votes, the one that came first
    devices, winner = np.unique(pairs[best] // most, return_index=True)
    return (pairs[best[winner]] % most)[np.searchsorted(devices, trace.gpu.device[unclear] + 1)]


def _outermost(trace: Trace, calls: Int64, chosen: Int64) -> Int64:
    """For each of the chosen calls, the first call on its lane that bears its id and ends with it or later."""
    end = np.unique(trace.end_ns[calls], return_inverse=True)[1].reshape(-1)
    number = np.unique(trace.correlation[calls], return_inverse=True)[1].reshape(-1)
    order = np.lexsort((calls, trace.lane[calls], number))
    fresh = np.any(np.diff(np.stack((number, trace.lane[calls]))[:, order], prepend=-1), axis=0)
    reach = np.cumsum(fresh) * len(calls) + end[order]
    first = np.searchsorted(np.maximum.accumulate(reach), reach)
    outermost = np.empty_like(calls)
    outermost[order] = calls[order[first]]
    return outermost[np.searchsorted(calls, chosen)]


def _ops_by_external_id(trace: Trace, unlinked: NDArray[np.bool_]) -> Int64:
    op = np.full(len(unlinked), NONE, dtype=np.int64)
    wanted = trace.external[trace.gpu.row]
    asking = np.flatnonzero(unlinked & (wanted > 0))
    if len(asking):
        ops = trace.rows(Kind.OP)
        ops = ops[np.isin(trace.external[ops], wanted[asking])]
        by_id = Groups(trace, ops, trace.external[ops])
        op[asking] = by_id.first(by_id.numbers(wanted[asking]))
    return op
