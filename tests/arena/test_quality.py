"""Live quality: figures of judges without scores of systems; opening the scores is logged."""

from __future__ import annotations

import json
from collections import Counter
from statistics import median

import pytest

from malpan.arena.closing import close_campaign
from malpan.arena.errors import CampaignNotBegun, CampaignReasonMissing, NoVotes, ScoresNotOpened
from malpan.arena.judges import remove_judge
from malpan.arena.models import Assignment, Judgement
from malpan.arena.quality import current_result, has_opened_scores, live_quality, open_scores
from malpan.arena.votes_file import votes_of
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.core.models import AuditEntry
from scoring.arena.controls import RULES
from scoring.arena.draws import draws
from tests.arena.answers import answered, quality_of
from tests.arena.panels import Panel, draft_panel, open_panel, standing
from tests.factories import person_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return open_panel(judges=5, item_count=12, systems=4, calibration_count=0)


def work(panel: Panel, *, clicker: int | None = None, seconds: int = 30) -> None:
    """All judge by the labels and see every bad output; ``clicker`` reads nothing."""
    rng = draws("clicks", "of a test")

    def choose(assignment: Assignment) -> dict[str, str]:
        first, second = assignment.systems
        if clicker is not None and assignment.judge == panel.judges[clicker]:
            return {"choice": "first" if rng.random() < 0.5 else "second"}
        if assignment.bad_index is not None:
            return {"choice": ("second", "first")[assignment.bad_index]}
        return {"choice": "first" if first < second else "second"}

    panel.fill(choose, seconds)


def test_figures_are_those_of_the_rows(panel):
    for judge in panel.judges[:2]:
        for seconds in (3, 9, 30):
            panel.judge(panel.next(judge), seconds=seconds)
    panel.campaign.min_seconds = 5
    panel.campaign.save()

    quality = quality_of(panel.campaign)

    first = quality.judges[0]
    assert (first.judge, first.done, first.total) == (panel.judges[0], 3, len(panel.queue(panel.judges[0])))
    assert (first.median_seconds, first.too_fast) == (median([3, 9, 30]), 1)
    last = quality.judges[-1]
    assert (last.done, last.median_seconds, last.too_fast, last.figures) == (0, None, 0, None)
    assert quality.done == 6
    assert quality.total == sum(len(panel.queue(judge)) for judge in panel.judges)
    assert quality.balance.pairs[1] - quality.balance.pairs[0] <= 1


def test_who_clicks_without_reading_stands_out_and_nobody_else():
    panel = open_panel(judges=5, item_count=40, systems=4, calibration_count=0)
    work(panel, clicker=2)

    quality = quality_of(panel.campaign)

    flagged = [place for place, each in enumerate(quality.judges) if each.figures.flags]
    assert flagged == [2]
    failures = [each.figures.control_failures for each in quality.judges]
    assert failures[2] > 0
    assert sum(failures) == failures[2]
    assert quality.agreement is not None


def test_who_judges_well_in_a_second_is_counted_as_fast_and_not_suspicious():
    panel = open_panel(judges=5, item_count=40, systems=4, calibration_count=0, min_seconds=5)
    work(panel, clicker=2, seconds=1)

    quality = quality_of(panel.campaign)

    assert [each.too_fast for each in quality.judges] == [len(panel.queue(judge)) for judge in panel.judges]
    assert [place for place, each in enumerate(quality.judges) if each.figures.flags] == [2], "for what they said"
    close_campaign(campaign=panel.campaign, actor=panel.organiser)
    assert not panel.campaign.exclusions.exists()
    assert len(list(votes_of(panel.campaign).counted())) == len(standing(panel))


def test_nothing_of_it_says_who_leads(panel):
    work(panel)

    quality = quality_of(panel.campaign)

    shown = json.dumps(
        [quality.agreement, quality.balance.as_dict(), *(each.figures.as_dict() for each in quality.judges)]
    )
    for system in panel.systems:
        assert system.label not in shown
        assert system.submission.team.name not in shown


