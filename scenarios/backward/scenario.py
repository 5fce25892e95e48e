"""The backward pass: twice the matrix products again, and what else it brings along in kernels, time and memory."""

from foretrace import Part, Scenario, Work, grid, predict
from foretrace.facts import Params

MiB = 2**20

LINEAR, GEGLU = {"program": "linear", "tokens": 8192}, {"program": "geglu_mlp", "tokens": 8192}
FORWARD, BACKWARD = {"phase": "forward"}, {"phase": "forward-backward"}
EAGER, COMPILE = {"mode": "eager"}, {"mode": "compile"}
SMALL = {"tokens": 32}


def work(params: Params) -> Work:
    """The parts of a step in the order in which eager runs them; compiled, their sum with each intermediate moved once."""
    tokens, backward = float(params["tokens"]), params["phase"] == "forward-backward"
    if params["program"] == "linear":
        return Work.of(*linear(tokens, backward=backward))
    if params["mode"] == "eager":
        return Work.of(*geglu_mlp(tokens, backward=backward))
    parts = [part for part in geglu_mlp(tokens, backward=backward) if part.family == "gemm"]
    hidden = 2 * tokens * 3072
    moved = 3 * hidden + (5 * hidden if backward else 0)  # gelu and mul as one kernel, their gradients as another
    return Work(flops=sum(part.flops for part in parts), bytes=sum(part.bytes for part in parts) + moved)


def linear(tokens: float, *, backward: bool) -> tuple[Part, ...]:
    """The product, then those of both gradients, then the bias's: a sum over the rows."""
    width = 4096.0
    if not backward:
        return (product("forward", tokens, width, width),)
    return (
        product("forward", tokens, width, width),
        product("dgrad", tokens, width, width),
        product("wgrad", tokens, width, width),
        Part(name="bias gradient", family="reduction", flops=0.0, bytes=2 * (tokens + 1) * width),
    )


def geglu_mlp(tokens: float, *, backward: bool) -> tuple[Part, ...]:
    """Three products with GELU and a multiplication between them; backward the layers in reverse."""
    narrow, wide = 768.0, 3072.0
    hidden = tokens * wide
    forward = (
        product("gate", tokens, narrow, wide),
        elementwise("gelu", hidden, reads=1),
        product("up", tokens, narrow, wide),
        elementwise("mul", hidden, reads=2),
        product("down", tokens, wide, narrow),
    )
    if not backward:
        return forward
    return (
        *forward,
        product("down dgrad", tokens, narrow, wide),
        product("down wgrad", narrow, tokens, wide),
        elementwise("gelu gradient", hidden, reads=2),
        elementwise("up gradient", hidden, reads=2),
        product("up dgrad", tokens, wide, narrow),
        product("up wgrad", wide, tokens, narrow),
        elementwise("gate gradient", hidden, reads=2),
        product("gate dgrad", tokens, wide, narrow),
        product("gate wgrad", wide, tokens, narrow),
        elementwise("input gradient", tokens * narrow, reads=2),
    )


def product(name: str, rows: float, inner: float, columns: float) -> Part:
    """2·rows·inner·columns operations on three bf16 matrices."""
    values = rows * inner + inner * columns + rows * columns
    return Part(name=name, family="gemm", flops=2 * rows * inner * columns, bytes=2 * values)


def elementwise(name: str, values: float, *, reads: int) -> Part:
    """So many bf16 tensors read and one written; none of its operations is one of a matrix multiplier's."""
    return Part(name=name, family="pointwise", flops=0.0, bytes=2 * (reads + 1) * values)


