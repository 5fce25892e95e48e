"""Causal attention: the same function as five kernels, as twenty, as three and as one.

The experiment is that of part 3 of the series *Profiling in PyTorch*; the claims are restated from it as facts.
"""

from foretrace import Part, Scenario, Work, claim, grid, predict
from foretrace.facts import Params

A100 = "NVIDIA A100-SXM4-80GB"
SERIES = "https://huggingface.co/blog/torch-profiler"
PART_3 = "https://huggingface.co/blog/torch-attention-profile"

BATCH, HEADS, DIM = 8, 16, 64
FUSED = ("efficient", "flash", "cudnn")


def work(params: Params) -> Work:
    """Two products of 2·rows·seq·dim operations over all of the scores, though a causal kernel may skip the masked half.

    A fused form moves q, k, v and the output once. Written by hand, every kernel passes over the matrix of scores, in
    bf16 or, in the math backend, in fp32.
    """
    seq, form, mode = float(params["seq"]), params["form"], params["mode"]
    rows = BATCH * HEADS * seq
    scores, vectors = rows * seq, rows * DIM
    flops = 2 * scores * DIM
    if form == "math":
        return _math(scores, vectors, flops)
    if form not in ("naive", "inplace"):
        return Work.of(Part(name="attention", family="attention", flops=2 * flops, bytes=2 * 4 * vectors))
    first = Part(name="scores", family="gemm", flops=flops, bytes=2 * (2 * vectors + scores))
    last = Part(name="output", family="gemm", flops=flops, bytes=2 * (scores + 2 * vectors))
    once, mask = 2 * 2 * scores, seq * seq  # bytes: each score read and written, and a matrix of booleans
    if mode == "compile":
        return Work.of(first, Part(name="softmax", family="reduction", flops=7 * scores, bytes=once + mask), last)
    copy = (Part(name="copy", family="memcpy", flops=0.0, bytes=once),) if form == "naive" else ()
    return Work.of(
        first,
        Part(name="scale", family="pointwise", flops=scores, bytes=once),
        *copy,
        Part(name="mask", family="pointwise", flops=scores, bytes=once + mask),
        Part(name="softmax", family="softmax", flops=5 * scores, bytes=once),
        last,
    )


def _math(scores: float, vectors: float, flops: float) -> Work:
    """Over the scores in fp32: written 1, mask added 2, softmax 2, rows without a score found 1.5 and replaced 2, read 1.

    Of q, k, v and the output: three read and cast, two scaled, three read, one written and cast, 56 bytes an element.
    """
    return Work(
        flops=2 * flops + 8 * scores,
        bytes=9.5 * 4 * scores + 56 * vectors,
        dtype="fp32",
        parts=(
            Part(name="scores", family="gemm", flops=flops, bytes=4 * (2 * vectors + scores)),
            Part(name="output", family="gemm", flops=flops, bytes=4 * (scores + 2 * vectors)),
        ),
    )


EAGER = {"mode": "eager"}
NAIVE, INPLACE, MATH, EFFICIENT, FLASH, CUDNN = (
    {"seq": 1024, "form": form, "mode": "eager"} for form in ("naive", "inplace", "math", *FUSED)
)
AS_PUBLISHED = {"seq": 1024, "mode": "eager"}
LONG = {"seq": [1024, 4096], "mode": "eager"}

