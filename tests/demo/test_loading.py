"""Loading the demo: through the real way in, complete, only once, and finished by the next load if cut off."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, DataFile, Phase, ReferenceVersion, Track
from malpan.competitions.selectors import published_competitions
from malpan.competitions.targets import targets_of
from malpan.core.storage import read_private
from malpan.core.times import KST, kst_day
from malpan.demo import loading
from malpan.demo.loading import LoadCount, load_demo
from malpan.demo.specs import COMPETITIONS
from malpan.jobs.models import Job
from malpan.submissions import intake
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.teams.models import Team
from scoring.recipes.targets import AI_HUB_TARGETS
from tests.submissions.conftest import collect_rings

pytestmark = pytest.mark.django_db
EXPECTED = LoadCount(competitions=3, submissions=40, rejections=2)


@pytest.fixture
def rings(monkeypatch) -> list[str]:
    """A task for each ring of the doorbell; no worker is there."""
    return collect_rings(monkeypatch)


def load(capture) -> LoadCount:
    with capture(execute=True):
        return load_demo()


def test_load_brings_everything_and_queues_every_submission_once(rings, django_capture_on_commit_callbacks) -> None:
    assert load(django_capture_on_commit_callbacks) == EXPECTED
    assert Submission.objects.count() == ScoringRun.objects.count() == EXPECTED.submissions
    assert len(rings) == Job.objects.count() == EXPECTED.submissions
    assert set(ScoringRun.objects.values_list("state", flat=True)) == {ScoringRun.State.QUEUED}, "nothing is inline"


def test_a_second_load_changes_nothing(rings, django_capture_on_commit_callbacks) -> None:
    load(django_capture_on_commit_callbacks)
    before = _row_counts()
    assert load(django_capture_on_commit_callbacks) == LoadCount()
    assert _row_counts() == before
    assert len(rings) == EXPECTED.submissions


def test_a_load_that_was_cut_off_is_finished_by_the_next(
    rings, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    real, calls = intake.submit, []

    def submit_nine(**arguments):
        calls.append(arguments)
        if len(calls) > 9:
            raise KeyboardInterrupt
        return real(**arguments)

    monkeypatch.setattr(loading, "submit", submit_nine)
    with pytest.raises(KeyboardInterrupt):
        load(django_capture_on_commit_callbacks)
    assert 0 < Submission.objects.count() < EXPECTED.submissions
    monkeypatch.setattr(loading, "submit", real)
    load(django_capture_on_commit_callbacks)
    assert Submission.objects.count() == EXPECTED.submissions
    assert Rejection.objects.count() == EXPECTED.rejections
    assert Submission.objects.values("phase", "team", "file_sha256").distinct().count() == EXPECTED.submissions


@pytest.mark.django_db(transaction=True)
def test_two_loads_at_once_bring_the_demo_once(rings) -> None:
    def in_a_thread() -> LoadCount:
        try:
            return load_demo()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        counts = [future.result() for future in [pool.submit(in_a_thread) for _ in range(2)]]
    assert sorted(count.submissions for count in counts) == [0, EXPECTED.submissions]
    assert Submission.objects.count() == len(rings) == EXPECTED.submissions


def test_a_set_up_that_fails_leaves_no_half_competition(rings, monkeypatch) -> None:
    def fail(**_arguments):
        raise OSError("disk")

    monkeypatch.setattr("malpan.demo.assembly.add_data_file", fail)
    with pytest.raises(OSError, match="disk"):
        load_demo()
    assert not Competition.objects.exists()
    assert not Team.objects.exists()


def test_a_competition_of_somebody_else_at_the_demo_address_is_left_alone(rings) -> None:
    Competition.objects.create(slug="demo", title_ko="남의 대회")
    with pytest.raises(CommandError, match="'demo'"):
        call_command("load_demo")
    assert not Phase.objects.filter(track__competition__slug="demo").exists()


def test_the_command_says_what_it_did(rings) -> None:
    first, second = StringIO(), StringIO()
    call_command("load_demo", stdout=first)
    call_command("load_demo", stdout=second)
    assert "제출 40개" in first.getvalue()
    assert "이미" in second.getvalue()


def _row_counts() -> dict[str, int]:
    models = (Competition, Phase, ReferenceVersion, DataFile, Team, User, Submission, Rejection, ScoringRun)
    return {model.__name__: model.objects.count() for model in models}


def test_two_demos_run_and_one_is_past_with_the_limits_that_were_meant(rings) -> None:
    load_demo()
    now = timezone.now()
    shown = published_competitions(now)
    assert [row.slug for row in shown.running] == ["demo", "demo-captions"]
    assert [row.slug for row in shown.past] == ["demo-past"]
    for phase in Phase.objects.filter(track__competition__slug__in=["demo", "demo-captions"]):
        assert phase.is_open(now)
        assert (phase.starts_at.astimezone(KST).hour, phase.starts_at.astimezone(KST).minute) == (0, 0)
        assert (kst_day(now) - kst_day(phase.starts_at)).days == 7
        assert phase.ends_at.astimezone(KST).strftime("%H:%M") == "23:59"
        assert (phase.daily_limit, phase.total_limit, phase.min_interval.total_seconds()) == (5, None, 0)


def test_every_submission_came_within_its_phase_and_not_in_the_future(rings) -> None:
    load_demo()
    now = timezone.now()
    for row in Submission.objects.select_related("phase"):
        assert row.phase.starts_at <= row.created_at < min(row.phase.ends_at, now)


def test_nobody_can_log_in_as_a_demo_person(rings) -> None:
    load_demo()
    people = User.objects.all()
    assert people.count() > sum(len(spec.teams) for spec in COMPETITIONS[1:])
    assert all(person.email.endswith("@example.com") for person in people)
    assert not any(person.has_usable_password() or person.is_staff for person in people)


@pytest.mark.parametrize(
    ("slug", "codes"),
    [("demo", {"duplicate_id", "missing_id"}), ("demo-captions", {"duplicate_id", "unknown_id"})],
)
def test_the_rejected_file_is_recorded_with_its_errors_and_the_good_one_is_charged(rings, slug, codes) -> None:
    load_demo()
    rejection = Rejection.objects.get(phase__track__competition__slug=slug)
    assert {row["code"] for row in rejection.errors} >= codes
    assert all(row["id"] for row in rejection.errors)
    assert Submission.objects.get(team=rejection.team, phase=rejection.phase).created_at > rejection.created_at


def test_normalised_items_are_counted_for_the_macos_teams_alone(rings) -> None:
    load_demo()
    with_changes = Submission.objects.filter(normalized_count__gt=0)
    assert {row.team.name for row in with_changes} == {"자음과 모음 사이", "풀어쓴 풍경"}


def test_no_file_for_download_holds_an_answer_of_the_references(rings) -> None:
    load_demo()
    for file in DataFile.objects.select_related("track"):
        text = read_private(file.file_sha256).decode()
        version = ReferenceVersion.objects.get(phase__track=file.track, is_current=True)
        answers = _reference_texts(json.loads(read_private(version.file_sha256)))
        assert not [answer for answer in answers if len(answer) > 1 and answer in text], file.file_name


def test_the_captioning_track_alone_is_measured_against_the_published_figures(rings) -> None:
    load_demo()
    targets = {track.recipe: targets_of(track) for track in Track.objects.all()}
    assert targets.pop("captioning@1") == list(AI_HUB_TARGETS)
    assert not any(targets.values())


def test_the_captioning_track_is_shown_from_0_to_1_with_four_decimals(rings) -> None:
    load_demo()
    track = Track.objects.get(competition__slug="demo-captions")
    assert (track.recipe, track.score_scale, track.score_decimals) == ("captioning@1", 1, 4)
    assert [file.kind for file in track.data_files.order_by("position")] == ["data", "sample", "document"]


def _reference_texts(references: list[dict[str, Any]] | dict[str, list[str]]) -> list[str]:
    """Every answer of a reference file: of questions, or captions by scene."""
    if isinstance(references, dict):
        return [caption for captions in references.values() for caption in captions]
    return [row["output"]["answer"] for row in references]
