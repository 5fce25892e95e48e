"""Fusion sweep: how much of a chain of memory-bound operators Inductor makes into one kernel, and what stops it.

The claim is an open question of the series *Profiling in PyTorch*, worded as the statement that is tested here.
"""

from typing import NamedTuple

from foretrace import Scenario, Work, claim, grid, predict
from foretrace.facts import Params
from foretrace.prediction import Kind

A100 = "NVIDIA A100-SXM4-80GB"
PART_2 = "https://huggingface.co/blog/torch-mlp-fusion"

EAGER, COMPILE = {"mode": "eager"}, {"mode": "compile"}
FULL, SHORT = 8192, 256  # rows: 64 MiB a tensor, more than an L2 holds, and 2 MiB
WIDTH, WIDE = 4096, 131072  # values a row


class Chain(NamedTuple):
    """What a chain moves, in tensors of the size of its input; rows of weights and biases are too small to count."""

    operators: int  # as eager runs them
    eager: float  # every operator reads its inputs and writes its outputs
    compiled: float  # every input of the chain read once, every output written once
    why: str


CHAINS = {
    "bias_relu": Chain(2, 4, 2, "sum and activation move two each; together they move two"),
    "bias_gelu": Chain(2, 4, 2, "sum and activation move two each; together they move two"),
    "swiglu": Chain(2, 5, 3, "silu moves two tensors, the product three; together two are read and one is written"),
    "layer_norm": Chain(1, 2, 2, "one operator already: a row is read and written"),
    "rms_norm": Chain(1, 2, 2, "one operator already"),
    "rms_norm_wide": Chain(1, 2, 2, "one operator already, on rows of 256 KiB"),
    "add_layer_norm": Chain(
        2, 5, 3, "the sum moves three tensors, the norm two; together two are read, one is written"
    ),
    "add_rms_norm": Chain(
        2, 5, 4, "the sum moves three tensors, the norm two; together two are read, and sum and norm written"
    ),
    "softmax": Chain(1, 2, 2, "one operator already"),
    "scaled_masked_softmax": Chain(3, 7, 3, "the scale moves two tensors, the mask three, the softmax two"),
    "layer_norm_gelu": Chain(2, 4, 2, "norm and activation move two each; together they move two"),
    "dropout": Chain(1, 2.5, 2, "eager also writes a mask of one byte a value, which nobody asks a compiled step for"),
    "dropout_add_layer_norm": Chain(3, 7.5, 3, "dropout with its mask, a sum, a norm"),
    "linear_gelu_add": Chain(
        3, 7.5, 5.5, "the product also reads a weight of half a tensor; it stays a kernel of its own"
    ),
}
PRODUCT = "linear_gelu_add"
RANDOM = ["dropout", "dropout_add_layer_norm"]
SINGLE = [name for name, chain in CHAINS.items() if chain.operators == 1]
FUSIBLE = [name for name in CHAINS if name not in (PRODUCT, *RANDOM)]  # activation, normalization, residual
NARROW = [name for name in FUSIBLE if name != "rms_norm_wide"]
QUICK = ["bias_gelu", "add_layer_norm", "add_rms_norm"]


def work(params: Params) -> Work:
    """The tensors that a chain moves, in bf16; of arithmetic one operation a value and operator, and a product's own."""
    name = str(params["chain"])
    chain = CHAINS[name]
    values = float(params["rows"]) * (WIDE if name == "rms_norm_wide" else WIDTH)
    product = 2 * WIDTH * values if name == PRODUCT else 0.0
    tensors = chain.eager if params["mode"] == "eager" else chain.compiled
    return Work(flops=chain.operators * values + product, bytes=2 * tensors * values)


def saved(name: str, low: float, high: float, *, note: str = "") -> Kind:
    """The GPU's time shrinks as the bytes do, or as a note says."""
    chain = CHAINS[name]
    return predict.ratio(
        "gpu_busy_us",
        of=COMPILE,
        over=EAGER,
        between=(low, high),
        where={"chain": name, "rows": FULL},
        because=f"{chain.compiled:g} tensors to move against {chain.eager:g} in eager mode: {chain.why}"
        + (f"; {note}" if note else ""),
    )