scenario = Scenario(
    title="Attention",
    question=(
        "Six ways to run one causal attention: how many kernels does each launch, what do they move, "
        "and which backend of the library's own operator is the fastest?"
    ),
    label="attention",
    variants=(
        grid(seq=1024, form=("naive", "inplace", "math", *FUSED, "auto"), mode="eager", work=work)
        + grid(seq=1024, form="inplace", mode="compile", work=work)
        + grid(seq=(256, 4096), form=("inplace", *FUSED), mode="eager", work=work)
    ),
    baseline={"form": "inplace", "mode": "eager"},
    quick={"seq": 256},
    predictions=(
        predict.bound(
            "memory",
            where={"seq": [1024, 4096], "form": ["naive", "inplace"]},
            because=(
                "the scores of 1024 fill 256 MiB; eight passes over them are 2.1 GB, 0.5 ms at 4.2 TB/s, and the products' "
                "34 GFLOP 0.05 ms at 700 TFLOP/s"
            ),
        ),
        predict.bound(
            "memory",
            where=MATH,
            because="some ten passes over 512 MiB of scores in fp32 take 1.2 ms, 34 GFLOP on the CUDA cores at 50 TFLOP/s 0.7 ms",
        ),
        predict.bound(
            "compute",
            where={**LONG, "form": "flash"},
            because=(
                "67 MB pass in 16 µs; the products' 34 GFLOP take 46 µs at 750 TFLOP/s if none is skipped, more than half of what a "
                "kernel at some 200 TFLOP/s needs for the half that is not masked"
            ),
        ),
        predict.bound(
            "overhead",
            where={"seq": 256, "form": ["flash", "cudnn"]},
            because="1 GFLOP that is not masked and 17 MB that the L2 holds take five to ten microseconds, the operator's dispatch twenty or more",
        ),
        predict.count(
            "kernel",
            3,
            where={"form": "inplace", "mode": "compile"},
            because="two library products stay; scaling, masking and softmax go along the same rows and fit into one kernel",
        ),
        predict.count(
            "kernel",
            1,
            where={"form": [*FUSED, "auto"]},
            because="with B·H·S of 32 thousand rows and more there are blocks enough, so that no split and no second kernel to join it is needed",
        ),
        predict.same_kernels(
            between={"form": ("auto", "cudnn")},
            where=AS_PUBLISHED,
            because="on a Hopper recent versions of the framework put cuDNN first where it takes the inputs",
        ),
        predict.launches(
            "aten::_safe_softmax",
            5,
            where=MATH,
            because="the softmax, the search for -inf, the rows that have nothing else, a zero, and the choice between it and the softmax",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"form": "naive"},
            over={"form": "inplace"},
            between=(1.1, 1.4),
            where=AS_PUBLISHED,
            because="the copy adds two passes over the scores to eight, a quarter",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"mode": "compile"},
            over=EAGER,
            between=(0.35, 0.65),
            where={"seq": 1024, "form": "inplace"},
            because="of eight passes over the scores four are left",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"form": "math"},
            over={"form": "inplace"},
            between=(2.0, 4.5),
            where=AS_PUBLISHED,
            because="5.2 GB against 2.1, and 34 GFLOP that take 0.7 ms on CUDA cores and hide behind traffic on tensor cores",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"form": "cudnn"},
            over={"form": "flash"},
            between=(0.45, 0.9),
            where=LONG,
            because=(
                "cuDNN generates kernels for a Hopper's own matrix instructions and copy engine; the built-in flash kernel is "
                "written for those of the generation before, which reach about half of the peak"
            ),
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"form": "efficient"},
            over={"form": "flash"},
            between=(1.4, 3.0),
            where=LONG,
            because="its tiles of 64 × 64 do half the work for each load of k and v, and more of it outside the products",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"form": "flash"},
            over={"form": "inplace"},
            between=(0.08, 0.25),
            where=AS_PUBLISHED,
            because="the unmasked half of the products, 17 GFLOP, takes 85 µs at some 200 TFLOP/s, eight passes over 256 MiB take 500 µs or more",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"seq": 4096},
            over={"seq": 1024},
            between=(14.0, 18.0),
            where={"form": "inplace", **EAGER},
            because="four times the length is sixteen times the scores, and both are far larger than the L2",
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"seq": 4096},
            over={"seq": 1024},
            between=(8.0, 15.5),
            where={"form": list(FUSED), **EAGER},
            because=(
                "sixteen times the work, but of a row of tiles at 1024 the diagonal, computed whole and masked after, is a larger part, "
                "and a longer loop hides its beginning better"
            ),
        ),
        predict.ratio(
            "gpu_busy_us",
            of={"seq": 1024},
            over={"seq": 256},
            between=(16.0, 40.0),
            where={"form": "inplace", **EAGER},
            because="more than the sixteenfold: at 256 the 16 MiB of scores never leave the L2",
        ),
        predict.ratio(
            "peak_memory_bytes",
            of={"form": "flash"},
            over={"form": "inplace"},
            between=(None, 0.06),
            where={"seq": 4096, **EAGER},
            because="four tensors of 64 MiB against two matrices of scores of 4 GiB",
        ),
        predict.all_of(
            predict.part("scale", "gbps", (3500, 4600), where={**LONG, "form": ["naive", "inplace"]}),
            predict.part("softmax", "gbps", (2500, 4600), where={**LONG, "form": "inplace"}),
            because="a pass reads and writes 256 MiB and more: the speed of large copies, 4.0 to 4.4 TB/s, less what a reduction waits",
        ),
        predict.part(
            "scores",
            "tflops",
            (150, 300),
            where={**LONG, "form": "inplace"},
            because="with 64 along K a product of 17 GFLOP writes 268 MB: 64 µs at 4.2 TB/s, so no more than 270 TFLOP/s",
        ),
        predict.part(
            "output",
            "tflops",
            (20, 60),
            where=MATH,
            because="fp32 without tensor cores peaks near 60 TFLOP/s, and library GEMMs come close to it",
        ),
        predict.geometry(
            "attention",
            "occupancy",
            (None, 0.3),
            where={**AS_PUBLISHED, "form": list(FUSED)},
            because="each keeps its tile of scores and of the output in registers: with 168 or more a thread at most 12 of 64 warps fit",
        ),
        predict.ratio(
            "dispatch_us",
            of={"form": "flash"},
            over={"form": "inplace"},
            between=(0.25, 0.85),
            where={"seq": 256, **EAGER},
            because="one launch under a dozen operators against five under three dozen",
        ),
        predict.ratio(
            "dispatch_us",
            of={"form": "math"},
            over={"form": "flash"},
            between=(2.5, 8.0),
            where=AS_PUBLISHED,
            because="some twenty launches against one, each with its operators a few microseconds",
        ),
    ),
    claims=(
        claim(
            "P3-01",
            "Attention written by hand is six GPU activities where five are expected: masked_fill, out of place, adds a copy.",
            predict.all_of(
                predict.count("kernel", 5, where=NAIVE),
                predict.count("memcpy", 1, where=NAIVE),
                predict.present("op", "aten::masked_fill", where=NAIVE),
                predict.present("op", "aten::clone", where=NAIVE),
            ),
            figure="6",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-02",
            "With masked_fill_ the copy is gone.",
            predict.all_of(
                predict.count("kernel", 5, where=INPLACE),
                predict.count("memcpy", 0, where=INPLACE),
                predict.absent("op", "aten::clone", where=INPLACE),
            ),
            figure="5; 1.955 ms a forward",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-03",
            "The math backend launches twenty kernels a forward.",
            predict.count("kernel", 20, where=MATH),
            figure="20",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-04",
            "The math backend is several times slower than attention written by hand, in place.",
            predict.ratio(
                "gpu_busy_us",
                of={"form": "math"},
                over={"form": "inplace"},
                between=(2.0, None),
                where=AS_PUBLISHED,
            ),
            figure="7.239 ms against 1.955 ms: 3.7×",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-05",
            "The math backend's GEMMs run in fp32 on CUDA cores, sgemm by name; those of attention written by hand in bf16 on tensor cores.",
            predict.all_of(
                predict.present("kernel", "*sgemm*", where=MATH),
                predict.decoded("gemm", "dtype", "f32", where=MATH),
                predict.decoded("gemm", "mma", "none", where=MATH),
                predict.decoded("gemm", "dtype", "bf16", where=NAIVE),
            ),
            figure="sgemm against s16816",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-06",
            "The math backend makes the causal mask anew at every call, and its safe softmax adds kernels.",
            predict.all_of(
                predict.present("kernel", "*triu_tril_kernel*", where=MATH),
                predict.present("op", "aten::where", where=MATH),
                predict.present("op", "aten::add_", where=MATH),
                predict.present("op", "aten::_safe_softmax", where=MATH),
            ),
            figure="triu_tril_kernel, where, add_, _safe_softmax",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-07",
            "The memory-efficient backend is one fused kernel.",
            predict.all_of(
                predict.count("kernel", 1, where=EFFICIENT),
                predict.present("kernel", "fmha_cutlassF*", where=EFFICIENT),
            ),
            figure="fmha_cutlassF_bf16_aligned_64x64_rf_sm80, 277.9 µs CUDA, 117 µs CPU",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-08",
            "The flash backend is one fused kernel, and the fastest of the four backends.",
            predict.all_of(
                predict.count("kernel", 1, where=FLASH),
                predict.present("kernel", "*flash_fwd_kernel*", where=FLASH),
                *(
                    predict.ratio(
                        "gpu_busy_us",
                        of={"form": "flash"},
                        over={"form": other},
                        between=(None, 1.0),
                        where=AS_PUBLISHED,
                    )
                    for other in ("math", "efficient", "cudnn")
                ),
            ),
            figure="pytorch_flash::flash_fwd_kernel, 146.8 µs CUDA, 138 µs CPU",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-09",
            "The flash kernel's occupancy is about 13 % by design: 128 threads of 255 registers leave room for two blocks.",
            predict.all_of(
                predict.geometry("attention", "threads", (128, 128), where=FLASH),
                predict.geometry("attention", "registers", (255, 255), where=FLASH),
                predict.geometry("attention", "occupancy", (0.12, 0.14), where=FLASH),
            ),
            figure="13 %",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-10",
            "The cuDNN backend is one generated kernel, launched by cuLaunchKernelEx, without aten::transpose.",
            predict.all_of(
                predict.count("kernel", 1, where=CUDNN),
                predict.present("kernel", "cudnn_generated*", where=CUDNN),
                predict.present("driver", "cuLaunchKernelEx", where=CUDNN),
                predict.absent("op", "aten::transpose", where=CUDNN),
            ),
            figure=(
                "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64_4x1x1_cga1x1x1_kernel0_0, 186.3 µs CUDA"
            ),
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-11",
            "The profiler reports no occupancy for the cuDNN kernel; by its resources it is about 12.5 %.",
            predict.all_of(
                predict.geometry("attention", "occupancy_reported", (0.0, 0.0), where=CUDNN),
                predict.geometry("attention", "occupancy", (0.11, 0.14), where=CUDNN),
            ),
            figure="0 % reported; 240 registers × 256 threads: one block, 8 of 64 warps",
            on=A100,
            source=PART_3,
        ),
        claim(
            "P3-12",
            "The cuDNN backend takes the most CPU time of the three fused ones, much of it in one operator that records nothing inside.",
            predict.all_of(
                *(
                    predict.ratio(
                        "profiled_step_us",
                        of={"form": "cudnn"},
                        over={"form": other},
                        between=(1.0, None),
                        where=AS_PUBLISHED,
                    )
                    for other in ("efficient", "flash")
                ),
                predict.within("opaque_share", (0.4, None), where=CUDNN),
            ),
            figure="214 µs against 138 (flash) and 117 (efficient)",
            on=A100,
            source=PART_3,
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
