"""``malpan awards``, against the site itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from malpan.stages.models import Award
from malpan.teams.services import disqualify_team
from tests.malpan_client.conftest import Outcome
from tests.malpan_client.scripted import NOW
from tests.stages.conftest import make_contest

DAY = ("--awarded-on", "2026-12-05")
ONE = {
    "id": 7, "number": None, "position": 1, "title": "대상", "prize": "", "team_number": 2, "team": "말모이",
    "awarded_on": "2026-12-05", "track": None, "title_ko": "대상", "title_en": "", "prize_ko": "", "prize_en": "",
    "published_at": None, "is_disqualified": False,
}  # fmt: skip
LIST = "competitions/spring/manage/awards/"


@pytest.mark.django_db(transaction=True)
def test_awards_are_proposed_given_ordered_published_and_revoked_by_the_command_alone(by_person):
    contest = make_contest()
    slug, place = contest.competition.slug, f"{contest.competition.slug}/{contest.track.slug}"
    first, second = contest.teams[1], contest.teams[2]

    def awards(*words: str, status: int = 0) -> Outcome:
        return by_person(contest.writer, "awards", *words, status=status)

    proposed = awards("propose", slug, "--places", "2").out
    assert "대상" in proposed
    assert f"2 {second.name}" in proposed
    assert "상이 없습니다" in awards("list", slug).out
    made = awards(
        "create", slug, "--team", "1", "--title-ko", "대상", *DAY, "--track", contest.track.slug, "--json"
    ).json
    other = awards("create", slug, "--team", "2", "--title-ko", "우수상", *DAY, "--prize-ko", "100만 원", "--json").json
    assert (made["track"], made["number"], other["position"]) == (contest.track.slug, None, 2)
    assert "이 트랙의 상이 이미 있음" in awards("propose", place, "--places", "1").out
    changed = awards("update", slug, str(made["id"]), "--track", "none", "--title-en", "Grand Prize").out
    assert "대상 / Grand Prize" in changed
    assert Award.objects.get(pk=made["id"]).board_snapshot is None
    moved = awards("move", slug, str(other["id"]), "1", "--json").json["awards"]
    assert [each["id"] for each in moved] == [other["id"], made["id"]]

    assert "바꾼 것이 없습니다" in awards("publish", slug, "--dry-run").out
    assert not Award.objects.exclude(published_at=None).exists()
    assert awards("publish", slug, status=2).out == ""  # nobody has agreed
    assert f"1 {first.name}" in awards("publish", slug, "--yes").out
    assert {award.number for award in Award.objects.all()} == {"2026-1", "2026-2"}
    assert "공개하거나 거둘 상이 없습니다" in awards("publish", slug, "--yes", status=4).err
    assert "번호를 받아" in awards("update", slug, str(made["id"]), "--team", "3", status=4).err
    revoked = awards("remove", slug, str(made["id"]), "--yes").out
    assert "제2026-2호" in revoked
    assert Award.objects.get(pk=made["id"]).revoked_at is not None
    disqualify_team(team=second, actor=contest.writer, note_ko="사유")
    assert "실격한 팀" in awards("list", slug).out
    awards("withdraw", slug, status=2)
    assert "공개 전" in awards("withdraw", slug, "--yes").out


@pytest.mark.django_db(transaction=True)
def test_only_who_manages_gives_awards(by_person):
    contest = make_contest()
    person = contest.teams[1].memberships.get().user
    assert by_person(person, "awards", "list", contest.competition.slug, status=6).out == ""


def test_what_goes_for_good_is_asked_first_and_named(command: Callable[..., Outcome], script):
    script.on("GET", LIST, [ONE, ONE | {"id": 8, "number": "2026-3"}])
    for number, said in (("7", "목록에서 지울까요"), ("8", "제2026-3호")):
        done = command("awards", "remove", "spring", number)
        assert (done.status, said in done.err, "2 말모이" in done.err) == (2, True, True)
    assert command("awards", "remove", "spring", "9").status == 6
    assert script.asked("DELETE") == []


def test_settings_that_are_not_named_are_not_sent(command: Callable[..., Outcome], script):
    script.on("PATCH", f"{LIST}7/", ONE | {"published_at": NOW})
    done = command("awards", "update", "spring", "7", "--prize-ko", "", "--title-en", "none")
    assert "공개 2026-11-20 14:00 KST" in done.out
    assert script.asked("PATCH")[0].body == b'{"title_en": "none", "prize_ko": ""}'
    assert command("awards", "update", "spring", "7").status == 2
