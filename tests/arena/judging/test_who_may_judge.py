"""Who may judge, and when: agreed, practised, not removed, while the campaign takes judgements."""

from __future__ import annotations

from datetime import timedelta

import pytest

from malpan.arena.errors import (
    CalibrationMissing,
    CampaignNotOpen,
    CampaignTimeOver,
    ConsentMissing,
    JudgeIsOrganiser,
    JudgeNotFound,
    JudgeRemoved,
)
from malpan.arena.judges import consent_version_of, give_consent
from malpan.arena.judging import correct_judgement, judge_assignment, save_draft
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement
from malpan.arena.queue import (
    next_assignment,
)
from malpan.competitions.models import CompetitionRole
from tests.arena.panels import add_judge, correct, open_panel

pytestmark = pytest.mark.django_db
FIRST, SECOND, TIE = ({"choice": choice, "reasons": []} for choice in ("first", "second", "tie"))


def test_queue_of_another_person_does_not_exist(panel, ready):
    shown, stranger = panel.next(ready), panel.judges[1].user

    for call in (
        lambda: next_assignment(judge=ready, actor=stranger),
        lambda: save_draft(assignment=shown, actor=stranger, value={}),
        lambda: judge_assignment(assignment=shown, actor=stranger, value=FIRST),
        lambda: correct_judgement(assignment=shown, actor=stranger, value=FIRST, expected_number=1),
    ):
        with pytest.raises(JudgeNotFound):
            call()
    assert Judgement.objects.filter(assignment=shown).count() == 0


def test_judge_agrees_and_acknowledges_first(panel):
    late = add_judge(panel, 9, consent_version="", consented_at=None, rubric=None)
    row = panel.queue(panel.judges[0], state="open")[1]
    Assignment.objects.filter(pk=row.pk).update(judge=late, first_shown_at=panel.now)

    with pytest.raises(ConsentMissing):
        panel.next(late)
    with pytest.raises(ConsentMissing):
        panel.judge(Assignment.objects.get(pk=row.pk))

    give_consent(
        judge=late, actor=late.user, rubric=panel.campaign.rubric, consent_version=consent_version_of(panel.campaign)
    )
    assert panel.next(late).pk == row.pk


def test_another_notice_is_agreed_to_before_the_next_and_does_not_stop_what_is_open(panel, ready):
    shown = panel.next(ready)
    panel.campaign.notice_ko = "바뀐 안내"
    panel.campaign.save()

    panel.judge(shown)  # what was begun is taken
    with pytest.raises(ConsentMissing):
        panel.next(ready)


def test_removed_judge_and_one_who_runs_the_contest_now_judge_nothing(panel, ready):
    shown = panel.next(ready)
    role = CompetitionRole.objects.create(
        competition=panel.campaign.track.competition, user=ready.user, role=CompetitionRole.Role.VIEWER
    )
    with pytest.raises(JudgeIsOrganiser):
        panel.judge(shown)
    role.delete()

    CampaignJudge.objects.filter(pk=ready.pk).update(removed_at=panel.now)
    for call in (panel.next, lambda judge: panel.judge(shown)):
        with pytest.raises(JudgeRemoved):
            call(ready)


def test_campaign_that_is_not_open_takes_nothing(panel, ready):
    shown = panel.next(ready)
    panel.campaign.closed_at = panel.now
    panel.campaign.save()

    for call in (
        lambda: panel.next(ready),
        lambda: panel.judge(shown),
        lambda: save_draft(assignment=shown, actor=ready.user, value=FIRST),
    ):
        with pytest.raises(CampaignNotOpen):
            call()
    assert not Judgement.objects.filter(assignment=shown).exists()


def test_nothing_is_judged_from_the_planned_end_on_unless_it_is_put_off(panel, ready):
    """What was judged stays; the same request sent once more gets its judgement; the end itself is too late."""
    shown = panel.next(ready)
    made = panel.judge(shown, FIRST)
    second = panel.next(ready)
    end = panel.later(60)
    Campaign.objects.filter(pk=panel.campaign.pk).update(ends_at=end)

    assert panel.judge(shown, FIRST, now=end) == made
    for call in (
        lambda: panel.judge(second, FIRST, now=end),
        lambda: correct(panel, shown, SECOND, now=end),
        lambda: save_draft(assignment=second, actor=ready.user, value=FIRST, now=end),
        lambda: next_assignment(judge=ready, actor=ready.user, now=end),
    ):
        with pytest.raises(CampaignTimeOver):
            call()
    assert Judgement.objects.filter(assignment__in=[shown, second]).count() == 1
    assert panel.judge(second, FIRST, now=end - timedelta(seconds=1)).number == 1

    Campaign.objects.filter(pk=panel.campaign.pk).update(ends_at=end + timedelta(hours=1))
    assert correct(panel, shown, SECOND, now=end).number == 2


def test_practice_is_not_passed_over(panel, judge):
    real = panel.queue(judge, kind="real")[0]
    Assignment.objects.filter(pk=real.pk).update(first_shown_at=panel.now)

    with pytest.raises(CalibrationMissing) as refusal:
        panel.judge(real)
    assert refusal.value.params == {"left": 1}

    panel.judge_next(judge)
    panel.judge(real)
    judge.refresh_from_db()
    assert judge.calibrated_at is not None


def test_who_is_in_the_midst_of_the_practice_is_told_how_much_is_left():
    panel = open_panel(calibration_count=3)
    judge = panel.judges[0]
    panel.judge_next(judge)
    real = panel.queue(judge, kind="real")[0]
    Assignment.objects.filter(pk=real.pk).update(first_shown_at=panel.now)

    with pytest.raises(CalibrationMissing) as refusal:
        panel.judge(real)
    assert refusal.value.params == {"left": 2}
