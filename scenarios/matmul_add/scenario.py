"""Matmul and add: the smallest program in which the CPU and the GPU can each be the one who waits.

The experiment is that of part 1 of the series *Profiling in PyTorch*; the claims are restated from it as facts.
"""

from foretrace import Protocol, Scenario, Work, claim, grid, predict
from foretrace.facts import Params

A100 = "NVIDIA A100-SXM4-80GB"
PART_1 = "https://huggingface.co/blog/torch-profiler"

COLD = Protocol(warm_calls=0)
FIRST_20 = Protocol(wait=0, warmup=0, active=20)
TWENTY = Protocol(active=20)


def work(params: Params) -> Work:
    """2n³ + n² operations and, in bf16, five matrices moved by the product and the sum, in eager's two kernels six."""
    n, batch = float(params["size"]), float(params["size"]) if params["dims"] == "3d" else 1.0
    matrices = 6 if params["mode"] == "eager" else 5
    return Work(flops=batch * (2 * n**3 + n**2), bytes=batch * matrices * 2 * n**2)


MODES = ("eager", "compile", "reduce-overhead", "max-autotune-no-cudagraphs")
COMPILED = MODES[1:]

SMALL = {"size": 64, "dims": "2d", "window": "warm"}
LARGE = {"size": 4096, "dims": "2d", "window": "warm"}
COLD_64 = {"size": 64, "dims": "2d", "window": "cold", "mode": "eager"}
BUFFER = {"window": "first-20", "mode": "eager"}

