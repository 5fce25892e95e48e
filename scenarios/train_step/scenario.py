"""A training step of one transformer block: forward, backward and three ways of AdamW to do the same arithmetic."""

from foretrace import Part, Scenario, Work, grid, predict
from foretrace.facts import Params

MiB = 2**20
TENSORS = 12  # parameters of the block: two layer norms and four linear layers, a weight and a bias each
TOKENS = {1024: 8 * 1024, 64: 2 * 64}
SEQUENCE = {1024: 1024, 64: 64}

LARGE, SMALL = {"width": 1024}, {"width": 64}
EAGER, COMPILE = {"mode": "eager"}, {"mode": "compile"}
LOOP, FOREACH, FUSED = ({"optimizer": way} for way in ("for-loop", "foreach", "fused"))
STEP = "Optimizer.step#AdamW.step"
PASSES = {  # of the foreach optimizer, and how many tensors of the parameters' size each reads or writes
    "decay": 2, "first moment": 3, "second moment decay": 2, "second moment": 3,
    "root": 2, "bias correction": 2, "epsilon": 2, "update": 4,
}  # fmt: skip


def work(params: Params) -> Work:
    """The products, the attention and the optimizer's seven tensors; what fusion may keep from memory is not counted."""
    width, way = int(params["width"]), str(params["optimizer"])
    tokens, multiplied = TOKENS[width], products(width)
    attention = 3.5 * 2 * tokens * SEQUENCE[width] * width  # two causal products, half of each; backward takes five
    return Work(
        flops=sum(part.flops for part in multiplied) + attention,
        bytes=sum(part.bytes for part in multiplied) + 12 * 2.0 * tokens * width + 7 * 2.0 * parameters(width),
        parts=(*(multiplied if params["mode"] == "eager" else ()), *updates(width, way)),
    )


def parameters(width: int) -> int:
    """How many numbers the block learns: 3 + 1 + 4 + 4 squares of its width, and 13 rows of biases and norms."""
    return 12 * width**2 + 13 * width


def products(width: int) -> tuple[Part, ...]:
    """Each linear layer's, forward in order and backward in reverse: first the input's gradient, then the weight's."""
    tokens = TOKENS[width]
    layers = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    forward = [product(name, tokens, *sides) for name, sides in layers.items()]
    backward = [
        product(f"{name} {gradient}", tokens, *sides)
        for name, sides in reversed(layers.items())
        for gradient in ("dgrad", "wgrad")
    ]
    return (*forward, *backward)


def product(name: str, rows: int, inner: int, columns: int) -> Part:
    """2·rows·inner·columns operations on three bf16 matrices, whichever of them is the result."""
    values = rows * inner + inner * columns + rows * columns
    return Part(name=name, family="gemm", flops=2.0 * rows * inner * columns, bytes=2.0 * values)


def updates(width: int, way: str) -> tuple[Part, ...]:
    """The optimizer's own kernels; a loop over tensors has none, it runs what any elementwise operator runs."""
    if way == "for-loop":
        return ()
    tensor = 2.0 * parameters(width)
    if way == "foreach":
        return tuple(Part(name=name, family="optimizer", flops=0.0, bytes=n * tensor) for name, n in PASSES.items())
    return (
        Part(name="step counts", family="optimizer", flops=0.0, bytes=2 * 4.0 * TENSORS),
        Part(name="update", family="optimizer", flops=0.0, bytes=7 * tensor),
    )


