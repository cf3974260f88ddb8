"""Judges: invited by a mail that only its addressee can use, told what is asked of them."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from pathlib import Path
from smtplib import SMTPException

import pytest
from django.core import mail
from django.template.loader import get_template

from malpan.accounts.tokens import hash_token
from malpan.arena import invitations as invitations_module
from malpan.arena.errors import (
    CampaignNotOpen,
    GuidelineChanged,
    InvitationMailFailed,
    JudgeAccepted,
    JudgeAddressInvalid,
    JudgeAlready,
    JudgeInvitationExpired,
    JudgeInvitationForAnother,
    JudgeInvitationNotFound,
    JudgeInvitationUsed,
    JudgeInvited,
    JudgeIsOrganiser,
    JudgeNotFound,
    TooManyJudges,
)
from malpan.arena.invitations import INVITATION_LIFETIME, invitation_of, resend_invitation
from malpan.arena.judges import CONSENT_VERSION, consent_version_of, give_consent, remove_judge
from malpan.arena.models import CampaignJudge, Rubric
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import CompetitionRole
from malpan.core.models import AuditEntry
from tests.arena.panels import ADDRESS, Panel, accept, draft_panel, invite, link_for, mailed_token, person
from tests.factories import UserFactory, person_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> Panel:
    return draft_panel()


# --- invitations ------------------------------------------------------------------------------------------------------
def test_mail_goes_to_the_address_in_both_languages_and_the_token_is_not_kept(draft):
    draft.campaign.track.competition.title_ko = "말글 <대회> & 잔치"
    draft.campaign.track.competition.save()

    judge = invite(draft, " Judge@Univ.ac.kr ", institution="한국 대학교  ")

    (message,) = mail.outbox
    assert message.to == [ADDRESS]
    assert "말글 <대회> & 잔치" in message.subject
    assert "\n" not in message.subject
    assert message.body.count(link_for(mailed_token())) == 2
    assert "결선 평가" in message.body
    assert str(draft.organiser) in message.body
    assert judge.token_sha256 == hash_token(mailed_token())
    assert judge.institution == "한국 대학교"
    assert judge.expires_at == draft.now + INVITATION_LIFETIME
    written = [str(row) for row in AuditEntry.objects.values()]
    assert not [row for row in written if mailed_token() in row or ADDRESS in row]
    for system in draft.systems:
        assert system.submission.team.name not in message.body


def test_person_who_verified_the_address_becomes_the_judge_once(draft):
    invite(draft)
    user = person(ADDRESS)

    judge = accept(draft, user)
    again = accept(draft, user)

    assert (judge.user, again) == (user, judge)
    assert judge.is_active
    assert AuditEntry.objects.filter(action="campaign_judge.accept").count() == 1
    with pytest.raises(JudgeInvitationUsed):
        accept(draft, person("other@univ.ac.kr"))


@pytest.mark.parametrize(("email", "is_verified"), [("other@univ.ac.kr", True), (ADDRESS, False)])
def test_invitation_is_nobody_elses(draft, email, is_verified):
    judge = invite(draft)

    with pytest.raises(JudgeInvitationForAnother):
        accept(draft, person(email, is_verified=is_verified))

    judge.refresh_from_db()
    assert judge.accepted_at is None


def test_invitation_ends_with_its_time_and_a_wrong_token_opens_nothing(draft):
    judge = invite(draft)
    late = judge.expires_at

    assert invitation_of(mailed_token(), late - timedelta(seconds=1)) == judge
    for call in (lambda: invitation_of(mailed_token(), late), lambda: accept(draft, now=late)):
        with pytest.raises(JudgeInvitationExpired):
            call()
    for token in ("x", "", judge.token_sha256):
        with pytest.raises(JudgeInvitationNotFound):
            invitation_of(token)


def test_accepted_invitation_does_not_expire_for_who_accepted_it(draft):
    user = person(ADDRESS)
    invite(draft)
    accept(draft, user)

    assert accept(draft, user, now=draft.now + 2 * INVITATION_LIFETIME).user == user


@pytest.mark.parametrize("email", ["", "  ", "no address", "a@b\nBcc: c@example.com", "a@b.kr, c@b.kr"])
def test_text_that_is_no_address_is_refused_and_mails_nobody(draft, email):
    with pytest.raises(JudgeAddressInvalid):
        invite(draft, email)
    assert mail.outbox == []


def test_address_is_invited_once_whatever_its_case(draft):
    invite(draft)

    with pytest.raises(JudgeInvited):
        invite(draft, ADDRESS.upper())
    assert len(mail.outbox) == 1


def test_campaign_has_a_limit_of_judges(draft, monkeypatch):
    monkeypatch.setattr(invitations_module, "JUDGES_MAX", 1)
    first = invite(draft)

    with pytest.raises(TooManyJudges):
        invite(draft, "second@univ.ac.kr")

    remove_judge(judge=first, actor=draft.organiser, reason="잘못 초대했습니다.")
    invite(draft, "second@univ.ac.kr")


def test_mail_server_that_is_away_leaves_nothing(draft, monkeypatch):
    def away(*_args, **_kwargs):
        raise SMTPException("away")

    with monkeypatch.context() as patched:
        patched.setattr("malpan.arena.invitation_mail.send_mail", away)
        with pytest.raises(InvitationMailFailed):
            invite(draft)
    assert not CampaignJudge.objects.exists()
    invite(draft)  # nothing is in the way

    before, token = CampaignJudge.objects.get(), mailed_token()
    with monkeypatch.context() as patched:
        patched.setattr("malpan.arena.invitation_mail.send_mail", away)
        with pytest.raises(InvitationMailFailed):
            resend_invitation(judge=before, actor=draft.organiser, link_for=link_for, now=draft.later())
    assert invitation_of(token).expires_at == draft.campaign.created_at + INVITATION_LIFETIME  # the old link is good


def test_new_link_takes_the_place_of_the_old_one(draft):
    judge = invite(draft)
    old = mailed_token()

    resend_invitation(judge=judge, actor=draft.organiser, link_for=link_for, now=draft.later(3600))

    assert invitation_of(mailed_token()).expires_at == draft.now + INVITATION_LIFETIME
    with pytest.raises(JudgeInvitationNotFound):
        invitation_of(old)
    accept(draft)
    with pytest.raises(JudgeAccepted):
        resend_invitation(judge=judge, actor=draft.organiser, link_for=link_for)


def test_only_who_manages_invites_and_removes(draft):
    judge = invite(draft)
    viewer = person_in(draft.campaign.track.competition, "viewer")

    for actor, refusal in ((viewer, NotAllowed), (UserFactory.create(), ManageNotFound)):
        for call in (
            lambda actor=actor: invite(draft, "more@univ.ac.kr", actor=actor),
            lambda actor=actor: resend_invitation(judge=judge, actor=actor, link_for=link_for),
            lambda actor=actor: remove_judge(judge=judge, actor=actor, reason="까닭"),
        ):
            with pytest.raises(refusal):
                call()


def test_nobody_with_a_role_judges(draft):
    for role in CompetitionRole.Role.values:
        user = person(f"{role}@univ.ac.kr")
        CompetitionRole.objects.create(competition=draft.campaign.track.competition, user=user, role=role)
        invite(draft, user.email)
        with pytest.raises(JudgeIsOrganiser):
            accept(draft, user)


def test_person_judges_under_one_address(draft):
    user = person(ADDRESS)
    user.emailaddress_set.create(email="second@univ.ac.kr", verified=True)
    invite(draft)
    accept(draft, user)
    invite(draft, "second@univ.ac.kr")

    with pytest.raises(JudgeAlready):
        accept(draft, user)


def test_closed_campaign_takes_nobody(draft):
    invite(draft)
    draft.campaign.opened_at = draft.campaign.closed_at = draft.now
    draft.campaign.save()

    for call in (lambda: accept(draft), lambda: invite(draft, "more@univ.ac.kr")):
        with pytest.raises(CampaignNotOpen):
            call()


def test_other_words_of_the_consent_are_another_version():
    """So that judges are asked again. Whoever changes the words changes the version, and writes both here."""
    template = Path(get_template("pages/arena_consent.html").origin.name).read_text(encoding="utf-8")
    words = re.findall(r'<li>\{% translate "(.*?)" %\}</li>', template)
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    assert (CONSENT_VERSION, len(words), digest[:16]) == ("2026-12", 6, "f9e0aef7fe9029d7")


# --- consent ----------------------------------------------------------------------------------------------------------
def test_consent_names_the_guideline_and_the_notice_that_were_read(draft):
    invite(draft)
    judge, campaign = accept(draft), draft.campaign
    seen = consent_version_of(campaign)
    assert len(seen) <= CampaignJudge._meta.get_field("consent_version").max_length

    for other in (UserFactory.create(), draft.organiser):
        with pytest.raises(JudgeNotFound):
            give_consent(judge=judge, actor=other, rubric=campaign.rubric, consent_version=seen)
    for _again in range(2):
        give_consent(judge=judge, actor=judge.user, rubric=campaign.rubric, consent_version=seen, now=draft.now)

    judge.refresh_from_db()
    assert (judge.rubric, judge.consent_version, judge.consented_at) == (campaign.rubric, seen, draft.now)
    assert AuditEntry.objects.filter(action="campaign_judge.consent").count() == 1


def test_what_changed_while_it_was_read_is_read_again(draft):
    invite(draft)
    judge, campaign = accept(draft), draft.campaign
    seen, rubric = consent_version_of(campaign), campaign.rubric
    campaign.notice_en = "Another notice"
    campaign.save()

    with pytest.raises(GuidelineChanged):
        give_consent(judge=judge, actor=judge.user, rubric=rubric, consent_version=seen)
    newer = Rubric.objects.create(
        track=rubric.track, number=2, title_ko="새 기준", guideline_ko="새 지침", created_by=draft.organiser,
        created_at=draft.now,
    )  # fmt: skip
    campaign.rubric = newer
    campaign.save()
    with pytest.raises(GuidelineChanged):
        give_consent(judge=judge, actor=judge.user, rubric=rubric, consent_version=consent_version_of(campaign))
    give_consent(judge=judge, actor=judge.user, rubric=newer, consent_version=consent_version_of(campaign))
