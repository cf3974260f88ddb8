"""Essay scoring on the site: how answers are written, what is refused and where, and how its board sorts."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.competitions.models import Phase
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from scoring.reading.answer_forms import forms_of, reference_forms_of
from scoring.recipes import get_recipe
from tests.factories import CANARY, PhaseFactory, TeamFactory, TrackFactory, UserFactory, finished_submission
from tests.scoring.essays import dumped, reference, traits
from tests.web import html
from tests.web.conftest import client_of
from tests.web.manage.test_phases import manage_of

ROWS = [reference(number) | {"essay": f"{CANARY} 글"} for number in range(4)]


@pytest.fixture
def essay_phase(db: None) -> Phase:
    phase = PhaseFactory.create(track=TrackFactory.create(recipe="essay-scoring@1"), daily_limit=5)
    publish_reference_version(phase=phase, data=dumped(ROWS), actor=None)
    return phase


@pytest.fixture
def scorers(essay_phase: Phase) -> Team:
    team: Team = TeamFactory.create(competition=essay_phase.track.competition, leader=UserFactory.create())
    return team


@pytest.fixture
def scorer(scorers: Team) -> Client:
    return client_of(scorers.memberships.get().user)


def address(phase: Phase, page: str = "submit/") -> str:
    return f"/competitions/{phase.track.competition.slug}/{page}"


def upload(client: Client, phase: Phase, rows: list[Any]) -> Any:
    form = {"file": SimpleUploadedFile("a.jsonl", dumped(rows, as_lines=True)), "track": phase.track.slug, "memo": ""}
    return client.post(address(phase), form, follow=True)


def test_a_file_that_mixes_forms_is_taken(scorer: Client, essay_phase: Phase) -> None:
    answers = [
        {"id": "e0", **traits(3)},
        {"document_id": "doc-1", "judge": traits(4.5)},
        {"essay_id": "e2", "output": "```json"},
        {"essay_id": "doc-3", "output": traits(1)},
    ]
    response = upload(scorer, essay_phase, answers)
    assert Submission.objects.get().item_count == 4
    assert CANARY not in response.content.decode()


def test_a_score_that_is_none_is_located_and_costs_nothing(scorer: Client, essay_phase: Phase) -> None:
    answers = [{"id": f"e{number}", **traits(3)} for number in range(4)]
    answers[2]["content"] = {"score": 6}
    page = html.parse(upload(scorer, essay_phase, answers).content.decode())
    assert Submission.objects.count() == 0
    [error] = Rejection.objects.get().errors
    found = (error["code"], error["line"], error["id"], error["field"])
    assert found == ("score_out_of_range", 3, "e2", "content.score")
    assert "1점에서 5점 사이" in page.text
    assert CANARY not in page.text


def test_a_file_of_which_nothing_can_be_read_is_told_at_once_and_is_no_success(
    scorer: Client, scorers: Team, essay_phase: Phase
) -> None:
    page = html.parse(
        upload(scorer, essay_phase, [{"id": f"e{n}", "output": "모르겠다"} for n in range(4)]).content.decode()
    )
    submission = Submission.objects.get()
    assert submission.file_warnings == [{"code": "nothing_parsed", "params": {"count": 4, "items": "e0, e1, e2, e3"}}]
    [warning] = page.all("li", "notice")
    assert "답변 4개 가운데 하나도 읽지 못해" in warning.text
    assert "e0, e1, e2, e3" in warning.text
    assert '{"content": {"score": 4' in warning.text

    told = submission.file_warnings
    scored = finished_submission(essay_phase, scorers, 0.3, scores={"rmse": 3.5}, file_warnings=told)
    ScoringRun.objects.filter(live_for=scored).update(warnings=told)
    page = html.parse(scorer.get(f"/submissions/{scored.public_id}/").content.decode())
    assert "읽을 수 있는 답이 없음" in page.one("div", "state").text
    assert "채점 완료" not in page.text
    assert page.text.count("답변 4개 가운데 하나도 읽지 못해") == 1


def test_what_cannot_be_read_is_told_before_the_score(scorer: Client, essay_phase: Phase) -> None:
    rows = [{"id": "e0", "output": "```"}, *({"id": f"e{number}", **traits(3)} for number in range(1, 4))]
    page = html.parse(upload(scorer, essay_phase, rows).content.decode())
    assert [row["code"] for row in Submission.objects.get().file_warnings] == ["parse_failed"]
    assert "답변 1개에서 세 영역의 점수를 읽지 못해" in page.text
    assert "읽을 수 있는 답이 없음" not in page.text


def test_a_file_of_another_task_is_one_line(scorer: Client, essay_phase: Phase) -> None:
    upload(scorer, essay_phase, [{"id": f"c{number}", "caption": "아이가 웃는다"} for number in range(200)])
    rejection = Rejection.objects.get()
    assert (rejection.error_count, rejection.errors[0]["code"]) == (1, "other_task_file")


@pytest.mark.parametrize("page", ["manage/references/", "manage/setup/phases/{pk}/references/"])
def test_the_pages_of_references_show_their_form(essay_phase: Phase, page: str) -> None:
    organiser = manage_of(essay_phase, "owner")
    address_of = address(essay_phase, page.format(pk=essay_phase.pk))
    shown = html.parse(organiser.get(address_of).content.decode())
    [form] = reference_forms_of(get_recipe("essay-scoring@1"))
    assert " ".join(form.reference.split()) in shown.text
    assert "average는 적힌 그대로" in shown.text
    assert "judge" not in "".join(each.text for each in shown.all("pre")), "the forms of predictions are not those"


def test_references_without_scores_are_refused_with_their_form(essay_phase: Phase) -> None:
    rows = [{key: value for key, value in row.items() if key != "score"} for row in ROWS]
    form = {"phase": essay_phase.pk, "file": SimpleUploadedFile("r.jsonl", dumped(rows, as_lines=True))}
    shown = manage_of(essay_phase, "owner").post(address(essay_phase, "manage/references/"), form).content.decode()
    assert "어느 글에도 점수(score)가 없습니다" in shown
    assert "문제 파일" not in shown
    assert CANARY not in shown


@pytest.mark.parametrize("page", ["submit/", "data/"])
def test_the_pages_show_every_form_of_an_answer(scorer: Client, essay_phase: Phase, page: str) -> None:
    shown = html.parse(scorer.get(address(essay_phase, page)).content.decode()).text
    assert all(each.example in shown for each in forms_of(get_recipe("essay-scoring@1")))
    assert "document_id" in shown
    english = scorer.get(address(essay_phase, page), headers={"accept-language": "en"}).content.decode()
    assert "An essay is named by id, document_id or essay_id" in english


def test_the_board_leads_to_the_lowest_error_first_and_shows_a_count_as_one(
    scorer: Client, scorers: Team, essay_phase: Phase
) -> None:
    scores = {"rmse": 0.625, "spearman": 0.5, "parse_failures": 3.0}
    finished_submission(essay_phase, scorers, 0.875, scores=scores)
    page = html.parse(scorer.get(address(essay_phase, "board/")).content.decode())
    links = {th.text: th.one("a").attributes["href"] for th in page.all("th") if th.all("a")}
    assert links["RMSE(낮을수록 좋음)"].endswith("?sort=rmse&order=asc")
    assert links["Spearman"].endswith("?sort=spearman")
    cells = [cell.text for cell in page.all("span", "full")]
    assert {"0.6250", "0.5000", "3"} <= set(cells)
    page = html.parse(scorer.get(address(essay_phase, "board/?sort=rmse&order=asc")).content.decode())
    links = {th.text: th.one("a").attributes["href"] for th in page.all("th") if th.all("a")}
    assert links["RMSE(낮을수록 좋음)"].endswith("?sort=rmse&order=desc")