scenario = Scenario(
    title="Training step",
    question=(
        "Where does the time of a training step go, on the GPU and on the CPU, and what do two choices change about it: how the "
        "optimizer walks its parameters, and whether the loss is compiled?"
    ),
    label="train_step",
    variants=(
        grid(width=1024, mode="eager", optimizer=("for-loop", "foreach", "fused"), work=work)
        + grid(width=1024, mode="compile", optimizer=("foreach", "fused"), work=work)
        + grid(width=64, mode="eager", optimizer=("for-loop", "foreach", "fused"), work=work)
    ),
    baseline=FOREACH,
    quick=SMALL,
    predictions=(
        predict.bound(
            "compute",
            where={**LARGE, "optimizer": ["foreach", "fused"]},
            because=(
                "6·12.6 million weights·8192 tokens are 618 GFLOP and causal attention 60 more: 1.1 ms at 600 TFLOP/s, of some 1.6; "
                "fifty launches or graph calls at some ten microseconds fit under it"
            ),
        ),
        predict.bound(
            "overhead",
            where=SMALL,
            because="38 MFLOP are nothing, and even a hundred kernels of two microseconds are less than a hundred launches from Python",
        ),
        predict.count(
            "kernel",
            12,
            family="gemm",
            because="four linear layers, one product forward and two backward each; compiling fuses what stands between them only",
        ),
        predict.all_of(
            predict.launches(STEP, 8 * TENSORS, where=LOOP),
            predict.launches(STEP, 8, where=FOREACH),
            predict.launches(STEP, 2, where=FUSED),
            predict.launches("Optimizer.zero_grad#AdamW.zero_grad", 0),
            because=(
                "AdamW is decay, lerp, mul, addcmul, sqrt, div, add, addcdiv: eight kernels for each of 12 tensors, or eight for all of "
                "them, since 12.6 million elements are 200 chunks of 65536 and one launch takes 320; fused, one, and one that counts steps"
            ),
        ),
        predict.all_of(
            predict.count("kernel", 0, family="optimizer", where=LOOP),
            predict.count("kernel", 8, family="optimizer", where=FOREACH),
            predict.count("kernel", 2, family="optimizer", where=FUSED),
            because="kernels over lists of tensors are called by nobody else in this step, and not at all by the loop",
        ),
        predict.all_of(
            predict.count("kernel", 9, family="pointwise", where={**LARGE, **EAGER, "optimizer": ["foreach", "fused"]}),
            predict.count("kernel", 9 + 8 * TENSORS, family="pointwise", where={**LARGE, **EAGER, **LOOP}),
            predict.count("kernel", 5, family="reduction", where={**LARGE, **EAGER}),
            because=(
                "forward two residuals, GELU and the squared error; backward a one, a zeroed buffer, the error's and GELU's gradient and "
                "one sum where the residual joins; reduced are the loss and the gradients of four biases"
            ),
        ),
        predict.all_of(
            *(
                predict.launches(f"aten::{view}", 0, where=EAGER)
                for view in ("t", "view", "transpose", "chunk", "unflatten")
            ),
            predict.launches("aten::cat", 1, where=EAGER),
            because="cutting q, k and v out of one product costs nothing forward; backward their gradients have to be put together",
        ),
        predict.all_of(
            predict.calls("cudaStreamSynchronize", 0),
            predict.count("memcpy", 0, where=EAGER),
            because="nothing is read back: the loss stays where it is, and the counts of steps are on the CPU, or fused on the GPU",
        ),
        predict.order(
            "dispatch_us",
            parameter="optimizer",
            growing=("fused", "foreach", "for-loop"),
            where={**SMALL, **EAGER},
            because="two launches, eight over lists of tensors that Python has to put together, and 96 with an operator around each",
        ),
        predict.ratio(
            "dispatch_us",
            of=LOOP,
            over=FOREACH,
            between=(1.2, 2.6),
            where=EAGER,
            because=(
                "96 operators of some 6 µs and the arithmetic of 12 bias corrections add 0.6 ms or so to a forward and backward pass of "
                "0.6 to 0.8, where foreach adds 0.2"
            ),
        ),
        predict.ratio(
            "step_us",
            of=LOOP,
            over=FUSED,
            between=(1.3, 3.0),
            where={**SMALL, **EAGER},
            because="a step that waits for its launches takes as long as they do",
        ),
        predict.ratio(
            "step_us",
            of=LOOP,
            over=FUSED,
            between=(1.04, 1.6),
            where={**LARGE, **EAGER},
            because="under 1.6 ms of GPU work most of the launches hide, but the GPU runs the loop's kernels one by one as well",
        ),
        predict.ratio(
            "gpu_busy_us",
            of=LOOP,
            over=FUSED,
            between=(1.04, 1.25),
            where={**LARGE, **EAGER},
            because=(
                "64 of the 96 kernels are for a row of numbers and last a microsecond or two; the other 32 move 504 MB, 0.12 ms, unless "
                "the cache still holds them; fused moves 176 MB in 0.05 ms of some 1.6"
            ),
        ),
        predict.ratio(
            "gpu_busy_us",
            of=FOREACH,
            over=FUSED,
            between=(1.02, 1.12),
            where={**LARGE, **EAGER},
            because="20 tensors of 25 MB pass the memory instead of 7: 504 against 176 MB, 0.08 ms more of some 1.6",
        ),
        predict.all_of(
            predict.share("optimizer", (0.02, 0.06), where={**LARGE, **FUSED}),
            predict.share("optimizer", (0.05, 0.12), where={**LARGE, **FOREACH}),
            because="0.05 and 0.13 ms of a step of some 1.5 to 1.7",
        ),
        predict.part(
            "update",
            "gbps",
            (1800.0, 4300.0),
            where={**LARGE, **FUSED},
            because=(
                "parameter, gradient and two moments are read, all but the gradient written; 200 blocks for 132 multiprocessors "
                "leave half of them with one block and the others with two"
            ),
        ),
        predict.share(
            "gemm",
            (0.55, 0.78),
            where={**LARGE, "optimizer": ["foreach", "fused"]},
            because="618 GFLOP at 600 TFLOP/s are 1.03 ms of some 1.6; 1.1 GB of elementwise and normalising traffic take 0.28",
        ),
        predict.share(
            "attention",
            (0.06, 0.22),
            where={**LARGE, "optimizer": ["foreach", "fused"]},
            because="60 GFLOP at the 200 to 450 TFLOP/s of a fused kernel with heads of 64 are 0.13 to 0.3 ms",
        ),
        predict.all_of(
            *(
                predict.part(name, "tflops", (480.0, 800.0), where={**LARGE, **EAGER})
                for name in ("up", "down", "up wgrad")
            ),
            predict.part("out wgrad", "tflops", (80.0, 480.0), where={**LARGE, **EAGER}),
            because=(
                "1024×1024 outputs are 32 tiles of 128×256 for 132 multiprocessors, however long K is, unless it is split; 4096×1024 are "
                "128 tiles, just one wave"
            ),
        ),
        predict.different_kernel(
            "up",
            "up wgrad",
            where={**LARGE, **EAGER},
            because="tn with a bias forward, nt for the gradient of the weight",
        ),
        predict.ratio(
            "gpu_busy_us",
            of=COMPILE,
            over=EAGER,
            between=(0.88, 1.03),
            where=LARGE,
            because=(
                "products and attention stay; residual, norm and loss share passes, but GELU's tensors of 67 MB are needed by the products "
                "on either side: 0.93 instead of 1.1 GB, 0.04 of 1.6 ms"
            ),
        ),
        predict.ratio(
            "pointwise_us",
            of=COMPILE,
            over=EAGER,
            between=(0.3, 0.85),
            where={**LARGE, **FUSED},
            because="of 600 MB GELU's 335 remain, or 134 where its gradient is summed in the same kernel; the concatenation comes in",
        ),
        predict.ratio(
            "dispatch_us",
            of=COMPILE,
            over=EAGER,
            between=(0.35, 0.95),
            where={**LARGE, **FUSED},
            because=(
                "some 35 operators with their views and as many nodes of the graph at ten microseconds each give way to two calls of "
                "some 15 launches, whose guards and wrappers cost a hundred or two; the optimizer stays eager"
            ),
        ),
        predict.same_kernels(
            between={"mode": ("eager", "compile")},
            family="attention",
            where={**LARGE, **FUSED},
            because="attention is one operator that the compiler calls as it is",
        ),
        predict.different_kernels(
            between={"mode": ("eager", "compile")},
            family="gemm",
            where={**LARGE, **FUSED},
            because="eager adds each bias in a product's epilogue; compiled, a bias goes into the pointwise kernel that follows anyway",
        ),
        predict.within(
            "peak_memory_bytes",
            (430 * MiB, 520 * MiB),
            where={**LARGE, **EAGER},
            because=(
                "72 MiB of weights and moments, 32 of input and target, 240 saved (qkv 48, GELU's two 64 each, four of 16), a gradient "
                "of 16 and one of 64 with its weight's 8: 432 in the backward pass of down, and one or two workspaces of 32"
            ),
        ),
        predict.all_of(
            *(
                predict.ratio("peak_memory_bytes", of=way, over=FUSED, between=(0.97, 1.03), where={**LARGE, **EAGER})
                for way in (LOOP, FOREACH)
            ),
            because="foreach holds 24 MiB of denominators more, at a time when all that was saved for the backward pass is gone",
        ),
    ),
)
