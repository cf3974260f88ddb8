"""``malpan teams``, ``quota`` and ``arena``, against the site itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from malpan.arena.models import Campaign, CampaignJudge
from malpan.arena.publishing import computed_result
from malpan.competitions.models import Phase
from malpan.submissions.models import QuotaEntry
from malpan.teams.models import Team
from tests.arena.answers import answered
from tests.arena.conftest import World, judge_everything, make_world
from tests.factories import UserFactory
from tests.malpan_client.conftest import Outcome

Desk = Callable[..., Outcome]


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def desk(world: World, by_person: Callable[..., Outcome]) -> Desk:
    """The command of the organiser."""
    return lambda *words, status=0: by_person(world.owner, *words, status=status)


@pytest.fixture
def slug(world: World) -> str:
    return world.competition.slug


def test_a_team_of_a_baseline_is_made_and_changed(desk: Desk, slug: str) -> None:
    person = UserFactory.create()
    made = desk("teams", "create", slug, "기준 모델", "--email", person.email, "--baseline", "--json").json
    assert Team.objects.get(number=made["number"], competition__slug=slug).is_baseline
    listed = desk("teams", "list", slug).out
    assert "기준 모델" in listed
    assert "고래바다" in listed
    changed = desk("teams", "update", slug, str(made["number"]), "--no-baseline", "--program", "--name", "새 이름").out
    assert "새 이름" in changed
    assert "프로그램" in changed
    assert desk("teams", "update", slug, str(made["number"]), status=2).out == ""


def test_slots_are_granted_refunded_and_reset(desk: Desk, slug: str, world: World) -> None:
    Phase.objects.filter(pk=world.phase.pk).update(total_limit=10)
    place, team = f"{slug}/{world.track.slug}/main", ("--team", "1")
    for more in ((), ("--all", *team)):
        desk("quota", "grant", place, "2", "--reason", "장애", *more, status=2)
    granted = desk("quota", "grant", place, "2", "--reason", "장애", *team, "--json").json
    assert granted["granted_total"] == 2
    assert "오늘 남은 횟수" in desk("quota", "show", place, *team).out
    assert desk("quota", "grant", place, "1", "--reason", "모두", "--all", status=2).out == ""  # nobody has agreed
    assert "4팀" in desk("quota", "grant", place, "1", "--reason", "모두", "--all", "--yes").out
    submission = str(world.submissions[1].public_id)
    desk("quota", "refund", place, submission, *team, "--reason", "잘못된 채점")
    assert "모든" not in desk("quota", "reset", place, *team, "--reason", "다시").out
    desk("quota", "reset", place, "--all", "--reason", "다시", "--yes")
    kinds = set(QuotaEntry.objects.filter(team=world.teams[1]).values_list("kind", flat=True))
    lines = desk("quota", "ledger", place, *team, "--json").json["lines"]
    assert {each["kind"] for each in lines} == kinds
    assert "장애" in desk("quota", "ledger", place, *team).out


def test_a_campaign_is_run_by_the_command_alone(desk: Desk, slug: str, world: World, tmp_path: Path) -> None:
    place = f"{slug}/{world.track.slug}"
    assert "사람 평가가 없습니다" in desk("arena", "list", slug).out
    text = tmp_path / "rubric.json"
    text.write_text(json.dumps({"title_ko": "기준표", "guideline_ko": "두 출력을 읽고 견줍니다."}), encoding="utf-8")
    rubric = desk("arena", "rubric", place, str(text), "--json").json
    assert "기준표" in desk("arena", "rubrics", place).out
    settings = ("--title-ko", "사람 평가", "--protocol", "pairwise", "--rubric", str(rubric["id"]))
    small = ("--item-count", "12", "--units-per-item", "2", "--judges-per-unit", "1", "--calibration-count", "2")
    made = desk("arena", "create", f"{place}/main", *settings, *small, "--json").json
    pk = str(made["id"])
    campaign = Campaign.objects.get(pk=pk)
    assert "다른 이름" in desk("arena", "update", slug, pk, "--title-ko", "다른 이름").out
    assert desk("arena", "update", slug, pk, status=2).out == ""
    assert "고래바다" in desk("arena", "systems", slug, pk, "--top", "3").out
    ids = [str(row.public_id) for row in world.submissions.values()]
    assert len(desk("arena", "systems", slug, pk, *ids, "--json").json["systems"]) == 4
    desk("arena", "systems", slug, pk, *ids, "--top", "3", status=2)

    invited = desk("arena", "invite", slug, pk, "a@example.com", "b@example.com").out
    assert "a@example.com" in invited
    listed = desk("arena", "judges", slug, pk).out
    assert "수락 전" in listed
    assert "a@example.com" not in listed
    CampaignJudge.objects.filter(campaign=campaign).delete()
    for _number in range(3):
        world.judge(campaign)

    assert "바꾼 것이 없습니다" in desk("arena", "open", slug, pk, "--dry-run").out
    assert desk("arena", "open", slug, pk, status=2).out == ""
    assert "진행" in desk("arena", "open", slug, pk, "--yes").out
    assert "0명에게 알렸습니다" not in desk("arena", "remind", slug, pk).out
    judge_everything(campaign)
    assert "마감" in desk("arena", "close", slug, pk, "--yes").out
    desk("arena", "votes", slug, pk, status=6)  # nothing is published


def test_a_closed_campaign_is_published_and_its_votes_are_fetched(
    desk: Desk, slug: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = world.closed()
    answered(computed_result, campaign=campaign)  # as a worker did
    pk = str(campaign.pk)
    assert "바꾼 것이 없습니다" in desk("arena", "publish", slug, pk, "--dry-run").out
    assert "1번째로 발표했습니다" in desk("arena", "publish", slug, pk, "--yes").out
    monkeypatch.chdir(tmp_path)
    told = desk("arena", "votes", slug, pk, "--json").json
    assert hashlib.sha256(Path(told["path"]).read_bytes()).hexdigest() == told["sha256"]
    desk("arena", "votes", slug, pk, status=1)  # it is there already
    desk("arena", "votes", slug, pk, "--force", "--snapshot", "1")
    assert "발표" in desk("arena", "show", slug, pk).out


def test_what_goes_for_good_is_asked_first(desk: Desk, slug: str, world: World) -> None:
    pk = str(world.campaign().pk)
    desk("arena", "remove", slug, pk, status=2)
    assert "지웠습니다" in desk("arena", "remove", slug, pk, "--yes").out
    assert not Campaign.objects.exists()