scenario = Scenario(
    title="Fusion sweep",
    question=(
        "An activation, a normalization, a residual: each is a pass over memory of its own in eager mode. How many of them does "
        "Inductor make into one kernel, what stops it, and is the time saved that of the bytes saved?"
    ),
    label="fusion_sweep",
    variants=(
        grid(
            chain=[name for name in CHAINS if name != "rms_norm_wide"], rows=FULL, mode=("eager", "compile"), work=work
        )
        + grid(chain="rms_norm_wide", rows=SHORT, mode=("eager", "compile"), work=work)
        + grid(chain=QUICK, rows=SHORT, mode=("eager", "compile"), work=work)
    ),
    baseline=EAGER,
    quick={"chain": QUICK, "rows": SHORT},
    predictions=(
        predict.count(
            "kernel",
            1,
            where={**EAGER, "chain": SINGLE},
            because=(
                "layer_norm, rms_norm and softmax have kernels of their own that keep a row together, and so has dropout, which "
                "draws, scales and writes its mask in one pass"
            ),
        ),
        predict.count(
            "kernel",
            2,
            where={**EAGER, "chain": [name for name, chain in CHAINS.items() if chain.operators == 2]},
            because="eager launches a kernel for each of two operators",
        ),
        predict.count(
            "kernel",
            3,
            where={**EAGER, "chain": [name for name, chain in CHAINS.items() if chain.operators == 3]},
            because="eager launches a kernel for each of three operators",
        ),
        predict.count(
            "kernel",
            1,
            where={**COMPILE, "chain": NARROW},
            because=(
                "elementwise operators are computed where their input is loaded or their output stored, and a reduction over "
                "4096 values stays in one block, which may loop over its row twice"
            ),
        ),
        predict.count(
            "kernel",
            3,
            where={**COMPILE, "chain": "rms_norm_wide"},
            because=(
                "256 rows are fewer than two for each of 132 multiprocessors, so the reduction is split: partial sums, their sum, "
                "and then a pass that normalizes, which cannot be joined to either"
            ),
        ),
        predict.count(
            "kernel",
            2,
            where={**COMPILE, "chain": RANDOM},
            because="the random numbers are drawn inside the fused kernel, but their seed is made on the GPU by one before it",
        ),
        predict.count(
            "kernel",
            1,
            family="rng",
            where={**COMPILE, "chain": RANDOM},
            because="the seed: a single integer drawn by the library's random generator",
        ),
        predict.count(
            "kernel",
            2,
            where={**COMPILE, "chain": PRODUCT},
            because="the product is a call of the library, whose epilogue Inductor cannot extend; GELU and the sum behind it are one",
        ),
        predict.count(
            "kernel",
            1,
            family="pointwise",
            where={**COMPILE, "chain": PRODUCT},
            because="GELU and the residual in one pass over the product's output",
        ),
        predict.same_kernels(
            between={"mode": ("eager", "compile")},
            family="gemm",
            where={"chain": PRODUCT},
            because="the library is asked for the same product",
        ),
        predict.bound(
            "memory",
            where={**EAGER, "rows": FULL, "chain": [name for name in CHAINS if name not in ("rms_norm_wide", PRODUCT)]},
            because="two tensors of 64 MiB take 32 µs at 4.2 TB/s at the very least; one operator costs the CPU some ten",
        ),
        predict.bound(
            "memory",
            where={**COMPILE, "rows": FULL, "chain": NARROW},
            because="one launch behind guards costs some 20 to 30 µs, two tensors take 32 and three 48, and the queue hides the CPU",
        ),
        predict.bound(
            "compute",
            where={"chain": PRODUCT},
            because="2·8192·4096² = 275 GFLOP take 0.4 ms at 700 TFLOP/s; 503 MB take 0.12 ms eager, 369 MB 0.09 ms compiled",
        ),
        saved(
            "bias_relu",
            0.3,
            0.55,
            note="and eager's sum of a tensor and a row is not vectorized, so that it loses more",
        ),
        saved(
            "bias_gelu",
            0.3,
            0.55,
            note="and eager's sum of a tensor and a row is not vectorized, so that it loses more",
        ),
        saved("swiglu", 0.5, 0.7),
        saved("add_layer_norm", 0.5, 0.7),
        saved("add_rms_norm", 0.65, 0.9),
        saved("scaled_masked_softmax", 0.35, 0.52),
        saved("layer_norm_gelu", 0.4, 0.58),
        saved("softmax", 0.8, 1.15),
        saved("layer_norm", 0.65, 1.05, note="eager's kernel has 128 threads a row, few for rows of 8 KiB"),
        saved("rms_norm", 0.65, 1.05, note="eager's kernel is that of layer_norm without the mean"),
        saved(
            "dropout",
            0.9,
            3.0,
            note=(
                "but the compiled kernel runs the ten rounds of its generator for every value and keeps one of four results, which "
                "takes 34 million values some 0.1 ms of integer multiplications; eager uses all four"
            ),
        ),
        saved(
            "dropout_add_layer_norm",
            0.45,
            1.3,
            note="but the generator's arithmetic, 0.1 ms, is more than what 201 MB take, 0.05 ms",
        ),
        saved(
            PRODUCT,
            0.84,
            0.98,
            note="0.4 ms of product stay, of 0.08 ms around it 0.05 are left: 0.45 / 0.48 = 0.94",
        ),
        predict.ratio(
            "gpu_busy_us",
            of=COMPILE,
            over=EAGER,
            between=(None, 0.7),
            where={"chain": "rms_norm_wide"},
            because=(
                "eager's kernel gives each row to one block of 128 threads: 256 of them hold a few kilobytes in flight on each "
                "multiprocessor, where memory at 4 TB/s wants twenty; the compiled kernels fill the GPU"
            ),
        ),
        predict.within(
            "gbps",
            (None, 2000.0),
            where={**EAGER, "chain": "rms_norm_wide"},
            because="the same few bytes in flight, and a row of 256 KiB is read twice without a cache that would still hold it",
        ),
        predict.within(
            "gbps",
            (1800.0, 3200.0),
            where={**COMPILE, "chain": "rms_norm_wide"},
            because="the tensor is read twice and written once: two thirds of 4 TB/s for what had to be moved, less two short launches",
        ),
        predict.within(
            "gbps",
            (3500.0, 4700.0),
            where={**COMPILE, "rows": FULL, "chain": ["bias_relu", "bias_gelu", "swiglu"]},
            because="memory peaks at 4.8 TB/s, large elementwise kernels reach 4.0 to 4.4, a start of some 2 µs costs 5 % of it",
        ),
        predict.within(
            "gbps",
            (2800.0, 4600.0),
            where={
                **COMPILE,
                "rows": FULL,
                "chain": ["layer_norm", "rms_norm", "add_layer_norm", "add_rms_norm", "softmax"],
            },
            because="the rate of an elementwise kernel, less a second look at a row that is still in the L1 and a wait for its slowest thread",
        ),
        predict.within(
            "peak_memory_bytes",
            (128 * 2**20, 140 * 2**20),
            where={**COMPILE, "rows": FULL, "chain": ["bias_relu", "bias_gelu", "layer_norm_gelu"]},
            because="one input and one output of 64 MiB: what lies between them is never stored",
        ),
        predict.bound(
            "overhead",
            where={"chain": QUICK, "rows": SHORT},
            because="tensors of 2 MiB stay in the L2: a kernel of 3 µs or two of them, against launches that cost the CPU more",
        ),
        predict.ratio(
            "step_us",
            of=COMPILE,
            over=EAGER,
            between=(1.0, 3.0),
            where={"chain": QUICK, "rows": SHORT},
            because="the CPU sets the pace, and guards and wrapper cost it more than the one launch that fusing saves",
        ),
    ),
    claims=(
        claim(
            "S-04",
            "Inductor makes one kernel of every chain of activation, normalization and residual that holds no matrix product.",
            predict.count("kernel", 1, where={**COMPILE, "chain": FUSIBLE}),
            figure="–",
            on=A100,
            source=PART_2,
        ),
    ),
)
