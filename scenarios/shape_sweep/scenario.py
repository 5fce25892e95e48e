"""Shape sweep: the programs of the series *Profiling in PyTorch* over many shapes, to see what one shape can tell.

The series measures one shape or two of each program and leaves it to the reader to try others; the claims are its open
questions, worded as the statements that are tested here.
"""

from collections.abc import Sequence

from foretrace import Part, Scenario, Work, claim, grid, predict
from foretrace.facts import Params

A100 = "NVIDIA A100-SXM4-80GB"
PART_2 = "https://huggingface.co/blog/torch-mlp-fusion"

FEATURES = 4096  # of the linear layer, in and out
DIM, HIDDEN = 768, 3072  # of the GeGLU MLP
EAGER, COMPILE = {"mode": "eager"}, {"mode": "compile"}


def matmul_add(params: Params) -> Work:
    """A square product, 2n³ operations on three matrices, and a sum, n² operations on three."""
    n = float(params["rows"])
    return Work.of(
        Part(name="product", family="gemm", flops=2 * n**3, bytes=6 * n**2),
        Part(name="sum", family="pointwise", flops=n**2, bytes=6 * n**2),
    )


def linear(params: Params) -> Work:
    """One product that reads input, weight and bias once and writes the output, in bf16."""
    rows = float(params["rows"])
    values = 2 * rows * FEATURES + FEATURES**2 + FEATURES
    return Work.of(Part(name="gemm", family="gemm", flops=(2 * FEATURES + 1) * rows * FEATURES, bytes=2 * values))


def geglu_mlp(params: Params) -> Work:
    """Three products of 2·rows·768·3072 operations; between them eager takes two passes where a compiled step needs one."""
    rows = float(params["rows"])
    hidden = rows * HIDDEN
    gate, up, down = (
        Part(name=name, family="gemm", flops=2 * hidden * DIM, bytes=2 * (rows * DIM + DIM * HIDDEN + hidden))
        for name in ("gate", "up", "down")
    )
    if params["mode"] == "compile":
        return Work.of(gate, up, _pass("gelu_mul", 3, hidden), down)
    return Work.of(gate, _pass("gelu", 2, hidden), up, _pass("mul", 3, hidden), down)


def _pass(name: str, tensors: int, values: float) -> Part:
    """An elementwise kernel over tensors of so many bf16 values, read or written; one operation for each that is read."""
    return Part(name=name, family="pointwise", flops=(tensors - 1) * values, bytes=2 * tensors * values)


def at(program: str, rows: int | Sequence[int], mode: Params) -> dict[str, str | int | float | bool | Sequence[int]]:
    """The variants of a program at these rows, in a mode or, where it is empty, in both."""
    return {"program": program, "rows": rows, **mode}


DECODE = (1, 2, 4, 8, 16, 32, 64)  # rows: as many tokens as a model makes at once for so many readers

