"""The GPU work of the recorded steps, alike with alike: a window comes in, `facts.Kernel` rows go out."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from foretrace import grammars
from foretrace.analysis.attribution import NONE
from foretrace.analysis.nesting import innermost, outermost_first
from foretrace.analysis.occupancy import occupancy
from foretrace.analysis.steps import OUTSIDE
from foretrace.facts import Kernel
from foretrace.stats import summarise
from foretrace.trace import LAUNCHERS, Device, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foretrace.analysis.window import Window
    from foretrace.record import Gpu
    from foretrace.trace import Int64

ACTIVITIES: Mapping[Kind, Literal["kernel", "memcpy", "memset"]] = {
    Kind.KERNEL: "kernel",
    Kind.MEMCPY: "memcpy",
    Kind.MEMSET: "memset",
}


class Geometry(NamedTuple):
    """What makes two pieces of GPU work the same: the key by which they are put together. -1 where unknown."""

    kind: Kind
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    shared_bytes: int
    moved_bytes: int
    device: int


class Origin(NamedTuple):
    """Where the launch of a piece of GPU work was; "" and () where that is unknown."""

    op: str
    call: str
    calls_before: tuple[str, ...]


def by_geometry(window: Window, works: Int64 | None = None) -> dict[Geometry, Int64]:
    """GPU work, by default that which the recorded steps launched, same things together, longest total first."""
    groups: dict[Geometry, list[int]] = defaultdict(list)
    for work in (window.work if works is None else works).tolist():
        groups[_geometry(window, work)].append(work)
    found = {geometry: np.array(works, dtype=np.int64) for geometry, works in groups.items()}
    return dict(sorted(found.items(), key=lambda item: (-window.duration_us(item[1]), item[0])))


def kernels(window: Window, groups: Mapping[Geometry, Int64], gpu: Gpu | None) -> tuple[Kernel, ...]:
    """One row for each kind of GPU work.

    Args:
        window: the recorded window.
        groups: its GPU work, from `by_geometry`.
        gpu: the limits of the device where the trace does not state them.
    """
    works = np.sort(np.concatenate(list(groups.values()))) if groups else window.work[:0]
    origins = _origins(window, works)
    total_us = window.duration_us(works)
    devices = {device.index: _completed(device, gpu) for device in window.trace.devices}
    return tuple(
        _kernel(window, geometry, works, origins=origins, device=devices[geometry.device], whole_us=total_us)
        for geometry, works in groups.items()
    )


def _kernel(
    window: Window,
    geometry: Geometry,
    works: Int64,
    *,
    origins: Mapping[int, Origin],
    device: Device,
    whole_us: float,
) -> Kernel:
    trace, activity = window.trace, ACTIVITIES[geometry.kind]
    rows = window.rows_of(works)
    total_us = window.duration_us(works)
    origin = _commonest(origins[work] for work in works.tolist())
    fit = occupancy(
        device,
        threads=int(np.prod(geometry.block)) if geometry.block[0] > 0 else 0,
        registers=geometry.registers,
        shared_bytes=geometry.shared_bytes,
    )
    percent = trace.gpu.occupancy_percent[works]
    percent = percent[np.isfinite(percent)]
    return Kernel(
        activity=activity,
        name=geometry.name,
        family=grammars.decode(geometry.name).family if activity == "kernel" else activity,
        label=window.labels[geometry.name] or activity,
        identity=grammars.identity(geometry.name),
        per_step=_per_step(window, works),
        duration=summarise(trace.dur_ns[rows] / 1000),
        total_us=total_us,
        share=total_us / whole_us if whole_us else 0.0,
        grid=geometry.grid if geometry.grid[0] >= 0 else None,
        block=geometry.block if geometry.block[0] >= 0 else None,
        registers=_known(geometry.registers),
        shared_bytes=_known(geometry.shared_bytes),
        moved_bytes=_known(geometry.moved_bytes),
        occupancy_reported=float(np.median(percent)) / 100 if len(percent) else None,
        occupancy=fit.share if fit else None,
        occupancy_limit=fit.limit if fit else "",
        op=origin.op,
        launch_call=origin.call,
        calls_before=origin.calls_before,
        fields=_fields(geometry.name) if activity == "kernel" else {},
    )


def _fields(name: str) -> dict[str, str]:
    """What the decoder reads in a name, as text."""
    read = grammars.decode(name).fields
    return {key: "+".join(value) if isinstance(value, tuple) else str(value) for key, value in read.items()}


def _per_step(window: Window, works: Int64) -> tuple[int, ...]:
    """How many of these activities each recorded step launched; () where none of them belongs to a step."""
    step = window.step_of_work[works]
    step = step[step != OUTSIDE]
    return tuple(np.bincount(step, minlength=len(window)).tolist()) if len(step) else ()


def _geometry(window: Window, work: int) -> Geometry:
    trace, gpu = window.trace, window.trace.gpu
    row = int(gpu.row[work])
    grid, block = gpu.grid[work].tolist(), gpu.block[work].tolist()
    return Geometry(
        kind=Kind(int(trace.kind[row])),
        name=trace.text(row),
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        registers=int(gpu.registers[work]),
        shared_bytes=int(gpu.shared_bytes[work]),
        moved_bytes=int(gpu.bytes[work]),
        device=int(gpu.device[work]),
    )


def _origins(window: Window, works: Int64) -> dict[int, Origin]:
    """The origin of each of these pieces of GPU work."""
    trace = window.trace
    launches = window.attribution.launch[works]
    calls = outermost_first(trace, trace.rows(*LAUNCHERS))
    op_of_call = dict(zip(calls.tolist(), innermost(trace, window.parent, calls, Kind.OP).tolist(), strict=True))
    before = _calls_before(window, op_of_call)
    found = {}
    for work, launch, by_external in zip(
        works.tolist(), launches.tolist(), window.attribution.op[works].tolist(), strict=True
    ):
        op = by_external if launch == NONE else op_of_call[launch]
        found[work] = Origin(
            op="" if op == NONE else trace.text(op),
            call="" if launch == NONE else trace.text(launch),
            calls_before=before.get(launch, ()),
        )
    return found


def _calls_before(window: Window, op_of_call: Mapping[int, int]) -> dict[int, tuple[str, ...]]:
    """For each launch inside an operator, the CUDA calls in it since the kernel launch before."""
    trace, attribution = window.trace, window.attribution
    launched = set(np.unique(attribution.launch).tolist())
    of_kernels = set(attribution.launch[trace.kind[trace.gpu.row] == Kind.KERNEL].tolist())
    since: dict[int, list[str]] = defaultdict(list)
    found = {}
    for call, op in op_of_call.items():
        if op == NONE or int(window.parent[call]) in op_of_call:  # a driver call inside a runtime call is part of it
            continue
        if call in launched:
            found[call] = tuple(since[op])
        if call in of_kernels:
            since[op].clear()
        else:
            since[op].append(trace.text(call))
    return found


def _commonest(origins: Iterable[Origin]) -> Origin:
    count = Counter(origins)
    return min(count, key=lambda origin: (-count[origin], origin))


def _completed(device: Device, gpu: Gpu | None) -> Device:
    """The device's limits, from the environment where the trace does not state them."""
    if gpu is None:
        return device
    return Device(
        index=device.index,
        name=device.name or gpu.name,
        multiprocessors=device.multiprocessors or gpu.multiprocessors,
        warp_size=device.warp_size or gpu.warp_size,
        registers_per_multiprocessor=device.registers_per_multiprocessor or gpu.registers_per_multiprocessor,
        shared_bytes_per_multiprocessor=device.shared_bytes_per_multiprocessor or gpu.shared_bytes_per_multiprocessor,
        threads_per_multiprocessor=device.threads_per_multiprocessor or gpu.threads_per_multiprocessor,
        compute_capability=device.compute_capability or gpu.compute_capability,
    )


def _known(value: int) -> int | None:
    return value if value >= 0 else None
