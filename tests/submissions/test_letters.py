"""Word of a score: posted with it, to the team, with what the page of the submission shows it, and nothing more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from malpan.competitions import programs
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.notifications.events import happening_of
from malpan.notifications.models import Letter
from malpan.notifications.sending import deliver_due
from malpan.submissions import letters
from malpan.submissions.evaluation import runs
from malpan.submissions.models import ScoringRun
from tests.factories import ScoringRunFactory, TeamFactory, UserFactory, leader_of, report
from tests.submissions.conftest import claim_run, fail_run, send

pytestmark = pytest.mark.django_db
SCORE = "12.3456700"


@pytest.fixture
def other(run: ScoringRun, phase: Phase) -> ScoringRun:
    """A run of another team, before that of ``run``."""
    return send(phase, TeamFactory.create(competition=phase.track.competition)).runs.get()


def scored(run: ScoringRun, value: float = 0.1234567) -> None:
    claimed = claim_run(run, "worker")
    assert runs.finish_run(run_id=run.pk, attempt=claimed.attempt, report=report(value))


def test_the_team_hears_of_its_score_once(run: ScoringRun) -> None:
    run.submission.team.memberships.create(user=UserFactory.create(), competition=run.submission.team.competition)
    scored(run)
    assert {letter.event for letter in Letter.objects.all()} == {"scored"}
    deliver_due()
    deliver_due()

    people = {each.user.email for each in run.submission.team.memberships.all()}
    assert sorted(message.to[0] for message in mail.outbox) == sorted(people)
    assert len(people) == 2
    for message in mail.outbox:
        assert SCORE in message.body
        assert str(run.submission.public_id) in message.body
        assert run.submission.phase.track.competition.title_ko in message.subject


def test_the_organisers_programs_hear_the_score_but_of_no_person_and_no_file(run: ScoringRun) -> None:
    """Also while the board and the team's own score are hidden: organisers see them."""
    submission = run.submission
    competition, team = submission.phase.track.competition, submission.team
    organiser = UserFactory.create()
    programs.create_endpoint(competition=competition, url="https://a.example/", events=["scored"], actor=organiser)
    Phase.objects.update(board="hidden", shows_own_score=False)
    scored(run)
    [letter] = Letter.objects.filter(person=None)
    said = happening_of("scored").compose(letter.facts)
    assert said is not None
    assert said.context == {
        "competition": competition.slug, "track": submission.phase.track.slug, "phase": submission.phase.slug,
        "submission": submission.public_id, "team": team.name, "team_number": team.number, "final_score": 0.1234567,
        "is_demo": said.context["is_demo"],
    }  # fmt: skip
    assert said.path == f"/competitions/{competition.slug}/manage/submissions/{submission.public_id}/"
    type(submission).objects.update(withdrawn_at=timezone.now())
    assert happening_of("scored").compose(letter.facts) is None


def test_a_late_result_posts_nothing(run: ScoringRun) -> None:
    claimed = claim_run(run, "slow")
    fail_run(run, attempt=1)
    claim_run(run, "quick")
    assert not runs.finish_run(run_id=run.pk, attempt=claimed.attempt, report=report(0.5))
    assert not Letter.objects.exists()


@pytest.mark.parametrize(
    ("board", "is_told"),
    [
        ({"board": Phase.Board.LIVE}, True),
        ({"board": Phase.Board.HIDDEN, "shows_own_score": True}, True),
        ({"board": Phase.Board.HIDDEN, "shows_own_score": False}, False),
        ({"board": Phase.Board.FROZEN, "shows_own_score": False}, False),
    ],
)
@pytest.mark.parametrize("is_before", [True, False])
def test_a_mail_says_no_more_than_the_page(
    run: ScoringRun, board: dict[str, Any], is_told: bool, is_before: bool
) -> None:
    """Also where the board is frozen or hidden between the event and the mail."""
    frozen = {"frozen_at": timezone.now() - timedelta(days=365)} if board["board"] == "frozen" else {}
    steps = [lambda: Phase.objects.update(**board, **frozen), lambda: scored(run)]
    for step in steps if is_before else reversed(steps):
        step()
    deliver_due()

    [message] = mail.outbox
    [(html, _kind)] = message.alternatives  # type: ignore[attr-defined]
    assert (SCORE in message.body) == (SCORE in html) == is_told
    assert ("지금은 공개하지 않습니다" in message.body) == (not is_told)
    if not is_told:
        assert "12.3" not in message.body + html + message.subject


