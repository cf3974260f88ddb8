"""Every publication of a final board can be read and verified later, and says what became of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase, Track
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.integrity import chain, receipts
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team
from tests.factories import PhaseFactory, TeamFactory, finished_submission, leader_of, person_in
from tests.web import html
from tests.web.conftest import client_of
from tests.web.test_chain_pages import body, chain_url, run_script

pytestmark = pytest.mark.django_db
PARTS = [{"score": "exact_match", "weight": 45}, {"score": "bleurt", "weight": 55}]


@pytest.fixture
def phase() -> Phase:
    """Over, of three recorded teams; ranks by exact match and BLEURT."""
    phase = PhaseFactory.create(track__composite=PARTS)
    for number in range(3):
        team = TeamFactory.create(competition=phase.track.competition, name=f"감자팀 {number}")
        scores = {"exact_match": 0.9 - number / 10, "bleurt": (0.2, 0.9, 0.5)[number]}
        row = finished_submission(phase, team, 0.5, scores=scores)
        receipts.issue_receipt(submission=row)
        chain.append_scores([row])
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
    return Phase.objects.get(pk=phase.pk)


@pytest.fixture
def owner(phase: Phase) -> User:
    return person_in(phase.track.competition, "owner")


def api(shown: Phase, **query: Any) -> Any:
    track = shown.track
    return Client().get(f"/api/v1/competitions/{track.competition.slug}/tracks/{track.slug}/board/", query)


def page_of(phase: Phase, query: str = "", client: Client | None = None) -> html.Element:
    response = (client or Client()).get(f"/competitions/{phase.track.competition.slug}/board/{query}")
    assert response.status_code == 200
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def test_a_board_from_before_the_rule_changed_is_downloaded_and_recomputed(
    phase: Phase, owner: User, tmp_path: Path
) -> None:
    """Each by the components that it was published with."""
    publish_final_board(phase=phase, actor=owner)
    Track.objects.filter(pk=phase.track_id).update(composite=[{"score": "bleurt", "weight": 1}])
    publish_final_board(phase=phase, actor=owner, note_ko="규칙 변경")
    newest, past = api(phase).json()["final"], api(phase, snapshot=1).json()["final"]
    assert (newest["snapshot"], past["snapshot"], past["newest_snapshot"]) == (2, 1, 2)
    assert [(each["snapshot"], each["note"]) for each in past["snapshots"]] == [(2, "규칙 변경"), (1, "")]
    assert [row["team"] for row in past["rows"]] == ["감자팀 1", "감자팀 0", "감자팀 2"]
    assert [row["team"] for row in newest["rows"]] == ["감자팀 1", "감자팀 2", "감자팀 0"]
    assert [[part["score"] for part in board["components"]] for board in (past, newest)] == [
        ["exact_match", "bleurt"],
        ["bleurt"],
    ]
    for number in (1, 2):
        files = {"chain": body(Client().get(f"{chain_url(phase)}.json")), "board": api(phase, snapshot=number).json()}
        done = run_script(tmp_path, **files)
        assert done.returncode == 0, done.stdout
        files["board"]["final"]["rows"].reverse()
        assert run_script(tmp_path, **files).returncode == 1


@pytest.mark.parametrize("number", ["3", "0", "-1", "x", "99999999999", "２"])
def test_a_board_that_was_never_published_is_not_found(phase: Phase, owner: User, number: str) -> None:
    publish_final_board(phase=phase, actor=owner)
    answer = api(phase, snapshot=number)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "board_not_found")
    assert Client().get(f"/competitions/{phase.track.competition.slug}/board/?snapshot={number}").status_code == 404


def test_no_unpublished_board_is_found_by_its_number(phase: Phase) -> None:
    assert api(phase, snapshot=1).status_code == 404
    assert api(phase).json()["final"] is None


def test_the_board_of_another_phase_is_downloaded_by_its_name(phase: Phase, owner: User) -> None:
    publish_final_board(phase=phase, actor=owner)
    PhaseFactory.create(track=phase.track, slug="later")  # open now, so it is the one shown
    assert api(phase).json()["phase"]["slug"] == "later"
    assert api(phase, phase=phase.slug).json()["final"]["snapshot"] == 1
    answer = api(phase, phase="none")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "phase_not_found")
    assert "있는 단계: " in answer.json()["error"]["message"]
    assert phase.slug in answer.json()["error"]["message"]


def test_the_page_lists_every_publication_and_shows_a_past_one_as_past(phase: Phase, owner: User) -> None:
    publish_final_board(phase=phase, actor=owner)
    publish_final_board(phase=phase, actor=owner, note_ko="정정")
    page = page_of(phase)
    listed = next(
        each for each in page.all("section") if each.attributes.get("aria-labelledby") == "publications-title"
    )
    assert [link.attributes["href"].rpartition("?")[2] for link in listed.all("a")] == [
        f"phase={phase.slug}&snapshot=2",
        "snapshot=1",
        f"phase={phase.slug}&snapshot=1",
    ]
    assert "정정" in listed.text
    past = page_of(phase, "?snapshot=1")
    assert "예전의 1판입니다. 그 뒤 2판으로 다시 발표했습니다." in past.text
    assert "예전의" not in page.text
    sorting = past.one("th", "key-exact_match").one("a").attributes["href"]
    assert "snapshot=1" in sorting, "sorting stays on the board that is shown"


def test_a_team_disqualified_since_is_marked_until_the_next_publication_leaves_it_out(
    phase: Phase, owner: User
) -> None:
    publish_final_board(phase=phase, actor=owner)
    team = Team.objects.get(name="감자팀 1")
    manage = f"/competitions/{phase.track.competition.slug}/manage/phases/{phase.pk}/?show=final"
    assert "실격하여 이번에 빠지는 팀" not in client_of(owner).get(manage).content.decode()
    disqualify_team(team=team, actor=owner, note_ko="규정 위반")
    page = page_of(phase)
    assert [row.one(css_class="team-name").text for row in page.all("tr") if row.all("span", "error")] == ["감자팀 1"]
    assert "발표한 뒤 실격한 팀이 있습니다." in page.text
    text = client_of(owner).get(manage).content.decode()
    assert "실격하여 이번에 빠지는 팀" in text
    publish_final_board(phase=phase, actor=owner, note_ko="실격")
    page = page_of(phase)
    assert (page.all("span", "error"), "발표한 뒤 실격한" in page.text) == ([], False)
    assert "규정 위반" in page.text, "named below, with the reason"
    assert [row["team"] for row in api(phase).json()["final"]["rows"]] == ["감자팀 2", "감자팀 0"]


def test_the_own_team_is_pinned_only_where_its_row_is_on_another_page(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On its page it is no second time: there its row stays in view by itself (board.css)."""
    team = Team.objects.get(name="감자팀 0")
    own = client_of(leader_of(team))
    assert page_of(phase, client=own).all("tbody", "pinned") == []
    for number in range(12):
        other = TeamFactory.create(competition=phase.track.competition)
        finished_submission(phase, other, 0.9, scores={"exact_match": 0.99, "bleurt": 0.91 + number / 1000})
    assert page_of(phase, client=own).all("tbody", "pinned") == []
    for module in ("leaderboard.boards", "web.presenters.board"):
        monkeypatch.setattr(f"malpan.{module}.PAGE_ROWS", 5)
    assert page_of(phase, client=own).one("tbody", "pinned").one(css_class="team-name").text == "감자팀 0"


