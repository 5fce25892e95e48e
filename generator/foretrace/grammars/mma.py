"""The code for a matrix instruction that NVIDIA's GEMM names share: takes `s16816`, gives accumulator type and shape.

Source: NVIDIA/cutlass python/cutlass_library/gemm_operation.py and library.py, media/docs/cpp/profiler.md
(https://github.com/NVIDIA/cutlass). The letter is the accumulator and not the input; no digits means no tensor core.
"""

from __future__ import annotations

ACCUMULATORS = {
    "s": "f32",
    "h": "f16",
    "d": "f64",
    "i": "i32",
    "c": "c64",
    "z": "c128",
    "gc": "c64",
    "gz": "c128",
    "bf16_s": "f32",
}
SHAPES = {
    "884": "8x8x4", "1684": "16x8x4", "1688": "16x8x8", "16816": "16x8x16", "16832": "16x8x32", "16864": "16x8x64",
    "168128": "16x8x128", "168256": "16x8x256", "8816": "8x8x16", "8832": "8x8x32", "88128": "8x8x128",
    "161616": "16x16x16",
    "32816": "32x8x16", "83216": "8x32x16",
}  # fmt: skip
TYPES = {
    "f16": "f16", "fp16": "f16", "bf16": "bf16", "f32": "f32", "fp32": "f32", "tf32": "tf32", "f64": "f64",
    "s8": "i8", "u8": "u8",
    "i8": "i8", "int8": "i8", "s4": "i4", "u4": "u4", "s32": "i32", "i32": "i32", "b1": "b1", "e4m3": "e4m3",
    "e5m2": "e5m2",
    "f8": "fp8", "cf32": "c64", "cf64": "c128",
}  # fmt: skip