def test_checks_are_counted_by_rule_by_judge_and_by_thirds_of_the_queue(panel):
    work(panel, clicker=2)

    checks = quality_of(panel.campaign).checks

    controls = {row.pk: row for row in Assignment.objects.filter(campaign=panel.campaign, kind="control")}
    assert {row.bad_rule for row in controls.values()} <= set(RULES)
    by_rule = {kind.name: kind.every.count for kind in checks.kinds if kind.name in RULES}
    assert by_rule == Counter(row.bad_rule for row in controls.values())
    whole, repeats = checks.kinds[-2:]
    assert (whole.name, repeats.name) == ("control", "repeat")
    assert whole.every.count == len(controls)
    assert whole.judges == len({row.judge_id for row in controls.values()})
    failures = {judge: own[0].every.failed for judge, own in checks.of_judge.items() if own[0].name == "control"}
    assert {judge for judge, failed in failures.items() if failed} <= {panel.judges[2].pk}
    assert sum(part.count for part in whole.parts) == whole.every.count
    queue = panel.queue(panel.judges[0])
    thirds = [3 * place // len(queue) for place, row in enumerate(queue) if row.kind == "control"]
    assert [part.count for part in checks.of_judge[panel.judges[0].pk][0].parts] == [thirds.count(n) for n in range(3)]


def test_empty_campaign_has_figures_and_a_draft_none(panel):
    quality = quality_of(panel.campaign)
    assert (quality.done, quality.agreement) == (0, None)

    with pytest.raises(CampaignNotBegun):
        live_quality(draft_panel().campaign)


def test_removed_judge_is_still_seen_with_what_they_did(panel):
    leaving = panel.judges[0]
    panel.judge_next(leaving)
    remove_judge(judge=leaving, actor=panel.organiser, reason="까닭")

    [row] = [each for each in quality_of(panel.campaign).judges if each.judge == leaving]
    assert (row.done, row.total) == (1, 1)


def test_figures_follow_the_published_labels_after_the_closing(panel):
    work(panel, clicker=2)
    before = {each.judge.pk: each.figures.control_failures for each in quality_of(panel.campaign).judges}

    panel.campaign = close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True)

    after = {each.judge.pk: each.figures.control_failures for each in quality_of(panel.campaign).judges}
    assert after == before


# --- the scores -------------------------------------------------------------------------------------------------------
def test_scores_are_seen_by_who_opened_them_with_a_reason_and_that_is_logged(panel):
    work(panel)
    other = person_in(panel.campaign.track.competition, "owner")

    with pytest.raises(ScoresNotOpened):
        answered(current_result, campaign=panel.campaign, actor=panel.organiser)
    with pytest.raises(CampaignReasonMissing):
        open_scores(campaign=panel.campaign, actor=panel.organiser, reason=" ")
    open_scores(campaign=panel.campaign, actor=panel.organiser, reason="의심스러운 평가자가 있습니다.")

    rows = answered(current_result, campaign=panel.campaign, actor=panel.organiser).document["systems"]
    assert [row["label"] for row in rows] == ["S01", "S02", "S03", "S04"]
    assert [has_opened_scores(panel.campaign, user) for user in (panel.organiser, other)] == [True, False]
    with pytest.raises(ScoresNotOpened):
        answered(current_result, campaign=panel.campaign, actor=other)
    entry = AuditEntry.objects.get(action="campaign.open_scores")
    assert (entry.actor, entry.after) == (panel.organiser, {"reason": "의심스러운 평가자가 있습니다."})


def test_closed_campaign_has_open_scores(panel):
    work(panel)
    campaign = close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True)

    assert has_opened_scores(campaign, panel.organiser)
    assert answered(current_result, campaign=campaign, actor=panel.organiser).document["systems"]


def test_only_who_manages_opens_the_scores_and_only_of_what_began(panel):
    operator = person_in(panel.campaign.track.competition, "operator")

    for actor, refusal in ((operator, NotAllowed), (panel.judges[0].user, ManageNotFound)):
        with pytest.raises(refusal):
            open_scores(campaign=panel.campaign, actor=actor, reason="까닭")
        with pytest.raises(refusal):
            answered(current_result, campaign=panel.campaign, actor=actor)
    draft = draft_panel()
    for call in (
        lambda: open_scores(campaign=draft.campaign, actor=draft.organiser, reason="까닭"),
        lambda: answered(current_result, campaign=draft.campaign, actor=draft.organiser),
    ):
        with pytest.raises(CampaignNotBegun):
            call()


def test_opened_scores_without_votes_are_none(panel):
    open_scores(campaign=panel.campaign, actor=panel.organiser, reason="까닭")

    assert not Judgement.objects.exists()
    with pytest.raises(NoVotes):
        answered(current_result, campaign=panel.campaign, actor=panel.organiser)
