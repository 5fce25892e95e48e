"""Theoretical occupancy: a launch's resources and a device's limits come in, a share and what limits it go out.

Source: NVIDIA's `cuda_occupancy.h` (CUDA 13.0) and the table "Technical Specifications per Compute Capability" of the
CUDA C++ Programming Guide. It is the share of warps that fit on a multiprocessor at once, however small the grid is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretrace.trace import Device

BLOCKS_PER_MULTIPROCESSOR = {
    "7.0": 32, "7.2": 32, "7.5": 16, "8.0": 32, "8.6": 16, "8.7": 16, "8.9": 24,
    "9.0": 32, "10.0": 32, "10.1": 24, "10.3": 32, "11.0": 24, "12.0": 24, "12.1": 24,
}  # fmt: skip
WARP = 32  # threads; another number is another vendor's, whose capability numbers mean other things
REGISTER_UNIT = 256  # registers are handed to a warp in such portions
PARTITIONS = 4  # of a multiprocessor: warps are spread evenly over them
RESERVED_SHARED_BYTES = 1024  # by the driver, for each block, from compute capability 8.0 on


class Occupancy(NamedTuple):
    """The share of a multiprocessor's warps that can be resident, and the resource that allows no more."""

    share: float
    limit: str  # "registers", "shared memory", "threads" or "blocks"; several where they tie


def occupancy(device: Device, *, threads: int, registers: int, shared_bytes: int) -> Occupancy | None:
    """The occupancy of a launch; None where the device's limits or the launch's resources are unknown.

    Args:
        device: its limits.
        threads: of a block.
        registers: of a thread.
        shared_bytes: of a block, static and dynamic.
    """
    most_blocks = BLOCKS_PER_MULTIPROCESSOR.get(device.compute_capability)
    if most_blocks is None or device.warp_size != WARP:
        return None
    known = (device.registers_per_multiprocessor, device.threads_per_multiprocessor)
    if min(*known, device.shared_bytes_per_multiprocessor, threads, registers) <= 0:
        return None
    warps, most_warps = _ceil(threads, WARP), device.threads_per_multiprocessor // WARP
    blocks = {
        "registers": _warps_by_registers(device, registers) // warps,
        "shared memory": _blocks_by_shared_memory(device, shared_bytes),
        "threads": most_warps // warps,
        "blocks": most_blocks,
    }
    fewest = min(blocks.values())
    if fewest <= 0:
        return None
    limits = [resource for resource, fit in blocks.items() if fit == fewest]
    return Occupancy(share=fewest * warps / most_warps, limit=", ".join(limits))


def _warps_by_registers(device: Device, registers: int) -> int:
    of_a_warp = _ceil(registers * WARP, REGISTER_UNIT) * REGISTER_UNIT
    return device.registers_per_multiprocessor // PARTITIONS // of_a_warp * PARTITIONS


def _blocks_by_shared_memory(device: Device, shared_bytes: int) -> int:
    ampere_or_later = int(device.compute_capability.partition(".")[0]) >= 8
    unit, reserved = (128, RESERVED_SHARED_BYTES) if ampere_or_later else (256, 0)
    of_a_block = _ceil(max(shared_bytes, 0) + reserved, unit) * unit
    return device.shared_bytes_per_multiprocessor // max(of_a_block, 1)


def _ceil(value: int, unit: int) -> int:
    return -(-value // unit)
