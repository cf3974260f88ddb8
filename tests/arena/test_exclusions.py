"""Leaving out a judge or a judgement: with a reason, seen beforehand, and taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from allauth.account.models import EmailAddress

from malpan.accounts.models import User
from malpan.arena.errors import (
    AssignmentNotFound,
    CampaignNotBegun,
    CampaignReasonMissing,
    ExclusionInForce,
    ExclusionLifted,
    JudgeNamed,
    JudgeNotFound,
    NoVotes,
    StillComputing,
)
from malpan.arena.exclusions import lift_exclusion, make_exclusion, preview_exclusion
from malpan.arena.judging import correct_judgement
from malpan.arena.models import Assignment, CampaignJudge, Exclusion, Judgement
from malpan.arena.quality import open_scores
from malpan.arena.votes_file import votes_of
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.core.models import AuditEntry
from scoring.arena import votes as votes_module
from scoring.arena.result import compute
from tests.arena.answers import answered
from tests.arena.panels import Panel, draft_panel, invite, open_panel
from tests.factories import person_in
from tests.locks import waits_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    """The lower label is better for all judges, but for the last, who says the opposite."""
    panel = open_panel(judges=4, item_count=12)

    def choose(assignment: Assignment) -> dict[str, str]:
        first, second = assignment.systems
        return {"choice": "first" if (first < second) != (assignment.judge == panel.judges[-1]) else "second"}

    panel.fill(choose)
    return panel


def reals(panel: Panel, **filters) -> list[Judgement]:
    rows = Judgement.objects.filter(assignment__campaign=panel.campaign, assignment__kind="real", **filters)
    return list(rows.order_by("pk"))


def test_preview_says_what_the_exclusion_then_does_and_writes_nothing(panel):
    contrary = panel.judges[-1]
    open_scores(campaign=panel.campaign, actor=panel.organiser, reason="의심스럽습니다.")
    before = compute(votes_of(panel.campaign)).document()["systems"]
    count = AuditEntry.objects.count()

    effect = answered(preview_exclusion, campaign=panel.campaign, actor=panel.organiser, judge=contrary)

    assert not Exclusion.objects.exists()
    assert AuditEntry.objects.count() == count
    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=contrary, reason="거꾸로 눌렀습니다.")
    after = compute(votes_of(panel.campaign)).document()["systems"]
    was, now = ({row["label"]: row for row in rows} for rows in (before, after))
    assert effect.votes_before == len(reals(panel))
    assert effect.votes_after == len(reals(panel)) - len(reals(panel, assignment__judge=contrary))
    changes = [abs(now[label]["score"] - was[label]["score"]) for label in was]
    assert effect.largest_score_change == pytest.approx(max(changes), abs=1e-9)
    assert max(changes) > 0.1
    moved = [(label, was[label]["rank"], now[label]["rank"]) for label in was]
    assert effect.moved == tuple(sorted(each for each in moved if each[1] != each[2]))
    assert effect.ranks_changed == len(effect.moved)


def test_preview_does_not_say_who_leads_before_the_scores_are_opened(panel, monkeypatch):
    """Whatever moves: here the two results are made to differ."""
    placed = iter([{"S01": (1, 1.0), "S02": (2, 0.0)}, {"S01": (2, 0.25), "S02": (1, 0.5)}])
    monkeypatch.setattr("malpan.arena.computing._placed", lambda _votes: next(placed))

    hidden = answered(preview_exclusion, campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0])
    open_scores(campaign=panel.campaign, actor=panel.organiser, reason="까닭")
    shown = preview_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0])

    assert (hidden.ranks_changed, hidden.largest_score_change, hidden.moved) == (2, 0.75, ())
    assert shown == replace(hidden, moved=(("S01", 1, 2), ("S02", 2, 1)))


def test_systems_that_get_or_lose_a_rank_are_counted_and_have_no_change_of_score(panel, monkeypatch):
    """Whatever is left: here results are made of which one lacks a system of the other."""
    placed = iter([{"S01": (1, 1.0), "S02": (2, 0.0)}, {"S01": (1, 1.25)}, {"S01": (1, 1.0)}, {"S02": (1, 0.0)}])
    monkeypatch.setattr("malpan.arena.computing._placed", lambda _votes: next(placed))

    fewer, others = (
        answered(preview_exclusion, campaign=panel.campaign, actor=panel.organiser, judge=judge)
        for judge in panel.judges[:2]
    )

    assert (fewer.ranks_changed, fewer.largest_score_change) == (1, 0.25)
    assert (others.ranks_changed, others.largest_score_change) == (2, 0.0)


def test_the_effect_of_one_judgement_is_not_told_as_that_of_another(panel):
    one, other = reals(panel)[:2]
    asked = {"campaign": panel.campaign, "actor": panel.organiser}
    effect = answered(preview_exclusion, judgement=one, **asked)
    assert effect.votes_after == effect.votes_before - 1

    with pytest.raises(StillComputing):
        preview_exclusion(judgement=other, **asked)


def test_excluded_judge_and_judgement_do_not_count_and_stay_in_the_file(panel):
    judge, judgement = panel.judges[0], reals(panel, assignment__judge=panel.judges[1])[0]
    everything = votes_of(panel.campaign)

    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=judge, reason="하나")
    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judgement=judgement, reason="둘")

    votes = votes_of(panel.campaign)
    assert votes.votes == everything.votes
    assert [one.reason for one in votes.exclusions] == ["하나", "둘"]
    own = len(reals(panel, assignment__judge=judge))
    assert len(votes.real()) == len(everything.real()) - own - 1
    assert isinstance(votes.exclusions[0], votes_module.Exclusion)


def test_lifted_exclusion_counts_again_and_can_be_made_again(panel):
    before = votes_of(panel.campaign)
    made = make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="까닭")

    lifted = lift_exclusion(exclusion=made, actor=panel.organiser, reason="다시 보니 아닙니다.", now=panel.later())

    assert (lifted.lifted_by, lifted.lifted_at, lifted.lift_reason) == (
        panel.organiser, panel.now, "다시 보니 아닙니다.",
    )  # fmt: skip
    assert votes_of(panel.campaign) == before
    with pytest.raises(ExclusionLifted):
        lift_exclusion(exclusion=made, actor=panel.organiser, reason="또")
    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="역시 까닭")
    assert Exclusion.objects.filter(lifted_at=None).count() == 1
    actions = AuditEntry.objects.filter(action__startswith="exclusion.").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == ["exclusion.create", "exclusion.lift", "exclusion.create"]


def test_one_exclusion_of_several_is_lifted_and_both_acts_are_written_with_their_reasons(panel):
    made = [
        make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=judge, reason="까닭")
        for judge in panel.judges[:2]
    ]
    lift_exclusion(exclusion=made[1], actor=panel.organiser, reason="아닙니다.")
    assert list(Exclusion.objects.filter(lifted_at=None)) == made[:1]
    facts = {"judge": panel.judges[1].pk, "judgement": None}
    _first, created, lifted = AuditEntry.objects.filter(action__startswith="exclusion.").order_by("pk")
    assert created.after == facts | {"reason": "까닭"}
    assert (lifted.before, lifted.after) == (facts, facts | {"reason": "아닙니다."})


@pytest.mark.django_db(transaction=True)
def test_making_and_lifting_wait_for_whoever_changes_the_campaign(panel):
    made = make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="까닭")
    with waits_for(panel.campaign):
        lift_exclusion(exclusion=made, actor=panel.organiser, reason="까닭")
    with waits_for(panel.campaign):
        make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[1], reason="까닭")


def test_what_is_excluded_is_not_excluded_again_by_another_version(panel):
    first = reals(panel, assignment__judge=panel.judges[0])[0]
    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judgement=first, reason="까닭")
    second = correct_judgement(
        assignment=first.assignment, actor=panel.judges[0].user, value={"choice": "tie"}, expected_number=1
    )

    for judgement in (first, second):
        with pytest.raises(ExclusionInForce):
            make_exclusion(campaign=panel.campaign, actor=panel.organiser, judgement=judgement, reason="까닭")
        with pytest.raises(ExclusionInForce):
            answered(preview_exclusion, campaign=panel.campaign, actor=panel.organiser, judgement=judgement)
    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="까닭")
    with pytest.raises(ExclusionInForce):
        make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="까닭")


def test_reason_is_needed_both_ways(panel):
    for reason in ("", " \n ", "가" * 301):
        with pytest.raises(CampaignReasonMissing):
            make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason=reason)
    made = make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="가" * 300)
    with pytest.raises(CampaignReasonMissing):
        lift_exclusion(exclusion=made, actor=panel.organiser, reason="")


def test_only_who_manages_excludes(panel):
    viewer = person_in(panel.campaign.track.competition, "operator")
    campaign, judge = panel.campaign, panel.judges[0]
    made = make_exclusion(campaign=campaign, actor=panel.organiser, judge=panel.judges[1], reason="까닭")

    for actor, refusal in ((viewer, NotAllowed), (panel.judges[0].user, ManageNotFound)):
        for call in (
            lambda actor=actor: answered(preview_exclusion, campaign=campaign, actor=actor, judge=judge),
            lambda actor=actor: make_exclusion(campaign=campaign, actor=actor, judge=judge, reason="까닭"),
            lambda actor=actor: lift_exclusion(exclusion=made, actor=actor, reason="까닭"),
        ):
            with pytest.raises(refusal):
                call()


def test_judge_and_judgement_are_of_the_campaign_and_practice_is_nothing_to_leave_out(panel):
    other = open_panel(judges=2)
    elsewhere = other.judge_next(other.judges[0])
    practice = Judgement.objects.filter(assignment__campaign=panel.campaign, assignment__kind="calibration").first()

    with pytest.raises(JudgeNotFound):
        make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=other.judges[0], reason="까닭")
    for judgement in (elsewhere, practice):
        with pytest.raises(AssignmentNotFound):
            make_exclusion(campaign=panel.campaign, actor=panel.organiser, judgement=judgement, reason="까닭")
    with pytest.raises(TypeError):
        make_exclusion(campaign=panel.campaign, actor=panel.organiser, reason="까닭")


def test_nothing_is_left_out_of_a_draft_and_nothing_previewed_without_votes():
    draft = draft_panel()
    with pytest.raises(CampaignNotBegun):
        make_exclusion(campaign=draft.campaign, actor=draft.organiser, judge=None, judgement=Judgement(), reason="까닭")
    empty = open_panel(judges=2)
    with pytest.raises(NoVotes):
        answered(preview_exclusion, campaign=empty.campaign, actor=empty.organiser, judge=empty.judges[0])


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("나그네 님이 읽지 않음", "name"),
        ("JUDGE@lab.kr의 요청", "email"),
        ("me@other.kr로 알려 옴", "email"),
        ("한빛 연구대에서 온 사람", "institution"),
        ("이미 초대받은 달빛대 교수", "institution"),
        ("나그네처럼 빨리 봄", "name"),
        ("어떤나그네", None),
        ("같은 출력만 골랐습니다.", None),
    ],
)
def test_no_reason_says_who_judges(panel, reason, kind):
    """A judge of the campaign, whoever it is, also one who only was invited: the reason will be public."""
    judge = panel.judges[1]
    User.objects.filter(pk=judge.user_id).update(name="나그네")
    CampaignJudge.objects.filter(pk=judge.pk).update(email="judge@lab.kr", institution="한빛연구대")
    EmailAddress.objects.create(user=judge.user, email="me@other.kr", verified=True)
    invite(panel, "somebody@example.org", institution="달빛대")
    given = {"campaign": panel.campaign, "actor": panel.organiser, "judge": panel.judges[0], "reason": reason}
    if kind is None:
        assert make_exclusion(**given).reason == reason
        return
    with pytest.raises(JudgeNamed) as refused:
        make_exclusion(**given)
    assert (refused.value.params, refused.value.field) == ({"reason": kind}, "reason")
    assert not Exclusion.objects.exists()
