"""The stages of a final by the API: set up, entered by one person, confirmed by another, published."""

from __future__ import annotations

from malpan.stages.models import Stage, StageDecision, StageSnapshot, StageTable
from tests.api.test_contest import Caller
from tests.stages.conftest import contest, made_contest

__all__ = ["contest", "made_contest"]
TABLE = "팀 번호,점수\n1,50\n2,90.5\n3,70\n"


def made(contest):
    """The addresses of both stages; the first is published."""
    writer = Caller(contest.writer)
    manage = f"/competitions/{contest.competition.slug}/manage"
    of_track = f"{manage}/tracks/{contest.track.slug}/stages/"
    first = writer("POST", of_track, {"title_ko": "순위표", "weight": 50, "cut": 3, "phase": contest.phase.pk}, 201)
    scale = {"scale_min": 0, "scale_max": 100}
    second = writer("POST", of_track, {"title_ko": "발표", "weight": 50, "notice_en": "Talk", **scale}, 201)
    assert (first["source"], second["source"], second["position"]) == ("board", "table", 2)
    ones = [f"{manage}/stages/{each['id']}" for each in (first, second)]
    result = writer("GET", f"{ones[0]}/result/")
    assert [row["team_number"] for row in result["rows"] if row["goes_on"]] == [1, 2, 3]
    published = writer("POST", f"{ones[0]}/result/", {"sha256": result["sha256"]}, 201)
    assert (published["number"], published["sha256"]) == (1, result["sha256"])
    return manage, *ones


def test_a_final_is_judged_and_published(contest):
    manage, _first, second = made(contest)
    writer, reader = Caller(contest.writer), Caller(contest.reader)
    assert writer("GET", f"{second}/table/", status=409)["code"] == "table_missing"
    teams = writer("GET", f"{second}/teams/")
    assert [(each["team_number"], each["score"]) for each in teams] == [(1, None), (2, None), (3, None)]

    changes = writer("POST", f"{second}/table/preview/", {"text": TABLE})
    assert [(each["before"], each["after"], each["is_changed"]) for each in changes][:2] == [
        (None, 50.0, True),
        (None, 90.5, True),
    ]
    assert not StageTable.objects.exists()
    entered = writer("POST", f"{second}/table/", {"text": TABLE}, 201)
    assert (entered["is_own"], entered["verdict"], entered["number"]) == (True, None, 1)

    seen = {"number": 1, "sha256": entered["sha256"]}
    assert writer("POST", f"{second}/confirm/", seen, 409)["code"] == "same_person"
    assert reader("GET", f"{second}/result/", status=409)["code"] == "table_not_confirmed"
    assert reader("GET", f"{second}/table/")["scores"][1]["score"] == 90.5
    assert reader("POST", f"{second}/confirm/", {**seen, "sha256": "0" * 64}, 409)["code"] == "table_changed"
    assert reader("POST", f"{second}/confirm/", seen)["verdict"] == "confirmed"
    result = reader("GET", f"{second}/result/")
    assert [row["team_number"] for row in result["rows"]] == [2, 3, 1]
    reader("POST", f"{second}/result/", {"sha256": result["sha256"]}, 201)

    place = f"{manage}/tracks/{contest.track.slug}/standing/"
    standing = reader("GET", place)
    assert (standing["published"], standing["rows"][0]["rank"]) == (None, 1)
    reader("POST", place, {"sha256": standing["sha256"]}, 201)
    again = reader("GET", place)
    assert (again["published"], again["is_published_so"]) == (1, True)
    assert StageSnapshot.objects.count() == 3
    assert [each["published"] for each in reader("GET", f"{manage}/stages/")] == [1, 1]


def test_a_second_person_sends_a_table_back(contest):
    _manage, _first, second = made(contest)
    entered = Caller(contest.writer)("POST", f"{second}/table/", {"text": TABLE}, 201)
    body = {"number": 1, "sha256": entered["sha256"], "reason": "2번 팀의 점수가 다릅니다."}
    Caller(contest.reader)("POST", f"{second}/reject/", body)
    assert StageDecision.objects.get().verdict == "rejected"
    one = Caller(contest.writer)("GET", f"{second}/")
    assert (one["table_state"], one["tables"][0]["verdict_reason"]) == ("rejected", body["reason"])
    corrected = {"text": TABLE.replace("90.5", "9.5"), "based_on": 1}
    assert Caller(contest.writer)("POST", f"{second}/table/", corrected, 422)["code"] == "reason_missing"
    Caller(contest.writer)("POST", f"{second}/table/", {**corrected, "reason": "오타"}, 201)


def test_a_table_with_faults_says_where_they_are(contest):
    _manage, _first, second = made(contest)
    found = Caller(contest.writer)("POST", f"{second}/table/", {"text": "팀 번호,점수\n1,500\n2,90\n9,1\n"}, 422)
    assert (found["code"], found["total"]) == ("table_invalid", 3)
    assert [(each["line"], each["code"]) for each in found["errors"]] == [
        (2, "score_out_of_scale"),
        (4, "team_unknown"),
        (None, "team_missing"),
    ]
    assert not StageTable.objects.exists()


def test_settings_are_refused_at_their_field_and_changed_one_by_one(contest):
    _manage, first, second = made(contest)
    writer = Caller(contest.writer)
    found = writer("PATCH", f"{second}/", {"scale_max": 0}, 422)
    assert (found["code"], found["errors"][0]["field"]) == ("stage_settings_invalid", "body.scale_max")
    assert writer("PATCH", f"{second}/", {"campaign": 10**6}, 422)["errors"][0]["field"] == "body.campaign"
    found = writer("PATCH", f"{second}/", {"phase": contest.phase.pk}, 422)
    assert found["errors"][0]["field"] == "body.phase"
    assert "둘째 심사부터는 순위표를 읽지 않습니다" in str(found)
    changed = writer("PATCH", f"{second}/", {"weight": 7, "cut": None})
    assert (changed["weight"], changed["scale_max"], changed["notice_en"]) == (7, 100.0, "Talk")
    assert writer("PATCH", f"{first}/", {"weight": 7}, 409)["code"] == "stage_published"
    writer("DELETE", f"{second}/", status=204)
    assert Stage.objects.count() == 1
