"""The recorded reference run: its traces are read as they were counted by hand, and every statement has its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretrace import kineto, record, study
from foretrace.analysis import inspection
from foretrace.facts import Facts
from foretrace.project import Project
from foretrace.site import write
from foretrace.study import Investigation, Study

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


# The same for one forward of the series' programs: kernels, memcpys and memsets a step.
FORWARDS = {
    "linear/1024x32x64-bias-eager": (1, 0, 0),
    "geglu_mlp/64x128x768x3072-eager": (5, 0, 2),
    "geglu_mlp/64x128x768x3072-compile": (4, 0, 2),
    "geglu_mlp/64x128x768x3072-liger": (4, 0, 2),
    "attention/1024-naive-eager": (5, 1, 1),
    "attention/1024-inplace-eager": (5, 0, 1),
    "attention/1024-math-eager": (20, 0, 0),
    "attention/1024-efficient-eager": (1, 0, 0),
    "attention/1024-flash-eager": (1, 0, 0),
    "attention/1024-cudnn-eager": (1, 0, 1),
}
ROUNDS = 6


@pytest.fixture(scope="module")
def known() -> Study:
    return study.read(record.load(FOLDER))


@pytest.fixture(scope="module")
def found(known: Study) -> Investigation:
    return known.investigations["matmul_add"]


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


def test_every_forward_launches_what_was_counted_by_hand(known: Study) -> None:
    for place, launched in FORWARDS.items():
        slug, variant = place.split("/")
        facts = known.investigations[slug].facts[variant]
        assert isinstance(facts, Facts)
        counts = {(step.activities.kernel, step.activities.memcpy, step.activities.memset) for step in facts.steps}
        assert counts == {launched}, place


def test_every_scenario_of_the_project_is_recorded_as_it_is_declared_today(known: Study) -> None:
    project = Project(ROOT)
    assert {slug: project.load(slug).seal for slug in project.slugs()} == {
        slug: each.sealed.seal for slug, each in known.investigations.items()
    }


def test_every_variant_was_measured_in_every_round_and_every_kernel_has_a_family(known: Study) -> None:
    every = [(name, facts) for each in known.investigations.values() for name, facts in each.facts.items()]
    assert len(every) >= 80
    for name, facts in every:
        assert isinstance(facts, Facts), name
        assert len(facts.samples["step_us"]) == ROUNDS, name
        assert "other" not in {kernel.family for kernel in facts.kernels}, name


def test_what_is_withheld_says_which_check_failed(known: Study) -> None:
    for each in known.investigations.values():
        for facts in each.facts.values():
            assert isinstance(facts, Facts)
            failed = {check.found for check in facts.checks if not check.passed}
            assert set(facts.withheld.values()) <= failed


def test_the_record_is_small_enough_to_be_cloned() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 8 * 2**20


def test_no_mismatch_is_left_unexplained_and_pages_are_the_same_bytes_twice(known: Study, tmp_path: Path) -> None:
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
