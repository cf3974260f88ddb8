"""Who was removed may be invited again: what they judged stays, and they share what is open."""

from __future__ import annotations

from smtplib import SMTPException

import pytest
from django.core import mail

from malpan.arena.closing import close_campaign
from malpan.arena.errors import (
    CampaignNotOpen,
    CampaignTimeOver,
    InvitationMailFailed,
    JudgeInvitationForAnother,
    JudgeInvitationNotFound,
    JudgeNotFound,
    JudgeNotRemoved,
)
from malpan.arena.invitations import accept_invitation, invitation_of, reinvite_judge
from malpan.arena.judges import remove_judge
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement
from malpan.arena.panel import current_balance
from malpan.arena.votes_file import votes_of
from malpan.competitions.errors import ManageNotFound
from malpan.core.models import AuditEntry
from tests.arena.panels import Panel, open_panel, person
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def left() -> tuple[Panel, CampaignJudge]:
    """A judge who was removed after four judgements."""
    panel = open_panel(judges=4, item_count=24, calibration_count=1)
    judge = panel.judges[0]
    for _number in range(5):  # the first is practice
        panel.judge_next(judge)
    remove_judge(judge=judge, actor=panel.organiser, reason="연락이 끊겼습니다.", now=panel.later())
    judge.refresh_from_db()
    return panel, judge


def reinvite(panel: Panel, judge: CampaignJudge, **fields) -> str:
    """The token that was mailed."""
    given = {"actor": panel.organiser, "link_for": lambda token: f"/invitation/{token}/", "now": panel.later()} | fields
    reinvite_judge(judge=judge, **given)
    return mail.outbox[-1].body.split("/invitation/")[1].split("/")[0]


def test_who_comes_back_keeps_judgements_and_label_and_shares_what_is_open(left):
    panel, judge = left
    before, label = votes_of(panel.campaign), judge.design_label
    made = Judgement.objects.filter(assignment__judge=judge).count()

    token = reinvite(panel, judge)
    judge.refresh_from_db()
    assert not judge.is_active
    assert invitation_of(token, panel.now) == judge
    accept_invitation(token=token, user=judge.user, now=panel.later())

    judge.refresh_from_db()
    assert judge.is_active
    assert (judge.design_label, judge.returns, judge.removal_reason) == (label, 1, "")
    assert Judgement.objects.filter(assignment__judge=judge).count() == made == 5
    assert votes_of(panel.campaign).votes == before.votes
    real = Assignment.objects.filter(campaign=panel.campaign, kind="real").exclude(state="void")
    assert real.count() == 24 * 2 * 2
    loads = [real.filter(judge=each).count() for each in panel.judges]
    assert max(loads) - min(loads) <= 1
    balance = current_balance(panel.campaign)
    assert balance.pairs[1] - balance.pairs[0] <= 1
    assert not Assignment.objects.filter(judge=judge, kind="calibration", state="open").exists()
    while panel.judge_next(judge):
        pass
    assert Assignment.objects.filter(judge=judge, state="open").count() == 0
    actions = AuditEntry.objects.filter(object_id=str(judge.pk), action__startswith="campaign_judge.")
    assert list(actions.order_by("pk").values_list("action", flat=True)) == [
        "campaign_judge.remove", "campaign_judge.reinvite", "campaign_judge.accept",
    ]  # fmt: skip


def test_only_the_same_person_comes_back(left):
    panel, judge = left
    token = reinvite(panel, judge)

    with pytest.raises(JudgeInvitationForAnother):
        accept_invitation(token=token, user=person("other@example.com"), now=panel.later())


def test_only_who_was_removed_is_invited_again_by_who_manages_and_while_there_is_time(left):
    panel, judge = left
    with pytest.raises(JudgeNotRemoved):
        reinvite(panel, panel.judges[1])
    with pytest.raises(ManageNotFound):
        reinvite(panel, judge, actor=UserFactory.create())
    CampaignJudge.objects.filter(pk=judge.pk).update(email="")
    with pytest.raises(JudgeNotFound):
        reinvite(panel, judge)
    CampaignJudge.objects.filter(pk=judge.pk).update(email=judge.user.email)
    token = reinvite(panel, judge)
    Campaign.objects.filter(pk=panel.campaign.pk).update(ends_at=panel.now)
    with pytest.raises(CampaignTimeOver):
        accept_invitation(token=token, user=judge.user, now=panel.later())
    remove_judge(judge=judge, actor=panel.organiser, reason="다시")
    close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True)
    with pytest.raises(CampaignNotOpen):
        reinvite(panel, judge)


def test_who_gets_no_mail_stays_removed(left, monkeypatch):
    panel, judge = left
    before = CampaignJudge.objects.get(pk=judge.pk)

    def fail(*_args) -> None:
        raise SMTPException

    monkeypatch.setattr("malpan.arena.invitation_mail.send_mail", fail)
    with pytest.raises(InvitationMailFailed):
        reinvite(panel, judge)

    again = CampaignJudge.objects.get(pk=judge.pk)
    assert (again.removed_at, again.accepted_at, again.returns) == (before.removed_at, before.accepted_at, 0)
    assert again.token_sha256 == before.token_sha256
    with pytest.raises(JudgeInvitationNotFound):
        invitation_of("x")
