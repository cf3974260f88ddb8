"""What participants and organisers are told of the rules of a phase: which submission counts, and what decides."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import HiddenResult
from malpan.teams.models import Team
from tests.factories import finished_submission, person_in
from tests.web import html
from tests.web.conftest import client_of

ON_PUBLIC = "공개 순위표에는 팀마다 공개 점수가 가장 높은 제출 하나가 올라갑니다"
CHOSEN = "팀은 단계가 끝날 때까지 제출을 2건까지 고릅니다. 고른 제출 가운데 최종 순위를 정하는 점수가 가장 높은 것 하나"
WITHOUT = "고르지 않은 팀은 공개 점수가 가장 높은 제출이 반영됩니다"


def text_of(client: Client, phase: Phase, page: str, language: str = "ko") -> str:
    address = f"/competitions/{phase.track.competition.slug}/{page}"
    answer = client.get(address, headers={"accept-language": language})
    assert answer.status_code == 200
    return html.parse(answer.content.decode()).one("main").text


def facts_of(phase: Phase, **rules: Any) -> dict[str, str]:
    """What the overview tells of ``phase`` with these settings."""
    Phase.objects.filter(pk=phase.pk).update(**rules)
    page = html.parse(Client().get(f"/competitions/{phase.track.competition.slug}/").content.decode())
    facts = page.one("li", "phase").one("dl", "facts")
    return {name.text: fact.text for name, fact in zip(facts.all("dt"), facts.all("dd"), strict=True)}


def end(phase: Phase) -> Phase:
    phase.ends_at = timezone.now() - timedelta(minutes=5)
    phase.save()
    return phase


def test_where_teams_choose_every_page_says_what_counts_on_which_board(phase: Phase, member: Client) -> None:
    phase.finals_limit = 2
    phase.save()
    owner = client_of(person_in(phase.track.competition, "owner"))
    for client, page in (
        (Client(), ""),
        (member, "submit/"),
        (Client(), "submit/"),
        (member, "submissions/"),
        (owner, "manage/quota/"),
    ):
        told = text_of(client, phase, page)
        assert ON_PUBLIC in told, page
        assert CHOSEN in told, page
        assert WITHOUT in told, page
        assert "팀마다 가장 높은 제출" not in told, page
    assert "가장 좋은 제출, 최종은 팀이 고른 2건 가운데" in text_of(owner, phase, "manage/phases/")
    assert "up to 2 submissions until the phase ends" in text_of(Client(), phase, "", "en")


def test_where_none_choose_the_highest_counts(phase: Phase) -> None:
    assert facts_of(phase)["반영되는 제출"] == "팀마다 가장 높은 제출 하나가 올라갑니다."


@pytest.mark.parametrize(("covers_all", "told"), [(False, "비공개 문항의 점수로"), (True, "모든 문항의 점수로")])
def test_the_published_board_says_what_it_ranks_by_and_the_public_one_what_shows(
    phase: Phase, team: Team, covers_all: bool, told: str
) -> None:
    phase.finals_limit, phase.private_covers_all = 2, covers_all
    phase.reference_versions.update(public_ids=["q1"])
    row = finished_submission(phase, team, 0.5)
    HiddenResult.objects.create(run=row.live_run, final_score=0.7, scores={"final_score": 0.7}, signature_hash="h")
    end(phase)
    before = text_of(Client(), phase, "board/")
    assert ON_PUBLIC in before
    assert CHOSEN not in before
    publish_final_board(phase=phase, actor=person_in(phase.track.competition, "owner"))
    final = text_of(Client(), phase, "board/")
    assert f"{told} 매긴 순위입니다" in final
    assert CHOSEN in final
    assert ON_PUBLIC not in final
    public = text_of(Client(), phase, "board/?view=public")
    assert ON_PUBLIC in public
    assert "매긴 순위입니다" not in public


@pytest.mark.parametrize(
    ("rules", "name", "told"),
    [
        ({"score_step": Decimal("0.05")}, "점수의 단위", "5점 단위로 반올림합니다"),
        ({"score_step": Decimal("0.05"), "is_ladder": True}, "점수의 단위", "5점 넘게 오른 제출만 새 점수를"),
        (
            {"board": "frozen", "frozen_at": timezone.now(), "shows_own_score": False},
            "내 점수",
            "최종 발표까지 그 팀에도 보이지 않습니다",
        ),
        ({"board": "hidden"}, "내 점수", "자기 팀의 공개 점수는 보입니다"),
        ({"board": "hidden", "shows_own_score": False}, "내 점수", "점수는 그 팀에도 보이지 않습니다"),
    ],
)
def test_the_overview_and_the_submit_page_tell_what_is_shown(
    phase: Phase, rules: dict[str, Any], name: str, told: str
) -> None:
    assert name not in facts_of(phase)
    assert told in facts_of(phase, **rules)[name]
    assert told in text_of(Client(), phase, "submit/")


def test_the_share_is_that_of_the_references_and_decides_as_it_is_set(phase: Phase) -> None:
    assert "공개 문항" not in facts_of(phase, public_percent=40)  # the references are not split
    phase.reference_versions.update(public_ids=["q1"])
    assert facts_of(phase)["공개 문항"] == (
        "공개 점수는 문항의 33%로 매기고, 최종 순위는 나머지 비공개 문항의 점수로 정합니다."
    )
    assert "최종 순위는 모든 문항의 점수로" in facts_of(phase, private_covers_all=True)["공개 문항"]
    phase.reference_versions.all().delete()
    assert "문항의 40%로" in facts_of(phase)["공개 문항"]


def test_blind_names_are_told_while_they_are(phase: Phase) -> None:
    Competition.objects.update(has_blind_names=True)
    assert "‘참가팀 3’처럼 번호로 보이고, 단계가 끝나면 이름이" in facts_of(phase)["팀 이름"]
    assert "팀 이름" not in facts_of(end(phase))


def test_an_ended_phase_is_not_live_and_its_published_board_is_linked(phase: Phase, team: Team) -> None:
    assert facts_of(phase)["순위표"] == "실시간 공개"
    assert facts_of(end(phase))["순위표"] == "끝난 단계의 순위표"
    finished_submission(phase, team, 0.5)
    publish_final_board(phase=phase, actor=person_in(phase.track.competition, "owner"))
    assert facts_of(phase)["순위표"] == "최종 순위표 발표"
    page = html.parse(Client().get(f"/competitions/{phase.track.competition.slug}/").content.decode())
    link = page.one("li", "phase").one("a").attributes["href"]
    assert Client().get(link).status_code == 200


def test_the_form_calls_the_score_that_decides_by_what_it_is_of_and_says_when_items_stay_closed(phase: Phase) -> None:
    owner = client_of(person_in(phase.track.competition, "owner"))
    told = text_of(owner, phase, f"manage/phases/{phase.pk}/")
    assert "최종 점수" not in told
    assert "최종 순위를 숨긴 문항만이 아니라 모든 문항의 점수로 정합니다" in told
    assert "공개 점수의 단위를 정하면 최종 발표까지는 어느 쪽이든 보이지 않습니다" in told
