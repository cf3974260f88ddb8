"""Judges, tabs and organisers at the same moment, and processes that die: nothing is lost, nothing counts twice."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from django.db import connection

from malpan.arena.closing import close_campaign
from malpan.arena.errors import CampaignNotOpen, JudgementElsewhere, JudgeRemoved
from malpan.arena.judges import remove_judge
from malpan.arena.judging import correct_judgement, judge_assignment, save_draft
from malpan.arena.models import Assignment, CampaignJudge, Judgement, JudgementDraft
from malpan.arena.panel import current_balance
from malpan.arena.queue import next_assignment
from malpan.core.models import AuditEntry
from scoring.arena.vote_records import PROTOCOLS
from tests import locks
from tests.arena.panels import VALUES, Panel, open_panel
from tests.paths import ROOT
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)
DRAFTS = {  # what each judge had entered so far
    "pairwise": {"choice": "tie"},
    "rubric": {"scores": {"fluency": 2}},
    "ranking": {"ranks": [3, None, None]},
    "errors": {"spans": [], "score": 20},
}
FIRST, SECOND = ({"choice": choice, "reasons": []} for choice in ("first", "second"))


@pytest.fixture
def panel() -> Panel:
    panel = open_panel()
    for judge in panel.judges:
        panel.judge_next(judge)  # the practice
    return panel


def test_two_judges_judge_the_same_item_at_the_same_moment(panel):
    """Real assignments of one unit, shown to both: both judgements are there, and neither waits for the other."""
    real = Assignment.objects.filter(campaign=panel.campaign, kind="real").order_by("pk")
    units = {(row.item_id, frozenset(row.systems)): row for row in real.filter(judge=panel.judges[0])}
    other = next(row for row in real.exclude(judge=panel.judges[0]) if (row.item_id, frozenset(row.systems)) in units)
    both = [units[other.item_id, frozenset(other.systems)], other]
    Assignment.objects.filter(pk__in=[row.pk for row in both]).update(first_shown_at=panel.now)

    made = at_once(
        [lambda row=row: judge_assignment(assignment=row, actor=row.judge.user, value=FIRST, seconds=3) for row in both]
    )

    assert [row.assignment_id for row in made] == [row.pk for row in both]
    assert Judgement.objects.filter(assignment__in=both).count() == 2
    with locks.held(made[0].assignment.judge):  # one judge's queue is busy
        third = next_assignment(judge=panel.judges[2], actor=panel.judges[2].user)
        judge_assignment(assignment=third, actor=panel.judges[2].user, value=FIRST, seconds=1)


def test_whole_panel_at_work_at_once_judges_everything_once(panel):
    def work(judge: CampaignJudge) -> int:
        count = 0
        while (assignment := next_assignment(judge=judge, actor=judge.user)) is not None:
            save_draft(assignment=assignment, actor=judge.user, value={"choice": "tie"})
            judge_assignment(assignment=assignment, actor=judge.user, value=VALUES["pairwise"], seconds=1)
            count += 1
        return count

    counts = at_once([lambda judge=judge: work(judge) for judge in panel.judges])

    rows = Assignment.objects.filter(campaign=panel.campaign).exclude(kind="calibration")
    assert sum(counts) == rows.count() == Judgement.objects.exclude(assignment__kind="calibration").count()
    assert set(rows.values_list("state", flat=True)) == {"done"}
    assert not JudgementDraft.objects.exists()
    assert set(_judgements_by_unit(panel).values()) == {panel.campaign.judges_per_unit}


def test_request_sent_many_times_at_once_is_one_judgement(panel):
    judge = panel.judges[0]
    shown = panel.next(judge)

    made = at_once([lambda: judge_assignment(assignment=shown, actor=judge.user, value=FIRST, seconds=3)] * 8)

    assert len({row.pk for row in made}) == 1
    assert Judgement.objects.filter(assignment=shown).count() == 1
    entries = AuditEntry.objects.filter(action="judgement.create", object_id=str(made[0].pk))
    assert entries.count() == 1


def test_two_tabs_with_different_answers_at_once_one_is_told(panel):
    judge = panel.judges[0]
    shown = panel.next(judge)
    values = [FIRST, SECOND] * 3

    made = at_once(
        [lambda value=value: judge_assignment(assignment=shown, actor=judge.user, value=value) for value in values]
    )

    [kept] = Judgement.objects.filter(assignment=shown)
    for value, outcome in zip(values, made, strict=True):
        assert outcome == kept if value == kept.value else isinstance(outcome, JudgementElsewhere)


def test_two_corrections_at_once_make_one_row(panel):
    judge = panel.judges[0]
    shown = panel.judge_next(judge, FIRST).assignment
    tie = {"choice": "tie"}

    made = at_once(
        [
            lambda value=value: correct_judgement(assignment=shown, actor=judge.user, value=value, expected_number=1)
            for value in (SECOND, tie)
        ]
    )

    assert sorted(type(each) is JudgementElsewhere for each in made) == [False, True]
    assert list(shown.judgements.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_draft_and_judgement_at_once_leave_no_draft(panel):
    judge = panel.judges[0]
    shown = panel.next(judge)

    at_once(
        [
            lambda: judge_assignment(assignment=shown, actor=judge.user, value=FIRST),
            *[lambda: save_draft(assignment=shown, actor=judge.user, value={"choice": "tie"})] * 4,
        ]
    )

    assert Judgement.objects.filter(assignment=shown).count() == 1
    assert not JudgementDraft.objects.exists()


def test_judge_removed_while_judging_is_judged_or_moved_but_never_both(panel):
    judge = panel.judges[0]
    shown = panel.next(judge)
    before = current_balance(panel.campaign)

    judged, moved = at_once(
        [
            lambda: judge_assignment(assignment=shown, actor=judge.user, value=FIRST),
            lambda: remove_judge(judge=judge, actor=panel.organiser, reason="그만두었습니다."),
        ]
    )

    assert isinstance(moved, int)
    shown.refresh_from_db()
    count = Judgement.objects.filter(assignment=shown).count()
    assert (shown.state, count) == (("void", 0) if isinstance(judged, JudgeRemoved) else ("done", 1))
    after = current_balance(panel.campaign)
    assert (after.assignments, after.units, after.pairs) == (before.assignments, before.units, before.pairs)


def test_judgement_at_the_closing_is_in_or_refused(panel):
    shown = {judge.pk: panel.next(judge) for judge in panel.judges}
    calls = [
        lambda judge=judge: judge_assignment(assignment=shown[judge.pk], actor=judge.user, value=FIRST)
        for judge in panel.judges
    ]

    *made, campaign = at_once(
        [*calls, lambda: close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True)]
    )

    kept = Judgement.objects.filter(assignment__in=shown.values())
    assert kept.count() == sum(isinstance(each, Judgement) for each in made)
    assert {type(each) for each in made} <= {Judgement, CampaignNotOpen}
    entry = AuditEntry.objects.get(action="campaign.close")
    assert entry.after["judgements"] == kept.count()  # what closed had all of them, and no other came after
    assert not Assignment.objects.filter(campaign=campaign, state="open").exists()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_process_killed_at_any_step_of_a_judgement_loses_nothing_and_counts_nothing_twice(settings, protocol):
    panel = open_panel(protocol)
    judge, value, draft = panel.judges[0], VALUES[protocol], DRAFTS[protocol]
    panel.judge_next(judge)  # the practice
    shown = panel.next(judge)
    save_draft(assignment=shown, actor=judge.user, value=draft)

    done = subprocess.run(
        [sys.executable, "-m", "tests.arena.kill_drill", str(shown.pk), json.dumps(value)],
        cwd=ROOT, env=_environment(settings), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)

    print(f"kill drill: {len(seen) - 1} kills in the middle of one judgement ({protocol})")
    *before, after, last = seen
    assert len(before) > 10  # one before every statement, one before the commit
    assert all(each == {"state": "open", "judgements": [], "entries": 0, "draft": draft} for each in before)
    committed = {"state": "done", "judgements": [value], "entries": 1, "draft": None}
    assert after == committed  # killed after the commit: the browser got no answer
    assert last == committed  # and sent it again


def _environment(settings) -> dict[str, str]:
    """That of a process on the database of this test."""
    name = connection.settings_dict["NAME"]
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": re.sub(r"/[^/?]+(?=\?|$)", f"/{name}", os.environ["DATABASE_URL"], count=1),
        "SECRET_KEY": settings.SECRET_KEY,
    }


def _judgements_by_unit(panel: Panel) -> Counter[tuple[int, frozenset[str]]]:
    rows = Judgement.objects.filter(assignment__campaign=panel.campaign, assignment__kind="real")
    return Counter(
        (item, frozenset(systems)) for item, systems in rows.values_list("assignment__item", "assignment__systems")
    )
