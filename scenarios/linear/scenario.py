"""A linear layer: a bias and a transposed weight that should cost no kernel of their own.

The experiment is the first of part 2 of the series *Profiling in PyTorch*; the claims are restated from it as facts.
"""

from foretrace import Part, Scenario, Work, claim, grid, predict
from foretrace.facts import Params

A100 = "NVIDIA A100-SXM4-80GB"
SERIES = "https://huggingface.co/blog/torch-profiler"
PART_2 = "https://huggingface.co/blog/torch-mlp-fusion"

VIEWS = ("aten::t", "aten::transpose", "aten::as_strided")

PUBLISHED, LARGE = "1024x32x64", "8192x4096x4096"
AS_PUBLISHED = {"shape": PUBLISHED, "bias": "bias"}
EAGER, COMPILE = {"mode": "eager"}, {"mode": "compile"}


def work(params: Params) -> Work:
    """One product, 2·rows·in·out operations, which reads input and weight once and writes the output; a bias adds a row."""
    rows, features, outputs = map(float, str(params["shape"]).split("x"))
    biased = params["bias"] == "bias"
    values = rows * features + features * outputs + rows * outputs + biased * outputs
    return Work.of(
        Part(name="gemm", family="gemm", flops=(2 * features + biased) * rows * outputs, bytes=2 * values),
    )


scenario = Scenario(
    title="Linear",
    question=(
        "A linear layer multiplies by a transposed weight and adds a bias: does either of them become work on the GPU, "
        "and what is left for compiling to improve?"
    ),
    label="linear",
    variants=(
        grid(shape=PUBLISHED, bias=("bias", "no_bias"), mode=("eager", "compile"), work=work)
        + grid(shape=LARGE, bias="bias", mode=("eager", "compile"), work=work)
    ),
    baseline={"mode": "eager"},
    quick={"shape": PUBLISHED},
    predictions=(
        predict.bound(
            "overhead",
            where={"shape": PUBLISHED},
            because="2·1024·32·64 is 4 million operations and 0.2 MB: well under a microsecond each, less than one launch costs",
        ),
        predict.bound(
            "compute",
            where={"shape": LARGE},
            because="2·8192·4096² = 275 GFLOP take 0.4 ms at 700 TFLOP/s, while 168 MB pass in 0.04 ms at 4 TB/s",
        ),
        predict.all_of(
            predict.count("kernel", 1),
            predict.count("memcpy", 0),
            because=(
                "the product reads a row-major weight as the transposed matrix that it is, and a bias that is one row is added to "
                "the tile before it is stored; only a whole matrix would have to be copied into the output first"
            ),
        ),
        predict.within(
            "ops",
            (5, 5),
            where={"bias": "bias", **EAGER},
            because="linear, t, transpose, as_strided, addmm; on a GPU addmm calls no other operator",
        ),
        predict.within(
            "ops",
            (6, 6),
            where={"bias": "no_bias", **EAGER},
            because="linear, t, transpose, as_strided, matmul, mm: without a bias one more operator decides what to call",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"bias": "bias"},
            over={"bias": "no_bias"},
            between=(0.8, 1.3),
            where={"shape": PUBLISHED, **EAGER},
            because=(
                "the epilogue adds one value to each output that it has in registers; a kernel of its own would cost one or two "
                "microseconds more, about as much as this product"
            ),
        ),
        predict.different_kernels(
            between={"bias": ("bias", "no_bias")},
            family="gemm",
            where={"shape": PUBLISHED, **EAGER},
            because="an epilogue that adds a bias is another compiled kernel, and the library of a Hopper says so in the name",
        ),
        predict.ratio(
            "gpu_busy_us",
            of=COMPILE,
            over=EAGER,
            between=(0.95, 1.05),
            where={"shape": LARGE},
            because="compiling finds one operator and calls the same library for it",
        ),
        predict.ratio(
            "dispatch_us",
            of=COMPILE,
            over=EAGER,
            between=(1.1, 3.0),
            where={"shape": PUBLISHED},
            because=(
                "the view operators that fall away cost a microsecond or two; guards, wrapper and the call of the graph, "
                "in Python at every step, cost some ten"
            ),
        ),
        predict.within(
            "tflops",
            (600.0, 820.0),
            where={"shape": LARGE},
            because="dense bf16 peaks near 990 TFLOP/s on a Hopper, and large library GEMMs reach 60 to 80 % of it",
        ),
        predict.within(
            "busy_share",
            (0.9, None),
            where={"shape": LARGE},
            because="0.4 ms of work wait for one launch of some ten microseconds, and the next steps are queued meanwhile",
        ),
        predict.geometry(
            "gemm",
            "occupancy",
            (None, 0.25),
            where={"shape": LARGE},
            because="a large tile with several stages fills the shared memory: one block of some 384 threads of the 2048 possible",
        ),
        predict.within(
            "peak_memory_bytes",
            (160 * 2**20, 232 * 2**20),
            where={"shape": LARGE, **EAGER},
            because="64 MiB of input, 32 of weight, 64 of output, and up to two workspaces of the library of 32 MiB each",
        ),
    ),
    claims=(
        claim(
            "P2-01",
            "A linear layer with a bias is one GPU kernel: the GEMM adds the bias itself, in one aten::addmm and without aten::add.",
            predict.all_of(
                predict.count("kernel", 1, where={**AS_PUBLISHED, **EAGER}),
                predict.present("op", "aten::addmm", where={**AS_PUBLISHED, **EAGER}),
                predict.absent("op", "aten::add", where={**AS_PUBLISHED, **EAGER}),
            ),
            figure="1",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-02",
            "aten::t and the other view operators launch nothing and take no GPU time.",
            predict.all_of(*(predict.launches(view, 0, where={**AS_PUBLISHED, **EAGER}) for view in VIEWS)),
            figure="0 kernels, 0.000 µs CUDA",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-03",
            "Compiled, it is the same GEMM kernel under the same aten::addmm; only the view operators go, and rows for the guards come.",
            predict.all_of(
                predict.same_kernels(between={"mode": ("eager", "compile")}, family="gemm", where=AS_PUBLISHED),
                predict.present("op", "aten::addmm", where=AS_PUBLISHED),
                predict.present("op", "aten::t", where={**AS_PUBLISHED, **EAGER}),
                predict.absent("op", "aten::t", where={**AS_PUBLISHED, **COMPILE}),
                predict.absent("op", "TorchDynamo Cache Lookup", where={**AS_PUBLISHED, **EAGER}),
                predict.present("op", "TorchDynamo Cache Lookup", where={**AS_PUBLISHED, **COMPILE}),
            ),
            figure="cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-04",
            "The GEMM kernel reads the weight as transposed, which its name says, and no kernel transposes it before.",
            predict.all_of(
                predict.decoded("gemm", "layout", "t*", where={**AS_PUBLISHED, **EAGER}),
                predict.count("kernel", 1, where={**AS_PUBLISHED, **EAGER}),
            ),
            figure="tn in the name",
            on=A100,
            source=PART_2,
        ),
        claim(
            "S-01",
            "The number of operators on the CPU is not the number of kernels on the GPU.",
            predict.within("ops_per_kernel", (2.0, None), where=EAGER),
            figure="–",
            on=A100,
            source=SERIES,
        ),
    ),
)
