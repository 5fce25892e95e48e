"""Dtype sweep: one matrix product in five number formats, to see what the format changes besides the numbers.

The claim is an open question of the series *Profiling in PyTorch*, worded as the statement that is tested here.
"""

from foretrace import Part, Scenario, Work, claim, grid, predict
from foretrace.facts import Params

A100 = "NVIDIA A100-SXM4-80GB"
PART_2 = "https://huggingface.co/blog/torch-mlp-fusion"

DTYPES = ("bf16", "fp16", "fp32", "tf32", "fp8")
SQUARES = (512, 2048, 8192)
SKINNY = "16x8192"
BYTES = {"bf16": (2, 2), "fp16": (2, 2), "fp32": (4, 4), "tf32": (4, 4), "fp8": (1, 2)}  # a value read, and written


def work(params: Params) -> Work:
    """One product of rows × width by width × width, which reads both once and writes the result."""
    dtype, shape = str(params["dtype"]), str(params["shape"])
    rows, width = (float(size) for size in (shape.split("x") * 2)[:2])
    read, written = BYTES[dtype]
    moved = read * (rows + width) * width + written * rows * width
    return Work.of(Part(name="product", family="gemm", flops=2 * rows * width**2, bytes=moved), dtype=dtype)


scenario = Scenario(
    title="Dtype sweep",
    question=(
        "The same matrix product in bf16, fp16, fp32, tf32 and fp8: which kernel does each get, and where does a narrower format "
        "give the time that its data sheet promises?"
    ),
    label="dtype_sweep",
    variants=(grid(dtype=DTYPES, shape=SQUARES, work=work) + grid(dtype=("bf16", "fp8"), shape=SKINNY, work=work)),
    baseline={"dtype": "bf16"},
    quick={"dtype": ["bf16", "fp32"], "shape": 512},
    predictions=(
        predict.bound(
            "overhead",
            where={"dtype": ["bf16", "fp16", "fp8"], "shape": 512},
            because="2·512³ = 0.27 GFLOP take a third of a microsecond on tensor cores, one launch costs the CPU some ten",
        ),
        predict.bound(
            "compute",
            where={"dtype": ["bf16", "fp16", "fp32", "tf32"], "shape": [2048, 8192]},
            because="2·2048³ = 17 GFLOP take 24 µs at 700 TFLOP/s and longer in fp32 and tf32; 25 or 50 MB take 6 or 12 µs",
        ),
        predict.bound(
            "compute",
            where={"dtype": "fp8", "shape": 8192},
            because="1.1 TFLOP take 0.9 ms at 1200 TFLOP/s, 268 MB take 0.07 ms",
        ),
        predict.bound(
            "memory",
            where={"dtype": "bf16", "shape": SKINNY},
            because="134 MB of weight take 32 µs at 4.2 TB/s, 2.1 GFLOP take 3 µs; 16 operations a byte, where balance is near 200",
        ),
        predict.count(
            "kernel",
            1,
            where={"shape": [2048, 8192]},
            because="one product, large enough not to be split along k; scales and conversions are part of it",
        ),
        predict.within(
            "tflops",
            (600.0, 850.0),
            where={"dtype": ["bf16", "fp16"], "shape": 8192},
            because="both peak near 990 TFLOP/s on a Hopper, of which large library GEMMs reach 60 to 85 %",
        ),
        predict.within(
            "tflops",
            (280.0, 450.0),
            where={"dtype": "tf32", "shape": 8192},
            because="tf32 passes the tensor cores at half the rate of bf16: a peak near 495 TFLOP/s, of which 60 to 90 % are reached",
        ),
        predict.within(
            "tflops",
            (40.0, 64.0),
            where={"dtype": "fp32", "shape": 8192},
            because="CUDA cores alone, two operations a clock for each of 128 on 132 multiprocessors: 67 TFLOP/s at 1.98 GHz",
        ),
        predict.within(
            "tflops",
            (1000.0, 1700.0),
            where={"dtype": "fp8", "shape": 8192},
            because="the peak is near 1980 TFLOP/s, but power and the operands' way to the tensor cores are in the way earlier than in bf16",
        ),
        predict.order(
            "gpu_busy_us",
            parameter="dtype",
            growing=("fp8", "bf16", "tf32", "fp32"),
            where={"shape": [2048, 8192]},
            because="peaks of 1980, 990, 495 and 67 TFLOP/s",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"dtype": "fp16"},
            over={"dtype": "bf16"},
            between=(0.92, 1.12),
            where={"shape": [2048, 8192]},
            because="one rate for both; three more bits of mantissa switch more transistors, which costs clock where power is the limit",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"dtype": "tf32"},
            over={"dtype": "bf16"},
            between=(1.7, 2.6),
            where={"shape": 8192},
            because="half the rate of the tensor cores, and twice the bytes to feed them",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"dtype": "fp32"},
            over={"dtype": "bf16"},
            between=(10.0, 18.0),
            where={"shape": 8192},
            because="peaks of 990 and 67 TFLOP/s are a factor of 15; CUDA cores come nearer to theirs, which takes some of it back",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"dtype": "fp8"},
            over={"dtype": "bf16"},
            between=(0.45, 0.7),
            where={"shape": 8192},
            because="twice the rate, less what power and a larger share of loads and stores take",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"dtype": "fp8"},
            over={"dtype": "bf16"},
            between=(0.45, 0.75),
            where={"shape": SKINNY},
            because="the weight is 67 MB instead of 134, and a kernel's start and end do not shrink; part of it may stay in the L2",
        ),
        predict.ratio(
            "step_us",
            of={"dtype": "fp8"},
            over={"dtype": "bf16"},
            between=(1.0, 4.0),
            where={"shape": 512},
            because=(
                "both wait for the CPU, and a scaled product asks it for more: two scales to check, and a description of the "
                "product and a search for an algorithm at every call"
            ),
        ),
        predict.within(
            "gbps",
            (3200.0, 4700.0),
            where={"dtype": "bf16", "shape": SKINNY},
            because="134 MB are more than twice the L2, so that all of it comes from memory, which large reads get at 4.0 to 4.4 TB/s",
        ),
        predict.decoded(
            "gemm",
            "dtype",
            "bf16",
            where={"dtype": "bf16"},
            because="a library that compiles a kernel for each type of operand tells them apart by name: t on a Hopper",
        ),
        predict.decoded("gemm", "dtype", "f16", where={"dtype": "fp16"}, because="the same with h, for half"),
        predict.decoded("gemm", "dtype", "e4m3", where={"dtype": "fp8"}, because="the same with q, for a quarter"),
        predict.present(
            "kernel",
            "*tf32*",
            where={"dtype": "tf32"},
            because="its operands are fp32 like those of the exact product: only the name can tell that they are rounded inside",
        ),
        predict.present(
            "kernel",
            "*sgemm*",
            where={"dtype": "fp32"},
            because="without tensor cores it is the old single-precision product, and its kernels kept that name",
        ),
        predict.decoded(
            "gemm",
            "layout",
            "tn*",
            where={"shape": [2048, 8192]},
            because="the second operand is column by column in all of them: the layout follows from it, not from the format",
        ),
        predict.within(
            "busy_share",
            (0.8, None),
            where={"dtype": "fp32", "shape": [2048, 8192]},
            because="17 GFLOP at 50 TFLOP/s are 0.3 ms and 1.1 TFLOP 22 ms: no launch is that long",
        ),
    ),
    claims=(
        claim(
            "S-03",
            "Another dtype triggers another kernel: the same product has five of them in five formats, at every size.",
            predict.all_of(
                *(
                    predict.different_kernels(
                        between={"dtype": ("bf16", dtype)}, family="gemm", where={"shape": list(SQUARES)}
                    )
                    for dtype in DTYPES[1:]
                ),
                predict.different_kernels(between={"dtype": ("bf16", "fp8")}, family="gemm", where={"shape": SKINNY}),
                *(predict.distinct("gemm", "name", (len(DTYPES), None), where={"shape": size}) for size in SQUARES),
            ),
            figure="–",
            on=A100,
            source=PART_2,
        ),
    ),
)