def test_a_frozen_board_by_choice_says_whose_choice_it_shows(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(
        counting="chosen", finals_limit=1, board="frozen", frozen_at=timezone.now(), ends_at=timezone.now()
    )
    assert "그 뒤에 바꾼 선택은 이 순위표에 보이지 않습니다" in page_of(phase).text


def test_rounded_scores_and_the_scale_name_what_is_shown_without_a_scale() -> None:
    """RMSE is no number of 0-100, and its step is another one than that of the points."""
    phase = PhaseFactory.create(track__recipe="essay-scoring@1", track__score_scale=100, score_step="0.001")
    text = page_of(phase).text
    assert "공개 점수는 0.1점 단위로 반올림합니다." in text
    assert "배율 없이 보이는 점수(RMSE(낮을수록 좋음), Spearman)는 0.001 단위입니다." in text
    assert "다만 RMSE(낮을수록 좋음), Spearman의 값은 배율 없이 그대로 적으며" in text
    assert text.count("낮을수록 좋은 지표") == 0
    assert "RMSE(낮을수록 좋음) 45, Spearman 45" in text
    Track.objects.filter(pk=phase.track_id).update(score_scale=1)
    assert "배율 없이 보이는 점수" not in page_of(phase).text


def test_choices_where_the_best_counts_are_explained() -> None:
    phase = PhaseFactory.create(
        track__recipe="essay-scoring@1", counting="best", counting_score="spearman", finals_limit=2
    )
    team = TeamFactory.create(competition=phase.track.competition)
    finished_submission(phase, team, 0.5, scores={"rmse": 0.5, "spearman": 0.5})
    address = f"/competitions/{phase.track.competition.slug}/submissions/"
    text = client_of(leader_of(team)).get(address).content.decode()
    assert "팀이 고른 제출 가운데 최종 채점에서 ‘Spearman’ 점수가 가장 좋은 것 하나" in text
    assert "고르지 않은 팀은 공개 순위표에서 ‘Spearman’ 점수가 가장 좋은 제출" in text
