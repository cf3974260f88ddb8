"""What a rescoring changed of a submission and why, on its page."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.models import Notice, Phase
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.teams.models import Team
from tests.factories import ReferenceVersionFactory, ScoringRunFactory, UserFactory, finished_submission, leader_of
from tests.web import html
from tests.web.conftest import SCORES, client_of


@pytest.fixture
def rescored(phase: Phase, team: Team) -> Submission:
    """Scored 0.5, then 0.62 by a second version of the references in a batch with a notice."""
    row = finished_submission(phase, team, 0.5, scores=SCORES)
    batch = apply_batch(phase, notice_title_ko="정답을 고쳤습니다")
    Notice.objects.create(competition=team.competition, title_ko="정답을 고쳤습니다", body_ko="본문")
    version = ReferenceVersionFactory.create(phase=phase, number=2, is_current=False)
    rerun(row, batch, 0.62, reference_version=version)
    return row


def apply_batch(phase: Phase, **fields: Any) -> RescoreBatch:
    fields = {"state": "applied", "closed_at": timezone.now(), "reason": "정답 오류 3건", **fields}
    competition = phase.track.competition
    return RescoreBatch.objects.create(competition=competition, phase=phase, created_by=UserFactory.create(), **fields)


def rerun(row: Submission, batch: RescoreBatch, score: float, **fields: Any) -> ScoringRun:
    run = ScoringRunFactory.create(
        submission=row,
        batch=batch,
        state="finished",
        final_score=score,
        scores={"final_score": score, **SCORES, "bleurt": score},
        finished_at=timezone.now(),
        signature_hash="s",
        **fields,
    )
    if batch.state == "applied":
        Submission.objects.filter(pk=row.pk).update(live_run=run)
    return run


def page_of(row: Submission) -> html.Element:
    return html.parse(client_of(leader_of(row.team)).get(f"/submissions/{row.public_id}/").content.decode())


def test_old_and_new_values_the_reason_and_the_notice(rescored: Submission) -> None:
    page = page_of(rescored)
    told = page.one("div", "rescored")
    assert "사유: 정답 오류 3건" in told.text
    assert "정답 1판 → 2판" in told.text
    lines = {row.one("th").text: [cell.text for cell in row.all("td")] for row in told.one("tbody").all("tr")}
    assert lines == {
        "최종 점수": ["50.0000000", "62.0000000", "+12.0000"],
        "BLEURT": ["61.0000000", "62.0000000", "+1.0000"],
    }
    notice = Notice.objects.get()
    assert told.one("a").attributes["href"].endswith(f"/notices/#notice-{notice.pk}")
    assert html.problems(page) == []


def test_a_batch_that_was_not_applied_changed_nothing(rescored: Submission) -> None:
    for state in ("running", "cancelled"):
        rerun(rescored, apply_batch(rescored.phase, state=state, repeats=2 if state == "running" else 1), 0.9)
    page = page_of(rescored)
    assert len(page.all("div", "rescored")) == 1
    assert "90.0000" not in page.text


def test_the_newest_rescoring_stands_first_and_begins_with_the_one_before(rescored: Submission) -> None:
    rerun(rescored, apply_batch(rescored.phase, reason="둘째"), 0.7)
    first, second = page_of(rescored).all("div", "rescored")
    assert "둘째" in first.text
    assert [cell.text for cell in first.one("tbody").all("tr")[0].all("td")][:2] == ["62.0000000", "70.0000000"]
    assert "정답 오류 3건" in second.text


@pytest.mark.parametrize(
    ("rules", "seen"),
    [
        ({"board": "hidden", "shows_own_score": False}, False),
        ({"score_step": Decimal("0.01"), "is_ladder": True}, False),
        ({"score_step": Decimal("0.01")}, True),
    ],
)
def test_scores_that_are_withheld_are_not_told_by_it(rescored: Submission, rules: dict[str, Any], seen: bool) -> None:
    ScoringRun.objects.filter(batch=None).update(final_score=0.50412, scores={"final_score": 0.50412})
    Phase.objects.filter(pk=rescored.phase_id).update(**rules)
    page = page_of(rescored)
    assert "50412" not in page.text.replace(".", "")
    assert ("전 뒤 차이 최종 점수 50 62 +12" in page.one("div", "rescored").text) == seen


def test_a_submission_that_was_never_rescored_says_nothing_of_it(phase: Phase, team: Team) -> None:
    assert page_of(finished_submission(phase, team, 0.5, scores=SCORES)).all("div", "rescored") == []
