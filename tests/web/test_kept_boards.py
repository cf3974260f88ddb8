"""A public board from before a rescoring: on the page, in the API, and computed again by the served script."""

from __future__ import annotations

import copy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.competitions.phases import update_phase
from malpan.leaderboard.snapshots import publish_final_board
from tests.composite_boards import install
from tests.leaderboard.test_composite_boards import organiser_of
from tests.leaderboard.test_keeping import apply_new_scores, recorded_phase
from tests.web import html
from tests.web.test_chain_pages import board_url, body, chain_url, run_script
from tests.web.test_past_boards import api, page_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> str:
    return install(monkeypatch)


@pytest.fixture(scope="module")
def made(kept: None) -> Phase:
    with pytest.MonkeyPatch.context() as patched:
        install(patched)
        return recorded_phase()


@pytest.fixture
def phase(made: Phase) -> Phase:
    return copy.deepcopy(made)


def files_of(phase: Phase, **query: Any) -> dict[str, Any]:
    return {"chain": body(Client().get(f"{chain_url(phase)}.json")), "board": api(phase, **query).json()}


def test_the_script_computes_a_board_of_the_past_again(phase: Phase, tmp_path: Path) -> None:
    before = api(phase).json()
    assert (before["past_boards"], before["past"]) == ([], None)
    apply_new_scores(phase)
    files = files_of(phase, past=1)
    past, rows = files["board"]["past"], files["board"]["rows"]
    assert [row["team"] for row in rows] == [row["team"] for row in before["rows"]]
    assert [row["composite"] for row in rows] == [row["composite"] for row in before["rows"]]
    assert [row["team"] for row in api(phase).json()["rows"]] != [row["team"] for row in rows]
    assert (files["board"]["composite"], files["board"]["row_count"]) == (before["composite"], len(rows))
    assert "rows" not in past
    assert [each["snapshot"] for each in files["board"]["past_boards"]] == [1]
    assert files["board"]["past_boards"] == past["snapshots"]
    done = run_script(tmp_path, **files)
    assert done.returncode == 0, done.stdout
    assert "board.json · 지난 공개 순위표 1판: 지난 공개 순위표가 기록과 같습니다" in done.stdout
    assert done.stdout.count("composites, ranks and the order were computed again") == 1


def test_a_file_from_when_the_rows_were_the_current_ones_is_still_read(phase: Phase, tmp_path: Path) -> None:
    apply_new_scores(phase)
    files, past = files_of(phase), api(phase, past=1).json()
    files["board"]["past"] = {**past["past"], "rows": past["rows"], "row_count": past["row_count"]}
    done = run_script(tmp_path, **files)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("composites, ranks and the order were computed again") == 2
    past["rows"][0]["team"] = "다른 팀"
    assert run_script(tmp_path, **files).returncode == 1


def _drop(board: Any) -> None:
    board["past_boards"] = []


def _rehash(board: Any) -> None:
    board["past_boards"][0]["sha256"] = "0" * 64


@pytest.mark.parametrize("change", [_drop, _rehash])
def test_the_script_sees_that_the_list_of_kept_boards_is_another(
    phase: Phase,
    tmp_path: Path,
    change: Any,
) -> None:
    apply_new_scores(phase)
    files = files_of(phase)
    assert run_script(tmp_path, **files).returncode == 0
    change(files["board"])
    done = run_script(tmp_path, **files)
    assert (done.returncode, "past_boards" in done.stdout) == (1, True)


def _swap(board: Any) -> None:
    board["rows"].reverse()


def _other_value(board: Any) -> None:
    board["rows"][0]["scores"]["rmse"] = 0.123


def _other_name(board: Any) -> None:
    board["rows"][0]["team"] = board["rows"][1]["team"]


def _other_recipe(board: Any) -> None:
    board["past"]["recipe"] = "other@1"


def _other_weight(board: Any) -> None:
    board["composite"]["components"][0]["weight"] += 1


def _unlisted(board: Any) -> None:
    board["past"]["snapshots"] = []


@pytest.mark.parametrize("change", [_swap, _other_value, _other_name, _other_recipe, _other_weight, _unlisted])
def test_the_script_sees_a_changed_board_of_the_past(phase: Phase, tmp_path: Path, change: Any) -> None:
    apply_new_scores(phase)
    files = files_of(phase, past=1)
    change(files["board"])
    assert run_script(tmp_path, **files).returncode == 1


def test_final_and_past_boards_are_checked_together(phase: Phase, tmp_path: Path) -> None:
    apply_new_scores(phase)
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
    publish_final_board(phase=Phase.objects.get(pk=phase.pk), actor=organiser_of(phase))
    apply_new_scores(phase)
    files = files_of(phase, past=2)
    assert files["board"]["final"]["newest_snapshot"] == 1
    more = tmp_path / "first.json"
    more.write_bytes(Client().get(board_url(phase), {"past": 1}).content)
    done = run_script(tmp_path, **files, more=["--board", tmp_path / "board.json", more])
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("The public board of the past equals the recorded one.") == 2
    text = html.parse(Client().get(f"{chain_url(phase)}/").content.decode()).text
    assert "2번째 보관" in text
    assert "· 1판" in text


def test_the_page_lists_the_boards_of_the_past_and_shows_one(phase: Phase) -> None:
    assert "지난 공개 순위표" not in page_of(phase).text
    apply_new_scores(phase)
    page = page_of(phase)
    listed = next(each for each in page.all("section") if each.attributes.get("aria-labelledby") == "past-boards-title")
    hrefs = [link.attributes["href"].rpartition("?")[2] for link in listed.all("a")]
    assert hrefs == ["past=1", f"phase={phase.slug}&past=1"]
    assert "다시 채점한 점수를 반영하기 직전" in listed.text
    past = page_of(phase, "?past=1")
    assert "까지 공개했던 순위표입니다" in past.text
    assert "최종 순위표" not in past.one("main").text
    assert past.one("th", "key-rmse").one("a").attributes["href"].endswith("past=1&sort=rmse")
    english = Client().get(
        f"/competitions/{phase.track.competition.slug}/board/?past=1", headers={"accept-language": "en"}
    )
    assert "Right before new scores were applied" in english.content.decode()


@pytest.mark.parametrize("number", ["2", "0", "x", "99999999999"])
def test_no_other_number_is_found(phase: Phase, number: str) -> None:
    apply_new_scores(phase)
    answer = api(phase, past=number)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "board_not_found")
    board = f"/competitions/{phase.track.competition.slug}/board/"
    page = Client().get(f"{board}?past={number}")
    assert page.status_code == 404
    assert Client().get(board).status_code == 200
    assert f'href="{board}">이 화면을 처음부터 보기' in page.content.decode()


def test_a_hidden_board_shows_none_of_the_past(phase: Phase) -> None:
    apply_new_scores(phase)
    update_phase(phase=phase, actor=None, board="hidden")
    assert api(phase, past=1).status_code == 404
    assert api(phase).json()["past_boards"] == []
    assert "지난 공개 순위표" not in page_of(phase).text
