"""The manage pages' pages of submissions: every score, every warning, item values, the file for those who may."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from malpan.core.models import AuditEntry
from malpan.core.storage import store_private
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun, Submission
from malpan.teams.models import Team
from scoring.signature import metric_signatures
from tests.factories import (
    CANARY,
    CompetitionFactory,
    PhaseFactory,
    SubmissionFactory,
    TeamFactory,
    finished_submission,
    person_in,
    prediction_bytes,
)
from tests.web import html
from tests.web.conftest import SCORES, Contest, client_of

Row = dict[str, str]


def staff(contest: Contest, role: str) -> Client:
    return client_of(person_in(contest.competition, role))


@pytest.fixture
def viewer(contest: Contest) -> Client:
    return staff(contest, "viewer")


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def rows_of(client: Client, contest: Contest, query: str = "") -> list[html.Element]:
    tables = page_of(client, contest.url(f"manage/submissions/{query}")).all("tbody")
    return tables[0].all("tr") if tables else []


def teams_of(client: Client, contest: Contest, query: str = "") -> list[str]:
    return [row.all("td", "name")[0].text for row in rows_of(client, contest, query)]


def exported(client: Client, contest: Contest, query: str = "") -> list[Row]:
    answer = client.get(contest.url(f"manage/submissions/export.csv{query}"))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_the_table_shows_what_came_in_newest_first(contest: Contest, viewer: Client) -> None:
    assert len(rows_of(viewer, contest)) == Submission.objects.count()
    [row] = [each for each in rows_of(viewer, contest) if "93.0000000" in each.text]
    assert "Better" in row.text
    assert "완료" in row.text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("?team=better", 1),
        ("?state=queued", 1),
        ("?state=failed", 1),
        ("?state=refunded", 1),
        ("?state=withdrawn", 0),
        ("?warned=any", 1),
        ("?track=norms", 6),
        ("?track=norms&state=running", 1),
    ],
)
def test_the_table_is_filtered(contest: Contest, viewer: Client, query: str, count: int) -> None:
    assert len(rows_of(viewer, contest, query)) == count


def test_those_whose_answers_are_worth_reading_are_told_from_those_with_any_warning(
    contest: Contest, viewer: Client
) -> None:
    """Of the demo models every score carries a warning; of a repeated answer few do."""
    noted, plain = (
        finished_submission(contest.phase, TeamFactory.create(competition=contest.competition, name=name), 0.5)
        for name in ("Noted", "Plain")
    )
    repeated = {"count": 80, "items": 100, "percent": 80.0, "reference_percent": 1.0}
    demo = {"code": "demo_models", "params": {"profile": "demo"}}
    for row, warnings in ((noted, [demo, {"code": "answer_repeated", "params": repeated}]), (plain, [demo])):
        ScoringRun.objects.filter(pk=row.live_run_id).update(warnings=warnings)

    assert teams_of(viewer, contest, "?warned=noted") == ["Noted"]
    assert {"Noted", "Plain"} <= set(teams_of(viewer, contest, "?warned=any"))
    assert teams_of(viewer, contest, "?sort=warnings")[0] == "Noted"
    page = page_of(viewer, contest.url(f"manage/submissions/{noted.public_id}/"))
    assert "똑같은 답변 하나가 100개 문항 가운데 80개(80.0%)에 쓰였습니다." in page.text


def test_a_filter_that_makes_no_sense_is_said_beside_its_field(contest: Contest, viewer: Client) -> None:
    page = page_of(viewer, contest.url("manage/submissions/?track=nowhere"))
    assert page.one("ul", "errorlist").text


def test_the_table_is_sorted_by_score_with_those_without_one_last(contest: Contest, viewer: Client) -> None:
    assert teams_of(viewer, contest, "?sort=score")[:3] == ["Better", "Team One", "Baseline"]
    assert teams_of(viewer, contest, "?sort=score&order=asc")[:3] == ["Baseline", "Team One", "Better"]


def test_a_hundred_stand_on_a_page(contest: Contest, viewer: Client) -> None:
    SubmissionFactory.create_batch(100, phase=contest.phase, team=contest.team)
    with CaptureQueriesContext(connection) as queries:
        first = page_of(viewer, contest.url("manage/submissions/?team=one"))
    assert len(first.one("tbody").all("tr")) == 100
    assert len(queries) < 20
    [link] = [each for each in first.one("nav", "paging").all("a") if each.attributes.get("rel") == "next"]
    assert (
        len(page_of(viewer, contest.url("manage/submissions/") + link.attributes["href"]).one("tbody").all("tr")) == 4
    )


def test_submissions_of_another_competition_are_not_there(contest: Contest, viewer: Client) -> None:
    elsewhere = finished_submission(PhaseFactory.create(), TeamFactory.create(name="남의 팀"), 0.5)
    assert "남의 팀" not in viewer.get(contest.url("manage/submissions/")).content.decode()
    assert viewer.get(contest.url(f"manage/submissions/{elsewhere.public_id}/")).status_code == 404
    assert "남의 팀" not in [row["team"] for row in exported(viewer, contest)]


@pytest.mark.parametrize("page", ["", "?state=withdrawn", "?sort=warnings&order=asc"])
def test_the_table_is_sound(contest: Contest, viewer: Client, page: str) -> None:
    assert html.problems(page_of(viewer, contest.url(f"manage/submissions/{page}"))) == []


def test_an_empty_manage_says_what_will_stand_there(admin_client: Client) -> None:
    address = f"/competitions/{CompetitionFactory.create().slug}/manage/submissions/"
    assert "아직 제출이 없습니다." in page_of(admin_client, address).text


# --- the export -------------------------------------------------------------------------------------------------------
def test_the_export_holds_the_rows_of_the_page_with_every_score(contest: Contest, viewer: Client) -> None:
    [row] = exported(viewer, contest, "?team=better")
    assert (row["team"], row["final_score"], row["bleurt"]) == ("Better", "0.93", str(SCORES["bleurt"]))
    assert row["created_at"].endswith("+09:00")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "\t=1", " =1"])
def test_no_cell_of_the_export_is_a_formula(contest: Contest, viewer: Client, name: str) -> None:
    Team.objects.filter(name="Better").update(name=name)
    [row] = [each for each in exported(viewer, contest) if each["final_score"] == "0.93"]
    assert row["team"] == f"'{name}"


def test_hidden_scores_stand_in_the_export_and_the_table(contest: Contest, viewer: Client) -> None:
    hide(contest.finished.live_run, 0.123456789)
    [row] = [each for each in exported(viewer, contest) if each["hidden_final_score"]]
    assert row["hidden_final_score"] == "0.123456789"
    assert (
        "12.3456789" in page_of(viewer, contest.url("manage/submissions/?sort=hidden")).one("tbody").all("tr")[0].text
    )


# --- one submission ---------------------------------------------------------------------------------------------------
def hide(run: ScoringRun | None, score: float, **fields: Any) -> None:
    assert run is not None
    values = {"scores": {"final_score": score}, "signature_hash": "h" * 64, **fields}
    HiddenResult.objects.create(run=run, final_score=score, **values)


def keep_values(run: ScoringRun | None, metric: str, values: dict[str, Any], signature: str = "e") -> None:
    assert run is not None
    MetricResult.objects.create(
        submission=run.submission,
        reference_version=run.reference_version,
        metric=metric,
        metric_signature=signature,
        values=values,
    )


def one(contest: Contest) -> str:
    return contest.url(f"manage/submissions/{contest.finished.public_id}/")


def test_every_score_stands_beside_the_hidden_one(contest: Contest, viewer: Client) -> None:
    hide(contest.finished.live_run, 0.5, scores={"final_score": 0.5, "bleurt": 0.25})
    table = page_of(viewer, one(contest)).all("tbody")[0]
    shown = {row.one("th").text: [cell.text for cell in row.all("td")] for row in table.all("tr")}
    assert shown["최종 점수"] == ["82.2283946", "50.0000000"]
    assert shown["BLEURT"] == ["61.0000000", "25.0000000"]


def test_warnings_for_organisers_stand_there_in_words(contest: Contest, viewer: Client) -> None:
    params = {"count": 3, "items": 3, "percent": 100.0, "reference_percent": 10.0}
    ScoringRun.objects.filter(pk=contest.finished.live_run_id).update(
        warnings=[{"code": "answer_repeated", "params": params}, {"code": "gone_since", "params": {}}]
    )
    warnings = page_of(viewer, one(contest)).one("ul", "warnings")
    assert "똑같은 답변 하나가 3개 문항 가운데 3개" in warnings.text
    assert "운영자에게만 보임" in warnings.text
    assert "gone_since" in warnings.text


def test_warnings_are_in_the_language_of_who_reads_them(contest: Contest, viewer: Client) -> None:
    params = {"count": 80, "items": 100, "percent": 80.0, "reference_percent": 1.0}
    ScoringRun.objects.filter(pk=contest.finished.live_run_id).update(
        warnings=[{"code": "answer_repeated", "params": params}]
    )
    page = html.parse(viewer.get(one(contest), headers={"accept-language": "en"}).content.decode())
    warnings = page.one("ul", "warnings").text
    assert "One and the same answer stands for 80 of 100 items (80.0%)" in warnings
    assert "똑같은 답변" not in warnings


def test_items_stand_lowest_first_with_ids_and_values_alone(contest: Contest, viewer: Client) -> None:
    run = contest.finished.live_run
    keep_values(run, "exact_match", {"q1": 1.0, "q2": 0.0, "q3": 1.0})
    keep_values(run, "bleurt", {"q1": 0.4, "q3": 0.3})
    keep_values(run, "bleu", {"q1": [1, 2, 3]})
    page = page_of(viewer, one(contest) + "?by=bleurt")
    rows = [[cell.text for cell in row.all()] for row in page.all("tbody")[-1].all("tr")]
    assert rows == [["q3", "0.3000", "1.0000"], ["q1", "0.4000", "1.0000"], ["q2", "–", "0.0000"]]
    assert CANARY not in page.text


def test_only_the_values_behind_the_score_are_shown(contest: Contest, viewer: Client) -> None:
    signature = {"metrics": {"exact_match": {"metric": "exact_match@2"}}}
    ScoringRun.objects.filter(pk=contest.finished.live_run_id).update(signature=signature)
    keep_values(contest.finished.live_run, "exact_match", {"q1": 0.0}, signature="older")
    keep_values(contest.finished.live_run, "exact_match", {"q1": 1.0}, metric_signatures(signature)["exact_match"])
    assert page_of(viewer, one(contest)).all("tbody")[-1].one("tr").one("td").text == "1.0000"


def test_each_item_of_a_split_says_which_part_it_belongs_to(contest: Contest, viewer: Client) -> None:
    run = contest.finished.live_run
    assert run is not None
    run.reference_version.public_ids = ["q1"]
    run.reference_version.save(update_fields=["public_ids"])
    keep_values(run, "exact_match", {"q1": 1.0, "q2": 0.0})
    rows = [row.text for row in page_of(viewer, one(contest)).all("tbody")[-1].all("tr")]
    assert rows == ["q2 비공개 부분 0.0000", "q1 공개 부분 1.0000"]


def test_the_page_is_sound_with_and_without_a_score(contest: Contest) -> None:
    organiser = staff(contest, "organiser")
    hide(contest.finished.live_run, 0.5)
    for submission in (contest.finished, contest.failed, contest.running, contest.queued):
        address = contest.url(f"manage/submissions/{submission.public_id}/")
        assert html.problems(page_of(organiser, address)) == [], submission.file_name


# --- the file ---------------------------------------------------------------------------------------------------------
def stored(contest: Contest, name: str = "제출 파일.json") -> str:
    file = store_private(prediction_bytes())
    Submission.objects.filter(pk=contest.finished.pk).update(file_sha256=file.sha256, file_name=name)
    return one(contest) + "file/"


def test_an_organiser_takes_the_file_and_the_log_says_so(contest: Contest) -> None:
    organiser = staff(contest, "organiser")
    answer = organiser.post(stored(contest))
    assert b"".join(answer.streaming_content) == prediction_bytes()
    assert answer["Content-Disposition"].startswith("attachment; filename*=utf-8''")
    assert (answer["X-Content-Type-Options"], answer["Content-Type"]) == ("nosniff", "application/octet-stream")
    entry = AuditEntry.objects.get(action="submission.download")
    assert (entry.competition_pk, entry.object_id) == (contest.competition.pk, str(contest.finished.pk))


@pytest.mark.parametrize("name", ['a"\r\nSet-Cookie: x=1.json', "../../etc/passwd", "<script>.html"])
def test_a_hostile_file_name_stays_a_name(contest: Contest, name: str) -> None:
    answer = staff(contest, "organiser").post(stored(contest, name))
    assert answer["Content-Disposition"].startswith("attachment")
    assert "\n" not in answer["Content-Disposition"]


def test_the_file_is_not_given_to_a_look_nor_to_those_who_may_not_manage(contest: Contest) -> None:
    address = stored(contest)
    assert staff(contest, "organiser").get(address).status_code == 405
    for role in ("operator", "viewer"):
        client = staff(contest, role)
        assert client.post(address).status_code == 403
        assert address not in client.get(one(contest)).content.decode()
    assert not AuditEntry.objects.filter(action="submission.download").exists()


def test_participants_and_visitors_do_not_find_the_pages(contest: Contest, member: Client) -> None:
    for page in (
        "manage/submissions/",
        "manage/submissions/export.csv",
        f"manage/submissions/{contest.finished.public_id}/",
    ):
        assert member.get(contest.url(page)).status_code == 404
        assert Client().get(contest.url(page)).status_code == 302
