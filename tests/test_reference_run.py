"""The recorded reference run: its traces are read as they were counted by hand, and every statement has its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretrace import kineto, record, study
from foretrace.analysis import inspection
from foretrace.facts import Facts
from foretrace.project import Project
from foretrace.site import write
from foretrace.study import Investigation

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "runs" / "reference"
TRACES = FOLDER / "matmul_add"

# Counted with grep in the unpacked traces: steps; kernels, memcpys and memsets a step; nothing ran outside the steps.
COUNTED = {
    "64-2d-cold-eager": (3, (2, 0, 0)),
    "64-2d-warm-eager": (3, (2, 0, 0)),
    "64-2d-warm-compile": (3, (1, 1, 0)),
    "64-2d-warm-reduce_overhead": (3, (3, 0, 0)),
    "64-2d-warm-max_autotune_no_cudagraphs": (3, (1, 0, 0)),
    "64-2d-first_20-eager": (20, (2, 0, 0)),
    "64-3d-warm-eager": (3, (2, 0, 0)),
    "2048-2d-warm-eager": (3, (2, 0, 0)),
    "4096-2d-warm-eager": (3, (2, 0, 1)),
    "4096-2d-warm-compile": (3, (1, 1, 1)),
    "4096-2d-warm-reduce_overhead": (3, (5, 0, 1)),
    "4096-2d-20_steps-eager": (20, (2, 0, 1)),
}


@pytest.fixture(scope="module")
def found() -> Investigation:
    return study.read(record.load(FOLDER)).investigations["matmul_add"]


@pytest.mark.parametrize("variant", COUNTED)
def test_inspect_counts_what_was_counted_by_hand(variant: str) -> None:
    steps, launched = COUNTED[variant]
    seen = inspection.inspect(kineto.read(TRACES / f"{variant}.1.trace.json.gz"))
    assert seen.steps == steps
    assert [(each.kernel, each.memcpy, each.memset) for each in seen.per_step] == [launched] * steps
    assert (seen.activities.kernel, seen.linked_kernels) == (steps * launched[0],) * 2
    assert (seen.outside_steps.kernel, seen.outside_steps.memcpy, seen.outside_steps.memset) == (0, 0, 0)
    assert seen.gpu_busy_us > 0
    assert [device.name for device in seen.devices if device.index == 0] == ["NVIDIA H200"]


def test_every_published_claim_of_part_1_has_a_verdict_with_evidence(found: Investigation) -> None:
    claims = {judged.claim.id: judged.verdict for judged in found.claims if judged.claim}
    assert list(claims) == [f"P1-{number:02}" for number in range(1, 18)]
    for verdict in claims.values():
        assert all(finding.about and finding.measured for finding in verdict.findings)


def test_every_variant_was_measured_in_every_round_and_every_kernel_has_a_family(found: Investigation) -> None:
    for name, facts in found.facts.items():
        assert isinstance(facts, Facts), name
        assert facts.withheld == {}, name
        assert {len(rounds) for key, rounds in facts.samples.items() if key == "step_us"} == {12}
        assert "other" not in {kernel.family for kernel in facts.kernels}


def test_what_is_declared_today_is_what_was_sealed(found: Investigation) -> None:
    today = Project(ROOT).load("matmul_add")
    assert today.seal == found.sealed.seal


def test_no_mismatch_is_left_unexplained_and_pages_are_the_same_bytes_twice(tmp_path: Path) -> None:
    known = study.read(record.load(FOLDER))
    for name in ("one", "two"):
        root = tmp_path / name
        (root / "docs").mkdir(parents=True)
        (root / "scenarios").symlink_to(ROOT / "scenarios")
        write(Project(root), known)
    one, two = (
        {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
        for root in (tmp_path / "one" / "docs", tmp_path / "two" / "docs")
    )
    assert one == two
    assert len(one) > 3 * len(COUNTED)
    assert not [path for path, data in one.items() if path.suffix == ".md" and b"ft-unexplained" in data]


def test_the_record_names_no_user_no_host_and_no_folder() -> None:
    for path in FOLDER.rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in ("/home/", "/root/", "/tmp/", "/Users/") if word in text], path.name  # noqa: S108
