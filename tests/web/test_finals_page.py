"""내 제출 › 최종 제출 선택: boxes, one button, locked at the end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.factories import TeamFactory, finished_submission
from tests.web import html


@pytest.fixture
def rows(phase: Phase, team: Team) -> list[Submission]:
    phase.finals_limit = 2
    phase.save()
    return [finished_submission(phase, team, score) for score in (0.1, 0.2, 0.3)]


def page_of(client: Client, phase: Phase) -> html.Element:
    return html.parse(client.get(f"/competitions/{phase.track.competition.slug}/submissions/").content.decode())


def choose(client: Client, phase: Phase, *chosen: object) -> str:
    address = f"/competitions/{phase.track.competition.slug}/submissions/finals/"
    sent = {"phase": phase.slug, "track": phase.track.slug, "chosen": [str(each) for each in chosen]}
    return client.post(address, sent, follow=True).content.decode()


def chosen_ids() -> set[int]:
    return set(Submission.objects.filter(is_final_choice=True).values_list("pk", flat=True))


def test_every_submission_has_a_box_and_the_choice_is_shown(
    phase: Phase, member: Client, rows: list[Submission]
) -> None:
    assert len(page_of(member, phase).all("input", name="chosen")) == 3
    assert "최종 제출 2건을 저장했습니다" in choose(member, phase, rows[0].public_id, rows[2].public_id)
    boxes = page_of(member, phase).all("input", name="chosen")
    ticked = {box.attributes["value"] for box in boxes if "checked" in box.attributes}
    assert ticked == {str(rows[0].public_id), str(rows[2].public_id)}
    assert "지금 2/2건 선택" in page_of(member, phase).text


def test_too_many_are_refused_with_the_limit(phase: Phase, member: Client, rows: list[Submission]) -> None:
    assert "2건까지" in choose(member, phase, *(row.public_id for row in rows))
    assert chosen_ids() == set()


def test_too_many_stay_ticked(phase: Phase, member: Client, rows: list[Submission]) -> None:
    choose(member, phase, rows[0].public_id)
    page = html.parse(choose(member, phase, *(row.public_id for row in rows)))
    assert "2건까지 고를 수 있는데 3건을 골랐습니다" in page.text
    assert len([box for box in page.all("input", name="chosen") if "checked" in box.attributes]) == 3
    assert chosen_ids() == {rows[0].pk}


def test_nothing_ticked_empties_the_choice(phase: Phase, member: Client, rows: list[Submission]) -> None:
    choose(member, phase, rows[0].public_id)
    assert "비웠습니다" in choose(member, phase)
    assert chosen_ids() == set()


def test_other_teams_submissions_and_nonsense_cannot_be_chosen(
    phase: Phase, member: Client, rows: list[Submission]
) -> None:
    foreign = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.9)
    assert "제출을 찾을 수 없습니다" in choose(member, phase, foreign.public_id)
    choose(member, phase, "nonsense")
    assert chosen_ids() == set()


def test_after_the_end_there_are_no_boxes_and_the_choice_stands(
    phase: Phase, member: Client, rows: list[Submission]
) -> None:
    choose(member, phase, rows[0].public_id)
    Phase.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert page_of(member, phase).all("input", name="chosen") == []
    assert "마감되었습니다" in choose(member, phase, rows[1].public_id)
    assert chosen_ids() == {rows[0].pk}


def test_a_phase_without_a_limit_offers_no_choice(phase: Phase, member: Client, rows: list[Submission]) -> None:
    Phase.objects.update(finals_limit=None)
    assert page_of(member, phase).all(id="finals") == []
    assert "모든 제출이 최종 순위에 반영됩니다" in choose(member, phase, rows[0].public_id)