scenario = Scenario(
    title="Matmul and add",
    question=(
        "One matrix product and one addition: who decides how long a step takes, the CPU that launches or the GPU that "
        "computes, and what does compiling change about it?"
    ),
    label="matmul_add",
    variants=(
        grid(size=64, dims="2d", window="cold", mode="eager", protocol=COLD, work=work)
        + grid(size=64, dims="2d", window="warm", mode=MODES, work=work)
        + grid(size=(128, 256, 512, 1024, 2048), dims="2d", window="warm", mode="eager", work=work)
        + grid(size=4096, dims="2d", window="warm", mode=MODES, work=work)
        + grid(size=8192, dims="2d", window="warm", mode="eager", work=work)
        + grid(size=64, dims="3d", window="warm", mode="eager", work=work)
        + grid(size=64, dims="2d", window="first-20", mode="eager", protocol=FIRST_20, work=work)
        + grid(size=4096, dims="2d", window="20-steps", mode="eager", protocol=TWENTY, work=work)
    ),
    baseline={"mode": "eager"},
    quick={"size": [64, 128, 256], "dims": "2d"},
    predictions=(
        predict.bound(
            "overhead",
            where={"size": 64, "dims": "2d", "window": ["cold", "warm"]},
            because="2·64³ is half a million operations: under a nanosecond at 800 TFLOP/s, while one launch costs microseconds",
        ),
        predict.bound(
            "overhead",
            where={"size": [128, 256, 512, 1024], "window": "warm"},
            because="even 2·1024³ = 2.1 GFLOP takes some 3 µs at 800 TFLOP/s, less than two launches",
        ),
        predict.bound(
            "compute",
            where={"size": [2048, 4096, 8192], "window": "warm", "mode": "eager"},
            because=(
                "2·2048³ = 17 GFLOP takes 22 µs at 800 TFLOP/s, more than the launches of two kernels; "
                "the sum's 25 MB take 6 µs at 4 TB/s"
            ),
        ),
        predict.count(
            "kernel", 2, where={"mode": "eager"}, because="one GEMM and one elementwise kernel; eager fuses nothing"
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"size": 8192},
            over={"size": 4096},
            between=(7.0, 9.0),
            where={"dims": "2d", "window": "warm", "mode": "eager"},
            because="the product grows with n³, eightfold, the sum with n², fourfold, and the product dominates",
        ),
        predict.within(
            "tflops",
            (600.0, 850.0),
            where={"size": 8192, "window": "warm"},
            because="dense bf16 peaks near 990 TFLOP/s on a Hopper; large library GEMMs reach 70 to 80 % of it, the sum costs a little",
        ),
        predict.ratio(
            "dispatch_us",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(1.2, 3.0),
            where={"size": [64, 4096], "dims": "2d", "window": "warm"},
            because="guards and the wrapper run at every call, and one of the two launches they save is replaced by a copy",
        ),
        predict.ratio(
            "dispatch_us",
            of={"mode": "reduce-overhead"},
            over={"mode": "compile"},
            between=(None, 1.0),
            where=SMALL,
            because="one graph launch takes the place of the copy and the GEMM launch",
        ),
        predict.ratio(
            "step_us",
            of={"mode": "compile"},
            over={"mode": "eager"},
            between=(0.92, 1.02),
            where=LARGE,
            because=(
                "the GEMM is the same work; the sum's pass (96 MB) gives way to a copy (64 MB) and a bias read inside the GEMM"
            ),
        ),
        predict.count(
            "memcpy",
            1,
            where={**LARGE, "mode": "compile"},
            because="addmm adds into its output in place, so the bias has to be copied there first",
        ),
        predict.different_kernels(
            between={"mode": ("compile", "max-autotune-no-cudagraphs")},
            family="gemm",
            where=SMALL,
            because="at 64 a Triton template can win against the library, since it adds the bias itself and needs no copy",
        ),
        predict.within(
            "top_kernel_mean_ratio",
            (0.98, 1.05),
            where={"window": "20-steps"},
            because="five milliseconds of work neither heat the GPU up nor throttle it: one GEMM should take one time",
        ),
        predict.within(
            "profiler_factor",
            (1.5, None),
            where={**SMALL, "mode": "eager"},
            because="each of some ten operators and calls gets an event of about a microsecond, on a step of a few tens of them",
        ),
        predict.first_step_wider(
            1.5, where=COLD_64, because="the two calls before it have not warmed every path of a fresh process"
        ),
        predict.geometry(
            "pointwise",
            "registers",
            (None, 40),
            where={"mode": "eager"},
            because="an addition needs two operands of eight elements and some addresses",
        ),
        predict.within(
            "peak_memory_bytes",
            (160 * 2**20, 200 * 2**20),
            where={**LARGE, "mode": "eager"},
            because="three inputs, the product and the sum: five matrices of 32 MiB, and the library's workspace",
        ),
    ),
    claims=(
        claim(
            "P1-01",
            "At 64×64 and cold, the step is overhead-bound: CPU time is far above GPU time.",
            predict.all_of(
                predict.bound("overhead", where=COLD_64), predict.within("cpu_over_gpu", (10.0, None), where=COLD_64)
            ),
            figure="2.314 ms CPU, 23.104 µs CUDA (< 1 %)",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-02",
            "At 4096×4096 it no longer is: the two totals are about equal.",
            predict.all_of(
                predict.within("busy_share", (0.8, None), where={**LARGE, "mode": "eager"}),
                predict.within("cpu_over_gpu", (0.8, 1.25), where={**LARGE, "mode": "eager"}),
            ),
            figure="4.908 ms CPU, 4.495 ms CUDA",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-03",
            "An eager step launches two kernels: one GEMM and one vectorized elementwise add.",
            predict.all_of(
                predict.count("kernel", 2, where={"mode": "eager"}),
                predict.present("kernel", "*vectorized_elementwise_kernel*", where={"mode": "eager"}),
            ),
            figure="2",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-04",
            "Cold, the first recorded step has a long gap between its label and its first operator, and is wider for it.",
            predict.all_of(
                predict.within("first_step_gap_ratio", (5.0, None), where=COLD_64),
                predict.first_step_wider(1.5, where=COLD_64),
            ),
            figure="227.8 µs against 5.5 and 4.5 µs",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-05",
            "After warm-up calls the recorded steps are alike.",
            predict.within("step_width_ratio", (1.0, 1.5), where={**SMALL, "mode": "eager"}),
            figure="–",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-06",
            "Without wait and warm-up steps, one Activity Buffer Request of the profiler sets the GPU lane off by milliseconds, once.",
            predict.all_of(
                predict.within("buffer_requests", (1, 1), where=BUFFER),
                predict.within("buffer_request_us", (1000.0, None), where=BUFFER),
                predict.first_step_wider(5.0, where=BUFFER),
            ),
            figure="≈ 2.5 ms offset",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-07",
            "On 3-D inputs matmul goes to bmm instead of mm, with more CUDA calls.",
            predict.all_of(
                predict.present("op", "aten::bmm", where={"dims": "3d"}),
                predict.absent("op", "aten::mm", where={"dims": "3d"}),
                predict.ratio(
                    "runtime_calls",
                    of={"dims": "3d"},
                    over={"dims": "2d"},
                    between=(1.01, None),
                    where={"size": 64, "window": "warm", "mode": "eager"},
                ),
            ),
            figure="–",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-08",
            "The GEMM's launch has an occupancy query before it, the add's has none.",
            predict.all_of(
                predict.preceded(
                    "gemm",
                    "cudaOccupancyMaxActiveBlocksPerMultiprocessor*",
                    "always",
                    where={"mode": "eager", "dims": "2d"},
                ),
                predict.preceded(
                    "pointwise",
                    "cudaOccupancyMaxActiveBlocksPerMultiprocessor*",
                    "never",
                    where={"mode": "eager", "dims": "2d"},
                ),
            ),
            figure="–",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-09",
            "The add kernel is light: 32 registers a thread and no shared memory.",
            predict.all_of(
                predict.geometry("pointwise", "registers", (None, 32), where={"mode": "eager", "dims": "2d"}),
                predict.geometry("pointwise", "shared_bytes", (0, 0), where={"mode": "eager", "dims": "2d"}),
            ),
            figure="32 registers, 0 bytes",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-10",
            "At 64×64 the closing synchronisation is long against the GPU work it covers.",
            predict.all_of(
                predict.within("sync_over_gpu", (10.0, None), where=COLD_64),
                predict.within("sync_idle_share", (0.9, None), where=COLD_64),
            ),
            figure="1.78 ms for 26 µs: 98 % idle",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-11",
            "Over 20 steps at 4096×4096 the same kernel's time varies: its typical value is far under the mean.",
            predict.within("top_kernel_mean_ratio", (1.2, None), where={"window": "20-steps"}),
            figure="≈ 580 µs typical, 1084 µs mean of five",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-12",
            "Compiled, add(matmul) becomes one aten::addmm in the dispatch.",
            predict.all_of(
                predict.present("op", "aten::addmm", where={**LARGE, "mode": "compile"}),
                predict.absent("op", "aten::add", where={**LARGE, "mode": "compile"}),
                predict.absent("op", "aten::mm", where={**LARGE, "mode": "compile"}),
            ),
            figure="–",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-13",
            "The compiled GEMM kernel has the name that eager's has.",
            predict.same_kernels(between={"mode": ("eager", "compile")}, family="gemm", where=LARGE),
            figure="ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-14",
            "Compiled, a step calls cudaLaunchKernel once, yet has two GPU activities: a copy that seeds the output with the bias, and the GEMM.",
            predict.all_of(
                predict.calls("cudaLaunchKernel", 1, where={**LARGE, "mode": "compile"}),
                predict.count("memcpy", 1, where={**LARGE, "mode": "compile"}),
                predict.count("kernel", 1, where={**LARGE, "mode": "compile"}),
            ),
            figure="copy of 32 MB ≈ 33 µs",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-15",
            "Compiling raises the CPU time of a step, about twofold.",
            predict.ratio(
                "dispatch_us",
                of={"mode": "compile"},
                over={"mode": "eager"},
                between=(1.5, 2.5),
                where={"size": [64, 4096], "dims": "2d", "window": "warm"},
            ),
            figure="0.10 / 0.07 / 0.07 ms eager; 0.2 / 0.1 / 0.1 ms compiled",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-16",
            "The compiled step shows a cache lookup, a compiled region, a runtime wrapper and one graph call whose hash is the same in all steps.",
            predict.all_of(
                *(
                    predict.present("op", name, where={**LARGE, "mode": "compile"})
                    for name in (
                        "TorchDynamo Cache Lookup",
                        "Torch-Compiled Region*",
                        "AOTDispatcher Runtime Wrapper Prologue",
                        "## Call CompiledFxGraph*",
                    )
                ),
                predict.within("graph_hashes", (1, 1), where={**LARGE, "mode": "compile"}),
            ),
            figure="–",
            on=A100,
            source=PART_1,
        ),
        claim(
            "P1-17",
            "Other compile modes launch other kernels, and one of them, reduce-overhead, brings the CPU time down.",
            predict.all_of(
                *(
                    predict.different_kernels(between={"mode": ("compile", mode)}, where=LARGE)
                    for mode in ("reduce-overhead", "max-autotune-no-cudagraphs")
                ),
                predict.ratio(
                    "dispatch_us",
                    of={"mode": "reduce-overhead"},
                    over={"mode": "compile"},
                    between=(None, 0.95),
                    where=LARGE,
                ),
            ),
            figure="–",
            on=A100,
            source=PART_1,
        ),
    ),
)
