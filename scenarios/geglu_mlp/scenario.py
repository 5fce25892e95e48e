"""A gated MLP: three products and two pointwise operators, of which a compiler can make one kernel.

The experiment is the main one of part 2 of the series *Profiling in PyTorch*; the claims are restated from it as facts.
"""

from foretrace import Part, Scenario, Work, claim, grid, predict
from foretrace.facts import Params

A100 = "NVIDIA A100-SXM4-80GB"
SERIES = "https://huggingface.co/blog/torch-profiler"
PART_2 = "https://huggingface.co/blog/torch-mlp-fusion"

GELU_OPS = 9  # x + c·x³ four, its scale, tanh, 1 +, and two products
VIEWS = ("aten::t", "aten::transpose", "aten::view", "aten::reshape", "aten::as_strided", "aten::_unsafe_view")

PUBLISHED, TINY = "64x128x768x3072", "2x32x64x256"
MODES = ("eager", "compile", "reduce-overhead", "liger")
FUSED = MODES[1:]
EAGER = {"shape": PUBLISHED, "mode": "eager"}
COMPILE = {"shape": PUBLISHED, "mode": "compile"}
LIGER = {"shape": PUBLISHED, "mode": "liger"}


def work(params: Params) -> Work:
    """Three products of 2·tokens·dim·hidden operations; between them eager makes five passes over an intermediate, the others three."""
    batch, length, dim, hidden = map(float, str(params["shape"]).split("x"))
    tokens = batch * length
    inner = tokens * hidden
    product = {"family": "gemm", "flops": 2 * inner * dim, "bytes": 2 * (tokens * dim + dim * hidden + inner)}
    between = (
        (
            Part(name="gelu", family="pointwise", flops=GELU_OPS * inner, bytes=2 * 2 * inner),
            Part(name="mul", family="pointwise", flops=inner, bytes=3 * 2 * inner),
        )
        if params["mode"] == "eager"
        else (Part(name="geglu", family="pointwise", flops=(GELU_OPS + 1) * inner, bytes=3 * 2 * inner),)
    )
    return Work.of(Part(name="gate", **product), Part(name="up", **product), *between, Part(name="down", **product))


