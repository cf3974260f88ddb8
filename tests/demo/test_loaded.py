"""What the demo brings, through the real way in: four competitions as somebody would have set them up.

It is loaded once for all these tests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import TestCase
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, DataFile, Phase, ReferenceVersion, Track
from malpan.competitions.selectors import published_competitions
from malpan.competitions.targets import targets_of
from malpan.core.storage import read_private
from malpan.core.times import KST, kst_day
from malpan.demo.loading import LoadCount, load_demo
from malpan.demo.management.commands import load_demo as load_demo_command
from malpan.demo.specs import COMPETITIONS
from malpan.jobs.models import Job
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.teams.models import Team
from scoring.recipes.targets import AI_HUB_TARGETS
from tests.submissions.conftest import collect_rings

pytestmark = pytest.mark.django_db
EXPECTED = LoadCount(competitions=4, submissions=54, rejections=3)


@dataclass(frozen=True)
class Load:
    """What a load said and did."""

    counts: list[LoadCount]
    rings: list[str]
    output: str


@pytest.fixture(scope="module", autouse=True)
def loaded(kept: None) -> Load:
    with pytest.MonkeyPatch.context() as patched:
        return load(patched)


def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load the demo by the command; no worker is there."""
    rings, counts, output = collect_rings(monkeypatch), [], StringIO()

    def counted() -> LoadCount:
        counts.append(load_demo())
        return counts[-1]

    monkeypatch.setattr(load_demo_command, "load_demo", counted)
    with TestCase.captureOnCommitCallbacks(execute=True):
        call_command("load_demo", stdout=output)
    return Load(counts, rings, output.getvalue())


def test_load_brings_everything_and_queues_every_submission_once(loaded: Load) -> None:
    assert loaded.counts == [EXPECTED]
    assert Submission.objects.count() == ScoringRun.objects.count() == EXPECTED.submissions
    assert len(loaded.rings) == Job.objects.count() == EXPECTED.submissions
    assert set(ScoringRun.objects.values_list("state", flat=True)) == {ScoringRun.State.QUEUED}, "nothing is inline"


def test_a_second_load_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _row_counts()
    second = load(monkeypatch)
    assert (second.counts, second.rings) == ([LoadCount()], [])
    assert _row_counts() == before


def test_the_command_says_what_it_did(loaded: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "제출 54개" in loaded.output
    assert "이미" in load(monkeypatch).output


def test_three_demos_run_and_one_is_past_with_the_limits_that_were_meant() -> None:
    now = timezone.now()
    shown = published_competitions(now)
    assert {row.slug for row in shown.running} == {"demo", "demo-captions", "demo-essays"}
    assert [row.slug for row in shown.past] == ["demo-past"]
    for phase in Phase.objects.exclude(track__competition__slug="demo-past").select_related("track__competition"):
        is_essays = phase.track.competition.slug == "demo-essays"
        assert phase.is_open(now)
        assert phase.starts_at.astimezone(KST).strftime("%H:%M") == "00:00"
        assert (kst_day(now) - kst_day(phase.starts_at)).days == (14 if is_essays else 7)
        assert phase.ends_at.astimezone(KST).strftime("%H:%M") == "23:59"
        limits = (phase.daily_limit, phase.total_limit, phase.min_interval)
        assert limits == ((None, 4, timedelta(hours=72)) if is_essays else (5, None, timedelta(0)))


def test_every_submission_came_within_its_phase_and_not_in_the_future() -> None:
    now = timezone.now()
    for row in Submission.objects.select_related("phase"):
        assert row.phase.starts_at <= row.created_at < min(row.phase.ends_at, now)


def test_nobody_can_log_in_as_a_demo_person() -> None:
    people = User.objects.all()
    assert people.count() > sum(len(spec.teams) for spec in COMPETITIONS[1:])
    assert all(person.email.endswith("@example.com") for person in people)
    assert not any(person.has_usable_password() or person.is_staff for person in people)


@pytest.mark.parametrize(
    ("slug", "codes"),
    [
        ("demo", {"duplicate_id", "missing_id"}),
        ("demo-captions", {"duplicate_id", "unknown_id"}),
        ("demo-essays", {"duplicate_id", "missing_essay"}),
    ],
)
def test_the_rejected_file_is_recorded_with_its_errors_and_the_good_one_is_charged(slug, codes) -> None:
    rejection = Rejection.objects.get(phase__track__competition__slug=slug)
    assert {row["code"] for row in rejection.errors} >= codes
    assert all(row["id"] for row in rejection.errors)
    assert Submission.objects.get(team=rejection.team, phase=rejection.phase).created_at > rejection.created_at


def test_normalised_items_are_counted_for_the_macos_teams_alone() -> None:
    with_changes = Submission.objects.filter(normalized_count__gt=0)
    assert {row.team.name for row in with_changes} == {"자음과 모음 사이", "풀어쓴 풍경"}


def test_no_file_for_download_holds_an_answer_of_the_references() -> None:
    for file in DataFile.objects.select_related("track"):
        text = read_private(file.file_sha256).decode()
        version = ReferenceVersion.objects.get(phase__track=file.track, is_current=True)
        answers = _reference_texts(read_private(version.file_sha256).decode())
        assert not [answer for answer in answers if len(answer) > 1 and answer in text], file.file_name


def test_the_captioning_track_is_shown_from_0_to_1_with_four_decimals() -> None:
    track = Track.objects.get(competition__slug="demo-captions")
    assert (track.recipe, track.score_scale, track.score_decimals) == ("captioning@1", 1, 4)
    assert [file.kind for file in track.data_files.order_by("position")] == ["data", "sample", "document"]


def test_the_captioning_track_alone_is_measured_against_the_published_figures() -> None:
    targets = {track.recipe: targets_of(track) for track in Track.objects.all()}
    assert targets.pop("captioning@1") == list(AI_HUB_TARGETS)
    assert not any(targets.values())


def _reference_texts(file: str) -> list[str]:
    """Every answer of a reference file: of questions, captions by scene, or essays with their scores."""
    if file.startswith('{"id"'):
        rows = map(json.loads, file.splitlines())
        return [json.dumps({key: row[key] for key in ("essay", "score")}, ensure_ascii=False)[1:] for row in rows]
    references: list[dict[str, Any]] | dict[str, list[str]] = json.loads(file)
    if isinstance(references, dict):
        return [caption for captions in references.values() for caption in captions]
    return [row["output"]["answer"] for row in references]


def _row_counts() -> dict[str, int]:
    models = (Competition, Phase, ReferenceVersion, DataFile, Team, User, Submission, Rejection, ScoringRun)
    return {model.__name__: model.objects.count() for model in models}