def test_who_left_the_team_or_withdrew_the_submission_is_told_nothing(run: ScoringRun) -> None:
    scored(run)
    run.submission.team.memberships.all().delete()
    deliver_due()
    assert mail.outbox == []

    assert Letter.objects.get().state == Letter.State.DROPPED


def test_word_goes_to_who_is_of_the_very_team_when_it_is_sent(run: ScoringRun, other: ScoringRun) -> None:
    team = run.submission.team
    leader, leaver, newcomer = team.memberships.get().user, UserFactory.create(), UserFactory.create()
    team.memberships.create(user=leaver, competition=team.competition)
    scored(other, 0.9)
    scored(run)
    team.memberships.filter(user=leaver).delete()
    other.submission.team.memberships.create(user=leaver, competition=team.competition)
    team.memberships.create(user=newcomer, competition=team.competition)
    deliver_due()

    told = {message.to[0]: message.body for message in mail.outbox}
    assert told.keys() == {leader.email, other.submission.team.memberships.exclude(user=leaver).get().user.email}
    assert SCORE in told[leader.email]
    assert team.name in told[leader.email]


def test_a_score_that_another_took_the_place_of_is_not_told_any_more(run: ScoringRun) -> None:
    scored(run)
    newer = ScoringRunFactory.create(
        submission=run.submission, state="finished", final_score=0.9, scores={"final_score": 0.9},
        signature_hash="s", finished_at=timezone.now(),
    )  # fmt: skip
    type(run.submission).objects.update(live_run=newer)
    deliver_due()
    assert mail.outbox == []
    assert Letter.objects.get().state == Letter.State.DROPPED


def test_a_withdrawn_submission_is_not_spoken_of(run: ScoringRun) -> None:
    scored(run)
    type(run.submission).objects.update(withdrawn_at=timezone.now())
    deliver_due()
    assert mail.outbox == []


def test_a_failure_of_ours_is_told_with_the_refund(run: ScoringRun) -> None:
    for attempt in (1, 2, 3):
        claim_run(run, "worker")
        fail_run(run, attempt=attempt)
    assert [letter.event for letter in Letter.objects.all()] == ["run_refunded"]
    deliver_due()

    told = [message for message in mail.outbox if message.to == [run.submission.team.memberships.get().user.email]]
    assert len(told) == 1
    assert "제출 횟수에 들지 않습니다" in told[0].body
    assert "The fault is ours" in told[0].body


def test_a_refund_that_was_taken_back_is_not_told_any_more(run: ScoringRun) -> None:
    for attempt in (1, 2, 3):
        claim_run(run, "worker")
        fail_run(run, attempt=attempt)
    type(run.submission).objects.update(refunded_at=None)
    deliver_due()
    assert [message.to for message in mail.outbox if message.to[0] == leader_of(run.submission.team).email] == []
    assert Letter.objects.get().state == Letter.State.DROPPED


@pytest.mark.parametrize(("is_split", "is_told"), [(True, True), (False, False)])
def test_a_score_of_the_public_part_is_called_that(run: ScoringRun, is_split: bool, is_told: bool) -> None:
    if is_split:
        ReferenceVersion.objects.update(public_ids=["item-1"])
    scored(run)
    deliver_due()
    [message] = mail.outbox
    assert ("(공개 부분)" in message.body) == is_told


def test_the_samples_look_like_a_letter_of_a_real_score() -> None:
    sample = letters._scored_sample()
    assert sample.context["score"] == "71.2345678"
    assert (sample.context["is_demo"], sample.context["is_public_part"]) == (False, True)
    assert letters._refunded_sample().context["file_name"] == "answers.json"