scenario = Scenario(
    title="Shape sweep",
    question=(
        "Which kernel a library picks, what limits a step and what compiling gains are told for one shape each time. How much of "
        "that is still true at another shape?"
    ),
    label="shape_sweep",
    variants=(
        grid(program="matmul_add", rows=(256, 512, 1024, 2048, 4095, 4096, 8192), mode="eager", work=matmul_add)
        + grid(program="linear", rows=(*DECODE, 256, 4096), mode="eager", work=linear)
        + grid(program="linear", rows=(1, 64, 4096), mode="compile", work=linear)
        + grid(program="geglu_mlp", rows=(64, 1024, 8192), mode=("eager", "compile"), work=geglu_mlp)
        + grid(program="geglu_mlp", rows=32768, mode="eager", work=geglu_mlp)
    ),
    baseline=EAGER,
    quick={"program": ["matmul_add", "geglu_mlp"], "rows": [64, 256, 512]},
    predictions=(
        predict.bound(
            "overhead",
            where=at("matmul_add", (256, 512), EAGER),
            because="2·512³ = 0.27 GFLOP take a third of a microsecond at 800 TFLOP/s; two launches cost the CPU some ten",
        ),
        predict.bound(
            "compute",
            where=at("matmul_add", (4096, 8192), EAGER),
            because=(
                "2·4096³ = 137 GFLOP take 0.2 ms at 700 TFLOP/s, the sum's 101 MB 0.025 ms at 4 TB/s, two launches 0.01 ms"
            ),
        ),
        predict.count(
            "kernel",
            2,
            where={"program": "matmul_add"},
            because="one product and one sum at every size; none is so flat that splitting it along k would pay",
        ),
        predict.order(
            "tflops",
            parameter="rows",
            growing=(256, 512, 1024, 2048, 4096),
            where={"program": "matmul_add"},
            because=(
                "a tile of 128 × 256 makes 2 tiles at 256, 32 at 1024, 128 at 2048 and 512 at 4096 for 132 multiprocessors: up "
                "to 2048 a larger product first of all fills more of them, and the sum's share falls as 1/n"
            ),
        ),
        predict.within(
            "tflops",
            (600.0, 850.0),
            where=at("matmul_add", 8192, EAGER),
            because="dense bf16 peaks near 990 TFLOP/s on a Hopper; large library GEMMs reach 65 to 85 % of it, the sum costs a little",
        ),
        predict.different_kernels(
            between={"rows": (512, 4096)},
            family="gemm",
            where={"program": "matmul_add"},
            because="the tile that is best at 4096 would leave all but 8 of 132 multiprocessors idle at 512",
        ),
        predict.different_kernels(
            between={"rows": (4095, 4096)},
            family="gemm",
            where={"program": "matmul_add"},
            because=(
                "a row of 4095 bf16 is 8190 bytes: rows start at addresses that are even and no more, so that neither 16-byte loads "
                "nor the tensor memory accelerator, which wants strides of 16 bytes, can fetch a tile"
            ),
        ),
        predict.absent(
            "kernel",
            "nvjet*",
            where=at("matmul_add", 4095, EAGER),
            because="the library's kernels of this name load through the tensor memory accelerator",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"rows": 4095},
            over={"rows": 4096},
            between=(1.8, 5.0),
            where={"program": "matmul_add"},
            because=(
                "what is left for odd rows are kernels for the Ampere instructions, which reach some 60 % of what a Hopper "
                "does with its own, and element by element their loads cannot even be asynchronous"
            ),
        ),
        predict.count(
            "kernel",
            1,
            family="gemm",
            where={"program": "linear"},
            because="one product, whatever its shape; a split along k would add a reduction, which is not of this family",
        ),
        predict.present(
            "kernel",
            "*gemv*",
            where={"program": "linear", "rows": 1},
            because="one row is a matrix-vector product, and the library keeps kernels for it that use no tensor cores",
        ),
        predict.count(
            "memcpy",
            1,
            where={"program": "linear", "rows": 1},
            because=(
                "addmm gives the bias to the epilogue only where both sides of the product have two rows or more; "
                "at one row it is copied into the output first"
            ),
        ),
        predict.count(
            "memcpy",
            0,
            where={"program": "linear", "rows": [*DECODE[1:], 256, 4096]},
            because="with two rows or more the epilogue adds the bias",
        ),
        predict.distinct(
            "gemm",
            "tile",
            (3, None),
            where=at("linear", DECODE[1:], EAGER),
            because="the library has tiles 8, 16, 32 and 64 rows high, and a higher one than the input only multiplies padding",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"rows": 64},
            over={"rows": 1},
            between=(0.7, 1.5),
            where={"program": "linear", **EAGER},
            because=(
                "sixty-four times the arithmetic, 2.1 GFLOP, still takes only 3 µs; the time is that of reading 32 MiB of weight, "
                "which both do once"
            ),
        ),
        predict.within(
            "gbps",
            (2000.0, 4800.0),
            where=at("linear", DECODE, EAGER),
            because=(
                "33.6 MB take 8 µs at 4.2 TB/s, to which a kernel adds some 3 µs of start and end. An L2 of 50 MB could hold the "
                "weight from step to step, but it is two halves, and data read from both sides lie in both: we expect hits that "
                "make up for the start, and nothing beyond the memory's peak of 4.8 TB/s"
            ),
        ),
        predict.within(
            "dispatch_us",
            (4.0, 40.0),
            where=at("linear", DECODE, EAGER),
            because="one linear layer is five operators and one launch, whatever its shape; machines differ by a factor of a few",
        ),
        predict.bound(
            "overhead",
            where=at("linear", (1, 64), COMPILE),
            because="guards, wrapper and one launch take the CPU 20 µs or more, reading the weight takes the GPU 8 to 12",
        ),
        predict.ratio(
            "step_us",
            of=COMPILE,
            over=EAGER,
            between=(1.1, 3.0),
            where={"program": "linear", "rows": [1, 64]},
            because="there is nothing to fuse, and guards and wrapper cost more than the view operators that they save",
        ),
        predict.ratio(
            "step_us",
            of=COMPILE,
            over=EAGER,
            between=(0.97, 1.03),
            where={"program": "linear", "rows": 4096},
            because="the same kernel takes 0.2 ms, behind which all that the CPU does is hidden",
        ),
        predict.within(
            "tflops",
            (200.0, 600.0),
            where=at("linear", 256, EAGER),
            because=(
                "8.6 GFLOP for 36 MB is 240 operations a byte, about where a Hopper's two roofs meet, so that both stand in the way; "
                "and in tiles of 128 × 128 the output is 64 pieces for 132 multiprocessors"
            ),
        ),
        predict.bound(
            "compute",
            where={"program": "linear", "rows": 4096},
            because="137 GFLOP take 0.2 ms at 700 TFLOP/s, 101 MB take 0.025 ms at 4 TB/s",
        ),
        predict.same_kernels(
            between={"mode": ("eager", "compile")},
            family="gemm",
            where={"program": ["linear", "geglu_mlp"], "rows": [1, 64, 1024, 4096, 8192]},
            because="Inductor leaves products to the library unless it is asked to tune them, and the library is asked the same",
        ),
        predict.count(
            "kernel",
            3,
            family="gemm",
            where={"program": "geglu_mlp"},
            because="gate, up and down; Inductor does not join the two that read the same input",
        ),
        predict.count(
            "kernel",
            2,
            family="pointwise",
            where={"program": "geglu_mlp", **EAGER},
            because="GELU and the product with up, at every shape",
        ),
        predict.count(
            "kernel",
            1,
            family="pointwise",
            where={"program": "geglu_mlp", **COMPILE},
            because="Inductor fuses the two elementwise operators, at every shape",
        ),
        predict.count(
            "kernel",
            5,
            where=at("geglu_mlp", (8192, 32768), EAGER),
            because="with 192 tiles of 128 × 256 even for the narrow output nothing is gained by splitting a product along k",
        ),
        predict.same_kernel(
            "gate",
            "up",
            where={"program": "geglu_mlp"},
            because="two products of one shape, asked for in the same way",
        ),
        predict.bound(
            "overhead",
            where={"program": "geglu_mlp", "rows": 64},
            because="0.9 GFLOP and 16 MB, most of it in the L2, are some 15 µs of short kernels; four or five launches cost the CPU more than twice that",
        ),
        predict.bound(
            "compute",
            where={"program": "geglu_mlp", "rows": [8192, 32768]},
            because=(
                "at 8192 three products of 39 GFLOP take 0.17 ms at 700 TFLOP/s; the passes between them move 250 MB eager, "
                "150 MB compiled, which is 0.06 or 0.04 ms"
            ),
        ),
        predict.ratio(
            "step_us",
            of=COMPILE,
            over=EAGER,
            between=(0.82, 0.95),
            where={"program": "geglu_mlp", "rows": 8192},
            because="0.04 ms of fused pass instead of 0.06 ms of two, beside 0.17 ms of products: (0.17 + 0.04) / (0.17 + 0.06) = 0.91",
        ),
        predict.ratio(
            "step_us",
            of=COMPILE,
            over=EAGER,
            between=(0.9, 2.0),
            where={"program": "geglu_mlp", "rows": 64},
            because="the CPU sets the pace: one launch less and no views, against guards, wrapper and the call of the graph",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"rows": 32768},
            over={"rows": 8192},
            between=(3.8, 4.6),
            where={"program": "geglu_mlp", **EAGER},
            because="four times the work; a little more, since at 8192 a 50 MB tensor may still be found in the L2 in part",
        ),
        predict.within(
            "peak_memory_bytes",
            (550 * 10**6, 800 * 10**6),
            where=at("geglu_mlp", 32768, EAGER),
            because=(
                "input and weights are 64 MB; a hidden tensor is 201 MB, of which two live at once, then three while they are "
                "multiplied: 668 MB, and a workspace"
            ),
        ),
    ),
    claims=(
        claim(
            "S-02",
            "The tile that the library picks changes with the shape, in each of the three programs.",
            predict.all_of(
                *(
                    predict.distinct("gemm", "tile", (2, None), where={"program": program, **EAGER})
                    for program in ("matmul_add", "linear", "geglu_mlp")
                )
            ),
            figure="–",
            on=A100,
            source=PART_2,
        ),
        claim(
            "S-05",
            "One shape carries no general conclusion: what compiling gains at one it does not gain at another, and what limits a "
            "step is not the same.",
            predict.all_of(
                predict.bound("overhead", where=at("geglu_mlp", 64, EAGER)),
                predict.bound("compute", where=at("geglu_mlp", 8192, EAGER)),
                predict.ratio(
                    "step_us",
                    of=COMPILE,
                    over=EAGER,
                    between=(0.97, None),
                    where={"program": "geglu_mlp", "rows": 64},
                ),
                predict.ratio(
                    "step_us",
                    of=COMPILE,
                    over=EAGER,
                    between=(None, 0.95),
                    where={"program": "geglu_mlp", "rows": 8192},
                ),
            ),
            figure="–",
            on=A100,
            source=PART_2,
        ),
    ),
)
