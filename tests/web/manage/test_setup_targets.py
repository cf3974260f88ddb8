"""The page of a track's baseline and milestones: filled row by row or with published figures, also while it runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from malpan.competitions.models import Track
from malpan.competitions.targets import TARGETS_MAX, add_published_targets, set_targets, targets_of
from malpan.submissions.models import ScoringRun
from malpan.web.presenters.scores import progress_of
from scoring.recipes.targets import AI_HUB_TARGETS, Target
from tests.factories import PhaseFactory, TeamFactory, TrackFactory, finished_submission
from tests.web import html
from tests.web.manage_people import client_with_role

GOAL = {"kind": "milestone", "value": "0.5", "label_ko": "목표", "label_en": "Goal", "is_comparable": "on"}
BASELINE = {"kind": "baseline", "value": "0.3", "label_ko": "작년", "note_ko": "다른 데이터"}
EMPTY = {"kind": "milestone", "score": "final_score", "value": "", "label_ko": "", "is_comparable": "on"}


@pytest.fixture
def track(db: None) -> Track:
    return TrackFactory.create(recipe="captioning@1", score_scale=1, score_decimals=4)


@pytest.fixture
def organiser(track: Track) -> Client:
    return client_with_role(track.competition, "organiser")


def address(track: Track, page: str = "targets/") -> str:
    return f"/competitions/{track.competition.slug}/manage/setup/tracks/{track.slug}/{page}"


def filled(*rows: dict[str, str], known: int = 0) -> dict[str, str]:
    count = {"form-TOTAL_FORMS": str(len(rows)), "form-INITIAL_FORMS": str(known)}
    return count | {f"form-{place}-{name}": value for place, row in enumerate(rows) for name, value in row.items()}


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def test_rows_that_are_filled_in_become_targets_and_empty_ones_nothing(track: Track, organiser: Client) -> None:
    response = organiser.post(address(track), filled(GOAL, EMPTY, BASELINE))
    assert response["Location"] == address(track)
    assert targets_of(track) == [
        Target("baseline", 0.3, "작년", "", is_comparable=False, note_ko="다른 데이터"),
        Target("milestone", 0.5, "목표", "Goal"),
    ]


def test_the_form_shows_what_is_set_and_gives_it_back_unchanged(track: Track, organiser: Client) -> None:
    add_published_targets(track=track, actor=None)
    page = page_of(organiser.get(address(track)))
    rows = page.all("fieldset", "target-row")
    assert [row.one("legend").text for row in rows] == [
        *("AI 허브 기준선 0.3052", "목표 0.336", "목표 0.366", "목표 0.4"),
        *("새로 더하기", "새로 더하기"),
    ]
    sent = [
        {"kind": t.kind, "value": str(t.value), "label_ko": t.label_ko, "label_en": t.label_en, "note_ko": t.note_ko}
        | {"note_en": t.note_en}
        | ({"is_comparable": "on"} if t.is_comparable else {})
        for t in targets_of(track)
    ]
    organiser.post(address(track), filled(*sent, EMPTY, EMPTY, known=4))
    assert targets_of(track) == list(AI_HUB_TARGETS)


def test_a_row_is_deleted_by_its_box(track: Track, organiser: Client) -> None:
    set_targets(track=track, targets=[Target("milestone", 0.5, "목표", "Goal")], actor=None)
    organiser.post(address(track), filled(GOAL | {"DELETE": "on"}, EMPTY, known=1))
    assert targets_of(track) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (GOAL | {"value": "33.6"}, "0부터 1까지의 수"),
        (GOAL | {"value": "-1"}, "0부터 1까지의 수"),
        (GOAL | {"value": "nan"}, "0부터 1까지의 수"),
        (GOAL | {"value": "삼할"}, "0부터 1까지의 수"),
        (GOAL | {"value": ""}, "0부터 1까지의 수"),
        (GOAL | {"label_ko": "  "}, "순위표에 보일 이름"),
        (GOAL | {"kind": "else"}, "else"),
        (BASELINE | {"value": "0"}, "0보다 커야"),
    ],
)
def test_a_bad_row_is_refused_with_a_clear_word_and_nothing_changes(
    track: Track, organiser: Client, row: dict[str, str], words: str
) -> None:
    response = organiser.post(address(track), filled(GOAL, row))
    assert response.status_code == 422
    assert words in page_of(response).text
    assert targets_of(track) == []


def test_two_baselines_and_too_many_rows_are_refused(track: Track, organiser: Client) -> None:
    response = organiser.post(address(track), filled(BASELINE, BASELINE | {"value": "0.2"}))
    assert "기준선은 하나만" in page_of(response).one("p", "error").text
    many = [GOAL | {"value": str(n / 100)} for n in range(TARGETS_MAX + 1)]
    response = organiser.post(address(track), filled(*many))
    assert response.status_code == 422
    assert "10개까지" in page_of(response).one("p", "error").text
    assert organiser.post(address(track), filled(*many * 3)).status_code == 422
    assert organiser.post(address(track), {}).status_code == 422
    assert targets_of(track) == []


def test_the_published_figures_are_put_in_only_by_the_button(track: Track, organiser: Client) -> None:
    assert "0.3052" not in page_of(organiser.get(address(track, ""))).text
    assert "넣기" in page_of(organiser.get(address(track))).text
    assert organiser.post(address(track, "targets/published/"))["Location"] == address(track)
    assert targets_of(track) == list(AI_HUB_TARGETS)
    assert "AI 허브 기준선 0.3052" in page_of(organiser.get(address(track, ""))).text


def test_milestones_of_other_scores_are_put_in_by_their_own_buttons_and_draw_no_line(
    track: Track, organiser: Client
) -> None:
    buttons = [button.text for button in page_of(organiser.get(address(track))).all("button", "secondary")]
    assert [" ".join(text.split()) for text in buttons] == [
        *("AI 허브 기준선과 이정표 넣기", "CIDEr-D 이정표 넣기", "BERTScore 이정표 넣기")
    ]
    for score in ("cider", "bertscore"):
        assert organiser.post(address(track, "targets/published/"), {"score": score})["Location"] == address(track)
    shown = page_of(organiser.get(address(track, ""))).text
    assert "CIDEr-D 목표 1.20" in shown
    assert "BERTScore 목표 0.850" in shown
    phase = PhaseFactory.create(track=track)
    submission = finished_submission(phase, TeamFactory.create(competition=track.competition), 0.35)
    scores = {"final_score": 0.35, "cider": 1.05, "bertscore": 0.7}
    ScoringRun.objects.filter(submission=submission).update(recipe="captioning@1", scores=scores)
    board = page_of(Client().get(f"/competitions/{track.competition.slug}/board/"))
    assert board.all("tr", "mark") == []
    run = ScoringRun.objects.get(submission=submission)
    assert progress_of(run, track) == [
        "다음 이정표: BERTScore 목표 0.750",
        "도달한 이정표: CIDEr-D 목표 0.80, CIDEr-D 목표 1.00",
        "다음 이정표: CIDEr-D 목표 1.20",
    ]


def test_a_row_may_be_of_another_score_which_may_exceed_one(track: Track, organiser: Client) -> None:
    organiser.post(address(track), filled(GOAL | {"score": "cider", "value": "1.5"}))
    assert targets_of(track) == [Target("milestone", 1.5, "목표", "Goal", score="cider")]
    for wrong in (GOAL | {"value": "1.5"}, GOAL | {"score": "cider", "value": "10.5"}, GOAL | {"score": "nothing"}):
        assert organiser.post(address(track), filled(wrong)).status_code == 422
    assert organiser.post(address(track), filled(BASELINE | {"score": "cider"})).status_code == 422
    assert len(targets_of(track)) == 1


def test_another_baseline_stays_and_the_page_says_why(track: Track, organiser: Client) -> None:
    organiser.post(address(track), filled(BASELINE))
    response = organiser.post(address(track, "targets/published/"))
    assert response.status_code == 422
    assert "기준선은 하나만" in page_of(response).one("p", "error").text
    assert [target.value for target in targets_of(track)] == [0.3]


def test_there_is_no_such_button_where_no_figures_are_known(db: None) -> None:
    track = TrackFactory.create(recipe="rag-qa@1")
    client = client_with_role(track.competition, "organiser")
    assert "AI 허브" not in page_of(client.get(address(track))).text


def test_targets_change_on_a_board_that_is_public_and_scored(track: Track, organiser: Client) -> None:
    phase = PhaseFactory.create(track=track)
    submission = finished_submission(phase, TeamFactory.create(competition=track.competition), 0.35)
    ScoringRun.objects.filter(submission=submission).update(recipe="captioning@1")
    board = f"/competitions/{track.competition.slug}/board/"
    organiser.post(address(track, "targets/published/"))
    marks = [row.one("span", "mark-text").text for row in page_of(Client().get(board)).all("tr", "mark")]
    assert marks == ["목표 0.400", "목표 0.366", "목표 0.336", "AI 허브 기준선 0.3052"]
    submission.live_run.refresh_from_db()
    assert submission.live_run.final_score == 0.35


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("organiser", 200), ("operator", 403), ("viewer", 403)])
def test_only_those_who_manage_the_competition_set_targets(track: Track, role: str, status: int) -> None:
    client = client_with_role(track.competition, role)
    assert client.get(address(track)).status_code == status
    if status == 403:
        assert client.post(address(track), filled(GOAL)).status_code == 403
        assert client.post(address(track, "targets/published/")).status_code == 403
        assert targets_of(track) == []
    assert Client().post(address(track), filled(GOAL)).status_code in (302, 404)