scenario = Scenario(
    title="GEGLU MLP",
    question=(
        "Of the five kernels of a gated MLP a compiler makes four: what does that save, the launch or the memory traffic, "
        "and does a kernel written by hand do better?"
    ),
    label="geglu_mlp",
    variants=(grid(shape=PUBLISHED, mode=MODES, work=work) + grid(shape=TINY, mode=("eager", "compile"), work=work)),
    baseline={"mode": "eager"},
    quick={"shape": TINY},
    predictions=(
        predict.bound(
            "compute",
            where={"shape": PUBLISHED},
            because=(
                "three products of 38.7 GFLOP take some 180 µs at 650 TFLOP/s, the 240 MiB between them in eager 60 µs at 4 TB/s, "
                "and a handful of launches less than either"
            ),
        ),
        predict.bound(
            "overhead",
            where={"shape": TINY},
            because="6 MFLOP and 0.4 MB take less than a microsecond, one launch more",
        ),
        predict.count(
            "kernel",
            3,
            family="gemm",
            because="no compiler and no author of a pointwise kernel replaces the library's GEMM",
        ),
        predict.all_of(
            predict.count("kernel", 2, family="pointwise", where={"mode": "eager"}),
            predict.count("kernel", 1, family="pointwise", where={"mode": list(FUSED)}),
            because="eager runs GELU and product one after the other; both work element by element, so they fit into one pass",
        ),
        predict.within(
            "launches",
            (2, 2),
            where={"mode": "reduce-overhead"},
            because="the weights are parameters and stay where the graph knows them; x is copied in, and then the graph is launched",
        ),
        predict.ratio(
            "pointwise_us",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(0.54, 0.7),
            where={"shape": PUBLISHED},
            because=(
                "of five passes over 48 MiB three are left, 144 MiB of 240 or 0.6; what the L2 keeps of the latest product "
                "shortens both sides by about as much and moves the ratio little"
            ),
        ),
        predict.all_of(
            predict.part("gelu", "gbps", (3000, 6000), where=EAGER),
            predict.part("mul", "gbps", (3000, 6000), where=EAGER),
            predict.part("geglu", "gbps", (3000, 6000), where={"shape": PUBLISHED, "mode": list(FUSED)}),
            because=(
                "some ten operations an element are nothing: they run at the memory's speed, 4.8 TB/s at most and 4.0 to 4.4 in "
                "large copies, a little faster where the L2 of some 50 MB still holds a part of the product before"
            ),
        ),
        predict.share(
            "pointwise",
            (0.18, 0.32),
            where=EAGER,
            because="252 MB at 4.2 TB/s are 60 µs beside 180 µs of products: a quarter",
        ),
        predict.share(
            "pointwise",
            (0.11, 0.23),
            where={"shape": PUBLISHED, "mode": ["compile", "liger"]},
            because="151 MB are 36 µs beside the same products: a sixth",
        ),
        predict.all_of(
            predict.part("gate", "tflops", (450, 720), where={"shape": PUBLISHED}),
            predict.part("up", "tflops", (450, 720), where={"shape": PUBLISHED}),
            predict.part("down", "tflops", (450, 800), where={"shape": PUBLISHED}),
            because=(
                "60 to 80 % of 990 TFLOP/s is for large products; these take 60 µs, and gate and up have twelve steps of 64 along K "
                "to hide their beginning and the writing of 50 MB"
            ),
        ),
        predict.ratio(
            "step_us",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(0.82, 0.96),
            where={"shape": PUBLISHED},
            because="of some 240 µs of GPU work 96 MiB of traffic fall away, 25 µs at 4 TB/s; the CPU is ahead in both",
        ),
        predict.ratio(
            "dispatch_us",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(0.5, 1.25),
            because=(
                "eighteen views, the Python of three modules and a launch fall away, guards and wrapper come: "
                "with this many operators about even"
            ),
        ),
        predict.ratio(
            "dispatch_us",
            of={"mode": "liger"},
            over={"mode": "eager"},
            between=(1.0, 2.2),
            where={"shape": PUBLISHED},
            because="an autograd function and a Triton launch from Python cost tens of microseconds, the two launches they replace ten",
        ),
        predict.ratio(
            "peak_memory_bytes",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(0.65, 0.85),
            where={"shape": PUBLISHED},
            because=(
                "eager's product holds three intermediates of 48 MiB at once; the fused kernel can write over one that it reads and "
                "hold two, beside 25 MiB of input and weights and the library's workspace on both sides"
            ),
        ),
        predict.same_kernels(
            between={"mode": ("compile", "reduce-overhead")},
            family="gemm",
            where={"shape": PUBLISHED},
            because="a graph replays what was recorded",
        ),
    ),
    claims=(
        claim(
            "P2-02",
            "aten::t and the other view operators launch nothing and take no GPU time.",
            predict.all_of(*(predict.launches(view, 0, where=EAGER) for view in VIEWS)),
            figure="0 kernels, 0.000 µs CUDA",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-05",
            "An eager step is five GPU kernels: three GEMMs, one GELU, one multiplication.",
            predict.all_of(
                predict.count("kernel", 5, where=EAGER),
                predict.count("kernel", 3, family="gemm", where=EAGER),
                predict.launches("aten::gelu", 1, where=EAGER),
                predict.launches("aten::mul", 1, where=EAGER),
            ),
            figure="5",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-06",
            "Gate and up take one kernel; down, as many operations in another shape, takes another.",
            predict.all_of(
                predict.same_kernel("gate", "up", where=EAGER), predict.different_kernel("gate", "down", where=EAGER)
            ),
            figure="128×128 stages_32x5_tn 0.19 ms; 128×256 stages_64x3_tn 0.17 ms (≈ 10 % faster)",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-07",
            "Each GEMM launch has an occupancy query before it; the pointwise launches have none.",
            predict.all_of(
                predict.preceded("gemm", "cudaOccupancyMaxActiveBlocksPerMultiprocessor*", "always", where=EAGER),
                predict.preceded("pointwise", "cudaOccupancyMaxActiveBlocksPerMultiprocessor*", "never", where=EAGER),
            ),
            figure="–",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-08",
            "Compiled, GELU and the multiplication become one Triton kernel, and three bare aten::mm remain.",
            predict.all_of(
                predict.count("kernel", 1, family="pointwise", where=COMPILE),
                predict.count("kernel", 3, family="gemm", where=COMPILE),
                predict.present("kernel", "triton_poi_fused*gelu*mul*", where=COMPILE),
                predict.calls("aten::mm", 3, where=COMPILE),
                predict.absent("op", "aten::linear", where=COMPILE),
            ),
            figure="triton_poi_fused__unsafe_view_gelu_mul_0, 89.4 µs",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-09",
            "The compiled GEMM kernels have the names that eager's have.",
            predict.same_kernels(between={"mode": ("eager", "compile")}, family="gemm", where={"shape": PUBLISHED}),
            figure="–",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-10",
            "What fusing saves is memory traffic: the intermediate of 8192×3072 no longer goes to memory and back, and the GEMMs take as long as before.",
            predict.all_of(
                predict.ratio(
                    "pointwise_us",
                    of={"mode": "compile"},
                    over={"mode": "eager"},
                    between=(0.5, 0.75),
                    where={"shape": PUBLISHED},
                ),
                predict.ratio(
                    "gemm_us",
                    of={"mode": "compile"},
                    over={"mode": "eager"},
                    between=(0.9, 1.1),
                    where={"shape": PUBLISHED},
                ),
            ),
            figure="≈ 50 MB",
            on=A100,
            source=PART_2,
        ),
        claim(
            "P2-11",
            "A Triton kernel written by hand, Liger's, is one pointwise kernel without rows of Dynamo, close to the time of the compiler's.",
            predict.all_of(
                predict.count("kernel", 1, family="pointwise", where=LIGER),
                predict.present("kernel", "*geglu_tanh_forward*", where=LIGER),
                predict.absent("op", "TorchDynamo*", where=LIGER),
                predict.absent("op", "Torch-Compiled Region*", where=LIGER),
                predict.ratio(
                    "pointwise_us",
                    of={"mode": "liger"},
                    over={"mode": "compile"},
                    between=(0.85, 1.15),
                    where={"shape": PUBLISHED},
                ),
            ),
            figure="_geglu_tanh_forward_kernel, 92.8 µs",
            on=A100,
            source=PART_2,
        ),
        claim(
            "S-01",
            "The number of operators on the CPU is not the number of kernels on the GPU.",
            predict.within("ops_per_kernel", (2.0, None), where={"mode": "eager"}),
            figure="–",
            on=A100,
            source=SERIES,
        ),
    ),
)