scenario = Scenario(
    title="Backward",
    question=(
        "What does a backward pass add to a forward pass: which kernels, how much GPU time, how much memory, and how much of "
        "that can compiling take away again?"
    ),
    label="backward",
    variants=(
        grid(program="linear", tokens=8192, phase=("forward", "forward-backward"), mode="eager", work=work)
        + grid(
            program="geglu_mlp",
            tokens=8192,
            phase=("forward", "forward-backward"),
            mode=("eager", "compile"),
            work=work,
        )
        + grid(program="geglu_mlp", tokens=32, phase=("forward", "forward-backward"), mode="eager", work=work)
    ),
    baseline=FORWARD,
    quick=SMALL,
    predictions=(
        predict.bound(
            "compute",
            where={"tokens": 8192},
            because=(
                "the linear layer has 275 GFLOP forward, 0.4 ms at 700 TFLOP/s, for 168 MB, 0.04 ms at 4 TB/s; the MLP has 116 "
                "GFLOP for some 450 MB, 0.17 against 0.11 ms; backward adds twice the operations and about twice the bytes"
            ),
        ),
        predict.bound(
            "overhead",
            where=SMALL,
            because="32 rows are 0.45 GFLOP forward and 14 MB of weights, a few microseconds, while five launches take tens of them",
        ),
        predict.all_of(
            predict.count("kernel", 1, family="gemm", where={"program": "linear", **FORWARD}),
            predict.count("kernel", 3, family="gemm", where={"program": "linear", **BACKWARD}),
            predict.count("kernel", 3, family="gemm", where={"program": "geglu_mlp", **FORWARD}),
            predict.count("kernel", 9, family="gemm", where={"program": "geglu_mlp", **BACKWARD}),
            because=(
                "a linear layer is one product forward and two backward, for the gradients of its input and of its weight: the "
                "input asks for its gradient as it would within a network; compiling changes neither number"
            ),
        ),
        predict.all_of(
            predict.count("kernel", 1, where={**LINEAR, **FORWARD}),
            predict.count("kernel", 4, where={**LINEAR, **BACKWARD}),
            predict.count("kernel", 1, family="reduction", where={**LINEAR, **BACKWARD}),
            because="forward the bias goes into the product's epilogue; its gradient, the sum over all rows, gets a kernel of its own",
        ),
        predict.all_of(
            predict.launches("AddmmBackward0", 2, where={**LINEAR, **BACKWARD}),
            predict.launches("aten::sum", 1, where={**LINEAR, **BACKWARD}),
            because=(
                "the operator hands the gradient of a bias on unsummed; the engine sums it afterwards, since the bias had been "
                "expanded to all rows"
            ),
        ),
        predict.all_of(
            predict.count("kernel", 2, family="pointwise", where={**GEGLU, **FORWARD, **EAGER}),
            predict.count("kernel", 6, family="pointwise", where={**GEGLU, **BACKWARD, **EAGER}),
            predict.count("kernel", 1, family="pointwise", where={**GEGLU, **FORWARD, **COMPILE}),
            predict.count("kernel", 2, family="pointwise", where={**GEGLU, **BACKWARD, **COMPILE}),
            because=(
                "GELU and product forward; two products for the product's gradients, one kernel for GELU's, and one sum of the "
                "input's two gradients; compiled, one fused kernel a pass, and the sum goes into a GEMM as addmm"
            ),
        ),
        predict.count(
            "memcpy",
            1,
            where={**GEGLU, **BACKWARD, **COMPILE},
            because="an addmm that adds a whole matrix finds it copied into its output first: here the input's first gradient",
        ),
        predict.all_of(
            predict.launches("MmBackward0", 6, where={**GEGLU, **BACKWARD, **EAGER}),
            predict.launches("MulBackward0", 2, where={**GEGLU, **BACKWARD, **EAGER}),
            predict.launches("GeluBackward0", 1, where={**GEGLU, **BACKWARD, **EAGER}),
            predict.launches("aten::add_", 1, where={**GEGLU, **BACKWARD, **EAGER}),
            because="what each operator of the graph launches, three MmBackward0 together; K need not be split over blocks",
        ),
        predict.all_of(
            predict.launches("aten::t", 0, where=EAGER),
            predict.launches("torch::autograd::AccumulateGrad", 0, where={**BACKWARD, **EAGER}),
            because="a transpose is another way to read a matrix, and a leaf without a gradient takes the one that comes as it is",
        ),
        predict.all_of(
            predict.decoded("gemm", "layout", "tn*", where={"tokens": 8192, **FORWARD, **EAGER}),
            predict.different_kernel("forward", "dgrad", where={**LINEAR, **BACKWARD}),
            predict.different_kernel("forward", "wgrad", where={**LINEAR, **BACKWARD}),
            predict.different_kernel("dgrad", "wgrad", where={**LINEAR, **BACKWARD}),
            because=(
                "column by column, as the library sees them: y = x·Wᵀ reads the weight transposed (tn), dx = g·W nothing (nn), "
                "dW = gᵀ·x the gradient (nt); three layouts are three kernels"
            ),
        ),
        predict.all_of(
            predict.same_kernel("gate", "up", where={**GEGLU, **EAGER}),
            predict.same_kernel("gate wgrad", "up wgrad", where={**GEGLU, **BACKWARD, **EAGER}),
            predict.different_kernel("gate", "down dgrad", where={**GEGLU, **BACKWARD, **EAGER}),
            because="the same shape and layout get the same kernel; down's input gradient has the shape of gate, not its layout",
        ),
        predict.all_of(
            *(
                predict.part(name, "tflops", (550.0, 850.0), where={**LINEAR, **BACKWARD})
                for name in ("forward", "dgrad", "wgrad")
            ),
            because="275 GFLOP each; 16 million outputs or more are at least four full waves of 128×256 tiles on 132 multiprocessors",
        ),
        predict.all_of(
            predict.part("gate", "tflops", (400.0, 750.0), where={**GEGLU, **EAGER}),
            predict.part("gate wgrad", "tflops", (250.0, 600.0), where={**GEGLU, **BACKWARD, **EAGER}),
            because=(
                "forward K is only 768, and the stores weigh; the weight's gradient has 3072×768 outputs, 72 tiles of 128×256 for "
                "132 multiprocessors, unless tiles are smaller or K is split"
            ),
        ),
        predict.part(
            "bias gradient",
            "gbps",
            (1200.0, 4300.0),
            where={**LINEAR, **BACKWARD},
            because="64 MiB are read once at up to 4.2 TB/s; 4096 columns alone do not fill the GPU, so rows have to be split as well",
        ),
        predict.ratio(
            "gpu_busy_us",
            of=BACKWARD,
            over=FORWARD,
            between=(2.7, 3.8),
            where={"tokens": 8192},
            because=(
                "three times the products and, for the MLP, three times the elementwise traffic (742 against 252 MB eager, 403 "
                "against 151 compiled); weight gradients with few tiles make it more"
            ),
        ),
        predict.ratio(
            "dispatch_us",
            of=BACKWARD,
            over=FORWARD,
            between=(2.5, 8.0),
            where={"program": "geglu_mlp", **EAGER},
            because=(
                "15 kernels instead of 5, and around them a graph that is recorded, an engine in a thread of its own, and four "
                "leaves that take their gradients"
            ),
        ),
        predict.ratio(
            "peak_memory_bytes",
            of=BACKWARD,
            over=FORWARD,
            between=(1.6, 2.1),
            where={"tokens": 8192, **EAGER},
            because=(
                "linear: 160 MiB of input, weight and output gain 160 for three gradients; MLP: at the most 25 MiB of input and "
                "weights and three hidden tensors of 48 forward, four saved ones and three gradients less the one already used "
                "backward; up to two workspaces of 32 MiB on both sides"
            ),
        ),
        predict.within(
            "peak_memory_bytes",
            (340 * MiB, 420 * MiB),
            where={**GEGLU, **BACKWARD, **EAGER},
            because=(
                "in the product's gradient: 38 MiB of input, weights and given gradient, 12 of output, 5 of a weight's gradient, "
                "and six hidden tensors of 48 (gate, gelu, up, three gradients), 343 together, and the library's workspaces"
            ),
        ),
        predict.ratio(
            "peak_memory_bytes",
            of=COMPILE,
            over=EAGER,
            between=(0.65, 0.92),
            where={**GEGLU, **BACKWARD},
            because="gelu(gate) is computed anew in the fused backward kernel instead of saved, and no gradient of it is ever stored",
        ),
        predict.share(
            "gemm",
            (0.65, 0.88),
            where={**GEGLU, **EAGER},
            because="forward 116 GFLOP at 600 TFLOP/s are 193 µs and 252 MB at 4 TB/s are 63; backward both about double",
        ),
        predict.share(
            "gemm",
            (0.75, 0.93),
            where={**GEGLU, **COMPILE},
            because="the same products, while the elementwise traffic falls to 151 MB forward and 252 more backward",
        ),
        predict.ratio(
            "pointwise_us",
            of=COMPILE,
            over=EAGER,
            between=(0.42, 0.72),
            where=GEGLU,
            because="151 of 252 MB forward, 403 of 742 MB with the backward pass: 0.60 and 0.54",
        ),
        predict.ratio(
            "gpu_busy_us",
            of=COMPILE,
            over=EAGER,
            between=(0.78, 0.97),
            where=GEGLU,
            because="25 of some 260 µs forward, 85 of some 800 with the backward pass, less a copy of 12 MiB",
        ),
        predict.all_of(
            predict.within("graph_hashes", (1, 1), where={**GEGLU, **FORWARD, **COMPILE}),
            predict.within("graph_hashes", (2, 2), where={**GEGLU, **BACKWARD, **COMPILE}),
            because="the backward pass is traced ahead of time and becomes a graph of its own",
        ),
        predict.same_kernels(
            between={"mode": ("eager", "compile")},
            family="gemm",
            where={**GEGLU, **FORWARD},
            because="without a bias both call mm of the same library with the same shapes and layouts",
        ),
    ),
)
