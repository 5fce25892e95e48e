"""What pages say of a step's parts, of memory saved, of fusion, of the CPU's side and of kernels along a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import facts_builder
import msgspec
import pytest
import studies
from facts_builder import call, kernel, piece

from foretrace.errors import WrongUsage
from foretrace.facts import Facts, Kernel, Link, Piece
from foretrace.page import cpu, fusion, pieces, questions, rates, savings, sweep
from foretrace.page.holes import Holes
from foretrace.record import Ceilings
from foretrace.scenario import Work
from foretrace.stats import exact

if TYPE_CHECKING:
    from foretrace.facts import Params
    from foretrace.page.models import Cell, Table
    from foretrace.page.questions import Pair

CEILINGS = Ceilings(tflops={"bf16": 800.0}, copy_gbps=4000.0, how="once")
UNKNOWN = Ceilings(tflops={}, copy_gbps=None, how="not at all")
GEMM = "nvjet_sm90_tst_{tile}_64x4_1x2_h_bz_coopA_NNT"
ADD_NORM, GELU = "triton_red_fused_add_native_layer_norm_0", "triton_poi_fused_gelu_1"


def cells(found: Table | None, title: str) -> list[Cell]:
    assert found is not None
    place = [column.title for column in found.columns].index(title)
    return [row[place] for row in found.rows]


def texts(found: Table | None, title: str) -> list[str]:
    return [cell.text for cell in cells(found, title)]


def ran(params: Params, *sequence: Piece, **more: Any) -> Facts:
    """Facts of a variant whose steps run these pieces in order."""
    return msgspec.structs.replace(facts_builder.facts(params, **more), sequence=sequence)


def generated(name: str, **more: Any) -> Piece:
    return piece("", name=name, family="reduction" if "_red_" in name else "pointwise", **more)


def pair(ours: Facts, theirs: Facts) -> Pair:
    return ("eager", ours, "compile", theirs)


def test_a_part_stands_with_its_kernel_its_work_and_its_share_of_the_ceilings() -> None:
    gate = piece("gate", flops=4e9, bytes=8e6, tflops=exact(400.0), gbps=exact(800.0), name=GEMM.format(tile="256x128"))
    facts = ran({}, gate, piece(""), kernels=[kernel(gate.name, fields={"tile": "256x128"})])
    found = pieces.parts({"eager": facts}, slug="mlp", title="MLP", ceilings=CEILINGS)

    assert texts(found, "Part") == ["gate"]
    assert texts(found, "Tile") == ["256x128"]
    assert texts(found, "Work") == ["4.00 GFLOP"]
    assert texts(found, "Work a byte") == ["500"]
    assert [(cell.detail, cell.hint) for cell in cells(found, "Rate")] == [
        ("50.0 % of the roof", "the roof is 800 TFLOP/s")
    ]
    assert [cell.detail for cell in cells(found, "Bandwidth")] == [""]
    thin = piece("sum", flops=4e6, bytes=8e6, tflops=exact(0.4), gbps=exact(800.0))
    moving = pieces.parts({"eager": ran({}, thin)}, slug="mlp", title="MLP", ceilings=CEILINGS)
    assert [cell.detail for cell in cells(moving, "Rate")] == [""]
    assert [cell.detail for cell in cells(moving, "Bandwidth")] == ["20.0 % of the roof"]
    without = pieces.parts({"eager": facts}, slug="mlp", title="MLP", ceilings=UNKNOWN)
    assert [cell.detail for cell in cells(without, "Rate")] == [""]


def test_no_part_is_shown_of_work_that_cannot_be_trusted() -> None:
    facts = ran({}, piece("gate"), withheld={"activities": "it is incomplete"})

    assert pieces.parts({"eager": facts}, slug="mlp", title="MLP", ceilings=CEILINGS) is None
    assert (
        pieces.sequence(ran({}, *facts.sequence * 2, withheld=facts.withheld), "x", (), address="a", ceilings=CEILINGS)
        is None
    )


def test_a_step_is_shown_in_its_order_with_every_piece() -> None:
    facts = ran({}, piece("gate"), piece("", activity="memcpy", family="memcpy", label="Memcpy DtoD"), piece("up"))
    found = pieces.sequence(facts, "eager", (), address="a.md", ceilings=CEILINGS)

    assert texts(found, "Place") == ["1", "2", "3"]
    assert texts(found, "GPU work")[1] == "Memcpy DtoD"
    assert texts(found, "Part") == ["gate", "n/a", "up"]


def test_saved_bytes_are_held_against_the_saved_time() -> None:
    works = {"eager": Work(flops=1.0, bytes=300e6), "compile": Work(flops=1.0, bytes=100e6)}
    both = pair(facts_builder.facts(gpu_busy_us=[90.0]), facts_builder.facts(gpu_busy_us=[50.0]))
    found = savings.table([both], works, CEILINGS, slug="mlp", title="compile")

    assert texts(found, "Bytes a step") == ["286 MiB → 95.4 MiB"]
    assert texts(found, "Should save") == ["50.0 µs"]
    assert texts(found, "Did save") == ["40.0 µs"]
    assert texts(found, "Did over should") == ["0.800×"]


def test_what_was_saved_has_the_spread_of_the_rounds() -> None:
    works = {"eager": Work(flops=1.0, bytes=300e6), "compile": Work(flops=1.0, bytes=100e6)}
    ours = facts_builder.facts(gpu_busy_us=[(90.0,), (99.0,)])
    for theirs, did, ratio in (
        ([(50.0,), (49.0,)], "40.0 … 50.0 µs", "0.800 … 1.00×"),
        ([(85.0,), (109.0,)], "-10.0 … 5.00 µs", ""),
    ):
        found = savings.table(
            [pair(ours, facts_builder.facts(gpu_busy_us=theirs))], works, CEILINGS, slug="mlp", title="compile"
        )
        assert [cell.detail for cell in cells(found, "Did save")] == [did]
        assert ("Did over should" in [column.title for column in found.columns]) == bool(ratio)  # type: ignore[union-attr]


def test_prose_says_nothing_of_work_that_cannot_be_trusted() -> None:
    facts = ran({"mode": "eager"}, piece("gate"), kernels=[kernel()], withheld={"activities": "it is incomplete"})
    study = studies.study()
    found = msgspec.structs.replace(study.investigations["matmul_add"], facts={"eager": facts})
    holes = Holes(found=found, statements=(), gpu="Test GPU")

    assert holes.part("duration", "gate", "eager") is None
    assert holes.geometry("registers", "gemm", "eager") is None
    assert holes.launched("eager") is None
    assert holes.kernels("eager") == ()


def test_nothing_is_said_of_savings_without_declared_bytes_or_a_measured_bandwidth() -> None:
    both = pair(facts_builder.facts(gpu_busy_us=[90.0]), facts_builder.facts(gpu_busy_us=[50.0]))
    same = Work(flops=1.0, bytes=300e6)

    assert savings.table([both], {}, CEILINGS, slug="mlp", title="compile") is None
    assert savings.table([both], {"eager": same, "compile": same}, CEILINGS, slug="mlp", title="compile") is None
    works = {"eager": same, "compile": Work(flops=1.0, bytes=1e6)}
    found = savings.table([both], works, UNKNOWN, slug="mlp", title="compile")
    assert found is not None
    assert "Should save" not in [column.title for column in found.columns]
    withheld = pair(both[1], facts_builder.facts(withheld={"gpu_busy_us": "it is incomplete"}))
    found = savings.table([withheld], works, CEILINGS, slug="mlp", title="compile")
    assert found is not None
    assert "Did save" not in [column.title for column in found.columns]


def test_each_generated_kernel_says_what_it_holds_and_what_stands_at_its_end() -> None:
    theirs = ran(
        {},
        generated(ADD_NORM),
        piece("", name=GEMM.format(tile="128x128")),
        generated(GELU),
        kernels=[kernel(ADD_NORM, family="reduction")],
        steps=(3, 3, 3),
    )
    found = fusion.table([pair(facts_builder.facts(steps=(4, 4, 4)), theirs)], slug="chain", title="compile")

    assert texts(found, "Kernels a step") == ["4 → 3"]
    (holds,), (cuts,) = texts(found, "What the kernels hold"), texts(found, "Where fusion ends")
    assert holds == "looped reduction of add, native_layer_norm; gemm (cublaslt); pointwise of gelu"
    assert cuts == (
        "between a looped reduction and a library's gemm kernel; between a library's gemm kernel and a pointwise"
    )


def test_one_generated_kernel_is_cut_nowhere_and_without_an_order_nothing_is_said() -> None:
    rows = [kernel(ADD_NORM, family="reduction")]
    whole, unordered = ran({}, generated(ADD_NORM), kernels=rows), facts_builder.facts(kernels=rows)
    ours = facts_builder.facts()

    assert texts(fusion.table([pair(ours, whole)], slug="c", title="t"), "Where fusion ends") == ["nowhere: one kernel"]
    assert texts(fusion.table([pair(ours, unordered)], slug="c", title="t"), "Where fusion ends") == ["n/a"]
    assert fusion.table([pair(ours, facts_builder.facts(kernels=[kernel(GEMM)]))], slug="c", title="t") is None


def test_the_two_roofs_have_a_picture_each() -> None:
    works = {
        "product": Work(flops=4e12, bytes=1e6),
        "sum": Work(flops=1e6, bytes=4e9),
        "tf32": Work(flops=1e12, bytes=1.0, dtype="tf32"),
    }
    known = {name: facts_builder.facts(tflops=500.0, gbps=3000.0) for name in ("product", "sum", "tf32", "undeclared")}
    arithmetic, traffic = rates.pictures(known, works, CEILINGS, slug="s", title="S")

    assert [(row[0], row[2]) for row in arithmetic.drawing.rows] == [("product", 800.0), ("tf32", None)]  # type: ignore[union-attr]
    assert [(row[0], row[2]) for row in traffic.drawing.rows] == [("sum", 4000.0)]  # type: ignore[union-attr]
    assert (
        rates.pictures(
            {"product": facts_builder.facts(withheld={"tflops": "no"})}, works, CEILINGS, slug="s", title="S"
        )
        == ()
    )


def test_an_operator_is_shown_per_step_with_what_it_launches() -> None:
    facts = msgspec.structs.replace(
        facts_builder.facts(
            kernels=[kernel()],
            calls=[
                call("aten::addmm", total_us=60.0, self_us=30.0, kernels=3, gpu_us=24.0),
                call("aten::t", total_us=6.0, self_us=6.0),
                call("cudaLaunchKernel", kind="runtime", kernels=3),
            ],
        ),
        chain=tuple(
            Link(depth=0, kind="op", name=name, start_us=place, dur_us=1, launched=())
            for place, name in enumerate(("aten::t", "aten::addmm"))
        ),
    )
    found = cpu.operators(facts, "eager", most=9)

    assert texts(found, "Name") == ["aten::t", "aten::addmm"]
    assert texts(found, "CPU time a step") == ["2.00 µs", "20.0 µs"]
    assert texts(found, "Kernels a step") == ["0", "1"]
    assert texts(found, "GPU time a step") == ["none", "8.00 µs"]
    assert cpu.operators(facts_builder.facts(calls=facts.calls), "cpu only", most=9) is None


def test_the_opaque_operator_stands_beside_its_share() -> None:
    facts = facts_builder.facts(profiled_step_us=90.0, opaque_share=0.4, calls=[call("aten::cudnn", self_us=99.0)])
    found = cpu.table({"cudnn": facts}, slug="attention", title="Attention")

    assert texts(found, "Opaque CPU share") == ["40.0 %"]
    assert texts(found, "Opaque operator") == ["aten::cudnn"]
    assert cpu.table({"none": facts_builder.facts()}, slug="attention", title="Attention") is None


def test_prose_can_ask_for_a_part_a_share_a_resource_and_an_operator() -> None:
    gate = piece("gate", duration=exact(57.0), tflops=exact(679.0), flops=38.7e9, name=GEMM.format(tile="256x128"))
    facts = ran(
        {"mode": "eager"},
        gate,
        kernels=[kernel(share=0.75, registers=168, occupancy=0.125), kernel("add", family="pointwise", share=0.25)],
        calls=[call("aten::addmm", per_step=(3, 3, 3), self_us=30.0), call("aten::t", per_step=(3, 3, 2))],
    )
    study = studies.study()
    found = msgspec.structs.replace(study.investigations["matmul_add"], facts={"eager": facts})
    holes = Holes(found=found, statements=(), gpu="Test GPU")

    assert holes.part("duration", "gate", "eager") == "57.0 µs"
    assert holes.part("tflops", "gate", "eager") == "679 TFLOP/s"
    assert holes.part("flops", "gate", "eager") == "38.7 GFLOP"
    assert holes.part("name", "gate", "eager") == GEMM.format(tile="256x128")
    assert holes.part("duration", "down", "eager") is None
    assert holes.share("gemm", "eager") == "75.0 %"
    assert holes.geometry("registers", "gemm", "eager") == "168"
    assert holes.geometry("occupancy", "gemm", "eager") == "12.5 %"
    assert holes.opaque("eager") == "aten::addmm"
    assert (holes.calls("aten::addmm", "eager"), holes.calls("aten::t", "eager")) == ("3", "3/3/2")
    with pytest.raises(WrongUsage, match="no such measure of a part"):
        holes.part("speed", "gate", "eager")
    with pytest.raises(WrongUsage, match="no such resource"):
        holes.geometry("warps", "gemm", "eager")


def swept(*rows: Kernel) -> tuple[sweep.Line, ...]:
    sizes = {f"s{place}": facts_builder.facts({"rows": 2**place}, kernels=[row]) for place, row in enumerate(rows)}
    return sweep.lines(sizes)


def test_a_sweep_says_which_kernel_ran_where() -> None:
    small, large = (kernel(GEMM.format(tile=tile), label=tile, fields={"tile": tile}) for tile in ("64x8", "256x128"))
    lines = swept(small, small, large)
    (drawn,) = sweep.choices(lines, slug="s")

    assert texts(sweep.chosen(lines, slug="s", title="S"), "Tile") == ["64x8", "64x8", "256x128"]
    assert drawn.drawing.rows == (
        ("nvjet bf16 64x8 bz NNT", "gemm", (1.0, 2.0)),
        ("nvjet bf16 256x128 bz NNT", "gemm", (4.0,)),
    )  # type: ignore[union-attr]


def test_each_declared_part_of_a_step_has_its_own_choices() -> None:
    tiles = {"scores": ("128x128", "256x128", "256x128"), "output": ("64x512",) * 3}
    found = {}
    for place in range(3):
        names = {part: GEMM.format(tile=each[place]) for part, each in tiles.items()}
        rows = [kernel(name, label=name.split("_")[3]) for name in names.values()]
        parts = [piece(part, name=name, duration=exact(7.0 + place)) for part, name in names.items()]
        found[f"s{place}"] = ran({"seq": 2**place}, *parts, kernels=rows)
    lines = sweep.lines(found)
    (drawn,) = sweep.choices(lines, slug="s")

    assert texts(sweep.chosen(lines, slug="s", title="S"), "Part") == ["scores", "output"] * 3
    assert drawn.title == "over seq: scores"
    assert [row[0] for row in drawn.drawing.rows] == ["nvjet bf16 128x128 bz NNT", "nvjet bf16 256x128 bz NNT"]  # type: ignore[union-attr]


def test_the_longest_kernel_is_the_first_even_where_its_name_runs_with_another_grid_too() -> None:
    rows = [kernel("A", total_us=100.0), kernel("B", total_us=50.0), kernel("A", total_us=10.0, grid=(2, 1, 1))]
    found = {f"s{n}": facts_builder.facts({"rows": 2**n}, kernels=rows) for n in range(3)}

    assert texts(sweep.chosen(sweep.lines(found), slug="s", title="S"), "Kernel") == ["A"] * 3


def test_kernels_that_look_alike_alone_are_told_apart_along_a_sweep() -> None:
    names = [f"nvjet_sm90_tst_64x8_64x16_{cluster}_h_bz_NNT" for cluster in ("1x4", "2x4", "1x2")]
    (drawn,) = sweep.choices(swept(*(kernel(name, label="nvjet bf16 64x8 bz NNT") for name in names)), slug="s")

    assert len({label for label, *_ in drawn.drawing.rows}) == 3  # type: ignore[union-attr]


def test_one_kernel_at_all_sizes_needs_no_picture_and_a_sweep_without_one_no_table() -> None:
    same = kernel(GEMM.format(tile="64x8"))
    other = kernel("triton_poi_fused_add_0", family="pointwise")

    assert sweep.choices(swept(same, same, same), slug="s") == ()
    assert sweep.chosen(swept(other, other, other), slug="s", title="S") is None


def test_bytes_that_do_not_make_the_time_are_held_against_nothing() -> None:
    both = pair(facts_builder.facts(gpu_busy_us=[90.0]), facts_builder.facts(gpu_busy_us=[50.0]))
    tiny = {"eager": Work(flops=1.0, bytes=3e6), "compile": Work(flops=1.0, bytes=1e6)}
    computing = {"eager": Work(flops=1e12, bytes=300e6), "compile": Work(flops=1e12, bytes=100e6)}

    for works in (tiny, computing):
        assert savings.table([both], works, CEILINGS, slug="mlp", title="compile") is None


def test_where_a_library_follows_a_library_no_fusion_ends() -> None:
    product = piece("", name=GEMM.format(tile="128x128"))
    theirs = ran({}, product, product, generated(GELU), kernels=[kernel(GELU, family="pointwise")])
    found = fusion.table([pair(facts_builder.facts(), theirs)], slug="chain", title="compile")

    assert texts(found, "Where fusion ends") == ["between a library's gemm kernel and a pointwise"]


def test_a_sentence_about_many_pairs_names_a_few() -> None:
    pairs = [
        (
            f"eager-{n}",
            facts_builder.facts({"n": n}, step_us=10.0),
            f"compile-{n}",
            facts_builder.facts({"n": n}, step_us=5.0),
        )
        for n in range(7)
    ]
    said = questions.answers(pairs, reach=())[3].said[0]

    assert said.endswith("0.500× (compile-3) and 3 more.")
    assert said.startswith("Step time lower on 7 of 7 pairs: 0.500× (compile-0), ")


def test_a_pair_without_a_row_is_counted_below_the_table() -> None:
    ours, theirs = facts_builder.facts(gpu_busy_us=[90.0]), facts_builder.facts(gpu_busy_us=[50.0])
    pairs = [pair(ours, theirs), ("small", ours, "small-compile", theirs)]
    works = {
        "eager": Work(flops=1.0, bytes=300e6),
        "compile": Work(flops=1.0, bytes=100e6),
        "small": Work(flops=1.0, bytes=300.0),
        "small-compile": Work(flops=1.0, bytes=100.0),
    }
    found = savings.table(pairs, works, CEILINGS, slug="mlp", title="compile")

    assert found is not None
    assert len(found.rows) == 1
    assert found.left_out.startswith("1 of 2 pairs have no row")
