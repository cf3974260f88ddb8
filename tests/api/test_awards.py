"""Awards by the API: proposed, given, put in order, published, and read by everybody."""

from __future__ import annotations

from typing import Any

from django.test import Client

from malpan.competitions.models import Competition
from malpan.teams.services import disqualify_team
from tests.api.test_contest import Caller
from tests.stages.conftest import Contest, contest, made_contest, make_contest

__all__ = ["contest", "made_contest"]
DAY = "2026-12-05"


def manage(contest: Contest) -> str:
    return f"/competitions/{contest.competition.slug}/manage/awards/"


def proposal(contest: Contest) -> str:
    return f"/competitions/{contest.competition.slug}/manage/tracks/{contest.track.slug}/awards/"


def read(contest: Contest) -> Any:
    answer = Client().get(f"/api/v1/competitions/{contest.competition.slug}/awards/")
    assert answer.status_code == 200
    return answer.json()


def test_awards_are_proposed_given_published_and_read(contest: Contest) -> None:
    Competition.objects.filter(pk=contest.competition.pk).update(is_published=True)
    writer, place = Caller(contest.writer), manage(contest)
    proposed = writer("GET", f"{proposal(contest)}?places=2")
    assert [(each["team_number"], each["rank"], each["sharing"], each["title_ko"]) for each in proposed] == [
        (1, 1, 1, "대상"),
        (2, 2, 1, "최우수상"),
    ]
    assert writer("GET", place) == [], "a proposal stores nothing"
    for each in proposed:
        body = {"team_number": each["team_number"], "title_ko": each["title_ko"], "title_en": each["title_en"]}
        made = writer("POST", place, {**body, "awarded_on": DAY, "track": contest.track.slug}, 201)
    assert (made["position"], made["number"], made["published_at"], made["track"]) == (
        2,
        None,
        None,
        contest.track.slug,
    )
    moved = writer("POST", f"{place}{made['id']}/move/", {"position": 1})
    assert [each["title_ko"] for each in moved] == ["최우수상", "대상"]
    changed = writer("PATCH", f"{place}{made['id']}/", {"prize_ko": "300만 원", "track": None})
    assert (changed["prize_ko"], changed["track"], changed["title_ko"]) == ("300만 원", None, "최우수상")

    assert read(contest) == []
    writer("POST", f"{place}publish/")
    assert [
        (each["number"], each["title"], each["team"], each["prize"], each["awarded_on"]) for each in read(contest)
    ] == [
        ("2026-1", "최우수상", contest.teams[2].name, "300만 원", DAY),
        ("2026-2", "대상", contest.teams[1].name, "", DAY),
    ]
    assert "id" not in read(contest)[0]
    assert writer("POST", f"{place}publish/", status=409)["code"] == "nothing_to_award"
    writer("DELETE", f"{place}{made['id']}/", status=204)
    assert [each["number"] for each in read(contest)] == ["2026-2"]
    disqualify_team(team=contest.teams[1], actor=contest.writer, note_ko="사유")
    assert read(contest) == []
    assert [each["is_disqualified"] for each in writer("GET", place)] == [True]
    writer("POST", f"{place}withdraw/")
    assert [each["published_at"] for each in writer("GET", place)] == [None]


def test_refusals_say_what_is_wrong(contest: Contest) -> None:
    writer, place = Caller(contest.writer), manage(contest)
    award = {"team_number": 1, "title_ko": "대상", "awarded_on": DAY}
    assert writer("POST", place, award | {"team_number": 99}, 404)["code"] == "team_not_found"
    assert writer("POST", place, award | {"track": "none"}, 404)["code"] == "track_not_found"
    assert writer("POST", place, award | {"awarded_on": "1999-01-01"}, 422)["code"] == "award_invalid"
    assert writer("POST", place, award | {"title_ko": None}, 422)["code"] == "fields_invalid"
    made = writer("POST", place, award, 201)
    assert writer("POST", f"{place}{made['id']}/move/", {"position": 2}, 422)["code"] == "award_invalid"
    assert writer("GET", f"{proposal(contest)}?places=21", status=422)["code"] == "award_invalid"
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="사유")
    refused = writer("POST", place, award | {"team_number": 2}, 409)
    assert (refused["code"], contest.teams[2].name in refused["detail"]) == ("award_to_disqualified", True)
    contest.track.phases.update(final_published_at=None)
    assert writer("POST", place, award, 409)["code"] == "no_final_result"
    assert writer("GET", proposal(contest), status=409)["code"] == "no_final_result"


def test_an_award_of_another_competition_is_not_found(contest: Contest) -> None:
    made = Caller(contest.writer)("POST", manage(contest), {"team_number": 1, "title_ko": "상", "awarded_on": DAY}, 201)
    other = make_contest()
    for method, tail, body in (
        ("PATCH", "", {"title_ko": "x"}),
        ("DELETE", "", None),
        ("POST", "move/", {"position": 1}),
    ):
        found = Caller(other.writer)(method, f"{manage(other)}{made['id']}/{tail}", body, 404)
        assert found["code"] == "award_not_found"
