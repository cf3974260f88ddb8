"""Boards that rank by a composite as people see and set them: pages, API, set-up, phases, final preview, checklist."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.checklist import State, checklist
from malpan.competitions.checklist_facts import facts_of
from malpan.competitions.models import Phase, Track
from malpan.core.models import AuditEntry
from malpan.leaderboard.rescore_preview import preview
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import deltas
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.deltas import RankMove
from malpan.teams.models import Team
from malpan.web.presenters.rescoring import _composite_context
from tests.composite_boards import RECIPE, install, values
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    TrackFactory,
    finished_submission,
    leader_of,
    person_in,
)
from tests.leaderboard.test_composite_boards import batch_of
from tests.web import html
from tests.web.conftest import client_of
from tests.web.manage.test_phases import fields_of, manage_of
from tests.web.manage.test_setup import PHASE, TRACK

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> str:
    return install(monkeypatch)


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create(track__recipe=RECIPE, counting=Phase.Counting.LATEST)


@pytest.fixture
def teams(phase: Phase) -> list[Team]:
    """First, second and a tie for the third place; the first has an older submission that does not count."""
    made = [TeamFactory.create(competition=phase.track.competition, name=f"팀{n}") for n in range(3)]
    hour = timezone.now() - timedelta(hours=1)
    finished_submission(phase, made[0], 0.99, scores=values(0.9, 0.1, 0.1), created_at=hour)
    finished_submission(phase, made[0], 0.3, scores=values(0.4, 0.7, 0.9))
    finished_submission(phase, made[1], 0.9, scores=values(0.5, 0.6, 0.5))
    finished_submission(phase, made[2], 0.8, scores=values(0.5, 0.5, 0.5))
    return made


def url(phase: Phase, rest: str = "board/") -> str:
    return f"/competitions/{phase.track.competition.slug}/{rest}"


def page_of(client: Client, address: str, **headers: str) -> html.Element:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return html.parse(response.content.decode())


def rows_of(page: html.Element) -> list[list[str]]:
    body = page.one("table", "board").all("tbody")[-1]
    return [[cell.text for cell in row.all("td") + row.all("th")] for row in body.all("tr")]


# --- the board --------------------------------------------------------------------------------------------------------
def test_the_board_shows_composite_values_average_ranks_and_the_formula(phase: Phase, teams: list[Team]) -> None:
    page = page_of(Client(), url(phase))
    assert html.problems(page) == []
    heads = [head.text for head in page.one("table", "board").one("thead").all("th")]
    assert heads == ["순위", "팀", "종합 점수", "RMSE", "스피어만 상관", "심사 모델", "제출 수", "제출 시각(KST)"]
    first, second, third = rows_of(page)
    assert first[1] == "100.0000"
    assert "0.4000 " in f"{first[2]} "
    assert "1위 · 1.000" in first[2]
    assert "2.5위 · 0.250" in second[2]
    assert "2.5위 · 0.250" in second[4]
    assert third[0] == "순위 3"
    rules = page.one("section", "board-rules").text
    assert "RMSE(낮을수록 좋음) 45, 스피어만 상관 45, 심사 모델 10" in rules
    assert "(팀 수 − 순위) ÷ (팀 수 − 1)" in rules
    said = [each.text for each in page.one("ul", id="ranking-rules").all("li")]
    assert said[1:] == [
        "팀마다 점수가 나온 제출 가운데 가장 최근 것 하나가 반영됩니다.",
        "종합 점수가 같으면 먼저 제출한 팀이 앞섭니다.",
    ]
    assert [rules.count(each) for each in said] == [1, 1, 1], "each said once"
    assert "값이 같으면 평균 순위입니다" in page.one("section", "board-rules").one("details").text
    assert "가장 최근 것 하나가 반영됩니다" in rules
    assert "팀마다 가장 높은 제출" not in rules
    english = page_of(Client(), url(phase), accept_language="en").one("section", "board-rules").text
    assert "Weights: RMSE (lower is better) 45, Spearman 45, LLM judge 10" in english


def test_the_rule_of_essays_is_said_once_under_their_board() -> None:
    phase = PhaseFactory.create(track__recipe="essay-scoring@1")
    finished_submission(
        phase, TeamFactory.create(competition=phase.track.competition), 0.5, scores={"rmse": 0.5, "spearman": 0.5}
    )
    for language, words in (("ko", ("45", "가중 평균", "앞섭니다")), ("en", ("45", "weighted mean", "earlier"))):
        rules = page_of(Client(), url(phase), accept_language=language).one("section", "board-rules").text
        assert [rules.count(word) for word in words] == [2, 1, 1], rules  # RMSE 45, Spearman 45


def test_the_board_says_of_a_baseline_only_where_one_is(phase: Phase, teams: list[Team]) -> None:
    def is_said() -> bool:
        return "‘기준’은 비교를 위해" in page_of(Client(), url(phase)).text

    assert not is_said()
    Team.objects.filter(pk=teams[2].pk).update(is_baseline=True)
    assert is_said()
    page = page_of(manage_of(phase, "owner"), url(phase, f"manage/phases/{phase.pk}/?show=final"))
    assert "‘기준’은 비교를 위해" in page.text


def test_the_tie_rule_is_said_beside_every_board_and_is_true(phase: Phase, teams: list[Team]) -> None:
    """Equal composites: the team that submitted earlier is higher, whatever its name or number."""
    Submission.objects.filter(phase=phase).update(live_run=None)
    for number, hours in ((2, 3), (0, 2), (1, 1)):
        at = timezone.now() - timedelta(hours=hours)
        finished_submission(phase, teams[number], 0.5, scores=values(0.5, 0.5, 0.5), created_at=at)
    page = page_of(Client(), url(phase))
    assert [name.text for name in page.all("span", "team-name")] == ["팀2", "팀0", "팀1"]
    assert "종합 점수가 같으면 먼저 제출한 팀이 앞섭니다." in page.one("ul", id="ranking-rules").text
    english = page_of(Client(), url(phase), accept_language="en").one("ul", id="ranking-rules").text
    assert "earlier submission" in english
    plain = PhaseFactory.create(track__recipe="regression@1")
    finished_submission(plain, TeamFactory.create(competition=plain.track.competition), 0.5)
    assert "먼저 제출한 팀이 앞섭니다" in page_of(Client(), url(plain)).one("ul", id="ranking-rules").text


def test_the_links_that_sort_have_a_label(phase: Phase, teams: list[Team]) -> None:
    table = page_of(Client(), url(phase)).one("table", "board")
    label = table.one("thead").attributes["aria-labelledby"]
    assert table.one("caption", id=label).text == "열 이름을 고르면 그 순서로 정렬합니다."


def test_a_score_that_is_better_when_lower_sorts_so(phase: Phase, teams: list[Team]) -> None:
    def names(query: str) -> list[str]:
        return [name.text for name in page_of(Client(), url(phase) + query).all("span", "team-name")]

    assert names("?sort=rmse") == ["팀0", "팀1", "팀2"]
    assert names("?sort=rmse&order=desc")[-1] == "팀0"
    assert names("?sort=spearman") == ["팀0", "팀1", "팀2"]
    assert names("?sort=composite&order=asc") == ["팀2", "팀1", "팀0"]
    head = page_of(Client(), url(phase) + "?sort=rmse").one("th", "key-rmse")
    assert head.attributes["aria-sort"] == "ascending"


def test_the_final_score_is_for_reference_and_marks_of_it_are_not_drawn(phase: Phase, teams: list[Team]) -> None:
    every = page_of(Client(), url(phase) + "?metrics=all")
    assert "최종 점수" in [head.text for head in every.one("table", "board").one("thead").all("th")]
    assert every.all("tr", "mark") == []


def test_the_board_of_the_api_carries_components_and_parts(phase: Phase, teams: list[Team]) -> None:
    body = Client().get(f"/api/v1/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/board/").json()
    assert body["composite"]["components"][0] == {"score": "rmse", "weight": 45.0, "higher_is_better": False}
    assert (body["phase"]["counting"], body["phase"]["counting_score"]) == ("latest", None)
    first = body["rows"][0]
    assert first["composite"]["value"] == 1.0
    assert first["composite"]["parts"][1] == {
        "score": "spearman", "weight": 45, "value": 0.7, "rank": 1.0, "normalised": 1.0
    }  # fmt: skip
    plain = PhaseFactory.create()
    address = f"/api/v1/competitions/{plain.track.competition.slug}/tracks/{plain.track.slug}/board/"
    assert Client().get(address).json()["composite"] is None


def test_the_published_board_shows_its_own_parts(phase: Phase, teams: list[Team]) -> None:
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
    owner = person_in(phase.track.competition, "owner")
    publish_final_board(phase=Phase.objects.get(pk=phase.pk), actor=owner)
    finished_submission(phase, teams[1], 0.5, scores=values(0.0, 1.0, 1.0))
    final = page_of(Client(), url(phase))
    assert "최종 순위표" in final.one("h2", None).text
    assert rows_of(final)[0][1] == "100.0000"
    assert "1위 · 1.000" in rows_of(final)[0][2]
    later = rows_of(page_of(Client(), url(phase) + "?view=public"))
    assert "1위 · 1.000" in later[0][2]
    assert later[0] != rows_of(final)[0]


# --- a submission, the history ----------------------------------------------------------------------------------------
def test_a_submission_says_what_the_composite_is_now_and_whether_it_counts(phase: Phase, teams: list[Team]) -> None:
    member = client_of(leader_of(teams[0]))
    old, new = Submission.objects.filter(team=teams[0]).order_by("created_at")
    page = page_of(member, f"/submissions/{new.public_id}/")
    assert html.problems(page) == []
    assert "100.0000000" in page.text
    assert "순위는 1위입니다." in page.text
    assert "이 제출이 반영되어 있습니다." in page.text
    assert "다른 팀의 점수가 바뀌면 함께 바뀝니다" in page.text
    page = page_of(member, f"/submissions/{old.public_id}/")
    assert "다른 제출" in page.text
    assert f"/submissions/{new.public_id}/" in [link.attributes.get("href") for link in page.all("a")]

    finished_submission(phase, teams[1], 0.5, scores=values(0.1, 0.9, 1.0))
    moved = page_of(member, f"/submissions/{new.public_id}/").text
    assert "순위는 2위입니다" in moved
    assert "100.0000000" not in moved


def test_a_hidden_board_gives_no_composite_away(phase: Phase, teams: list[Team]) -> None:
    Phase.objects.filter(pk=phase.pk).update(board="hidden")
    new = Submission.objects.filter(team=teams[0]).latest("created_at")
    page = page_of(client_of(leader_of(teams[0])), f"/submissions/{new.public_id}/").text
    assert "지금의 종합 점수" not in page
    assert "0.4000" in page, "its own scores are shown"


def test_the_history_shows_raw_values_and_never_a_composite(phase: Phase, teams: list[Team]) -> None:
    page = page_of(client_of(leader_of(teams[0])), url(phase, "submissions/"))
    scores = [each.text.replace("\N{NO-BREAK SPACE}", " ") for each in page.all("p", "state-score")]
    assert scores == [
        "RMSE 0.4000 · 스피어만 상관 0.7000 · 심사 모델 90.00",
        "RMSE 0.9000 · 스피어만 상관 0.1000 · 심사 모델 10.00",
    ]
    assert "99.0000000" not in page.text, "the final score ranks nobody"


# --- set-up -----------------------------------------------------------------------------------------------------------
def save_track(track: Track, composite: str, **changes: str) -> Any:
    client = manage_of(PhaseFactory.create(track=track), "owner")
    address = f"/competitions/{track.competition.slug}/manage/setup/tracks/{track.slug}/"
    return client.post(address, TRACK | {"slug": track.slug, "composite": composite} | changes)


def test_an_organiser_sets_the_components_of_a_track() -> None:
    track = TrackFactory.create()
    assert save_track(track, "exact_match 45\n\n bleurt: 45.5\nrouge_1=10 %").status_code == 302
    track.refresh_from_db()
    assert track.composite == [
        {"score": "exact_match", "weight": 45},
        {"score": "bleurt", "weight": 45.5},
        {"score": "rouge_1", "weight": 10},
    ]
    entry = AuditEntry.objects.filter(action="track.update").latest("pk")
    assert entry.after["composite"] == track.composite
    client = manage_of(track.phases.get(), "organiser")
    shown = page_of(client, f"/competitions/{track.competition.slug}/manage/setup/tracks/{track.slug}/")
    assert shown.one("textarea", id="id_composite").text.split() == [
        "exact_match",
        "45",
        "bleurt",
        "45.5",
        "rouge_1",
        "10",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rmse45", "1번째 줄을 읽을 수 없습니다"),
        ("exact_match 45\nbleurt many", "2번째 줄을 읽을 수 없습니다"),
        ("nothing 45", "‘nothing’이라는 점수가 없습니다. 쓸 수 있는 점수: "),
        ("nothing 45", ", bleurt, "),
        ("bleurt 45\nbleurt 10", "‘bleurt’가 두 번 있습니다"),
        ("bleurt 0", "가중치는 0보다 크고"),
        ("bleurt 100000", "가중치는 0보다 크고"),
        ("\n".join(f"s{n} 1" for n in range(11)), "10개까지"),
    ],
)
def test_unsound_components_are_refused_at_their_field(text: str, told: str) -> None:
    track = TrackFactory.create()
    response = save_track(track, text)
    assert response.status_code == 422
    assert told in response.content.decode()
    track.refresh_from_db()
    assert track.composite == []


def test_the_field_offers_the_scores_of_its_recipe_with_their_names() -> None:
    track = TrackFactory.create(recipe="essay-scoring@1")
    client = manage_of(PhaseFactory.create(track=track), "owner")
    base = f"/competitions/{track.competition.slug}/manage/setup/"
    page = page_of(client, f"{base}tracks/{track.slug}/")
    offered = "essay-scoring@1에서 쓸 수 있는 점수: "
    helped = page.one("p", id="id_composite_helptext") if page.all("p", id="id_composite_helptext") else page
    assert offered in helped.text
    assert "rmse(RMSE(낮을수록 좋음)), " in helped.text
    assert "bias(" not in helped.text, "it has no direction"
    assert "rag-qa@1에서 쓸 수 있는 점수: " in page_of(client, f"{base}new-track/").text
    refused = save_track(track, "bias 45", recipe="essay-scoring@1")
    assert refused.status_code == 422
    assert "쓸 수 있는 점수: " in html.parse(refused.content.decode()).one("ul", "errorlist").text


def test_components_do_not_change_once_scores_are_ranked_by_them() -> None:
    track = TrackFactory.create(composite=[{"score": "bleurt", "weight": 45}])
    phase = PhaseFactory.create(track=track)
    finished_submission(phase, TeamFactory.create(competition=track.competition), 0.5)
    refused = save_track(track, "bleurt 50")
    assert refused.status_code == 409
    assert "점수가 나오기 전에만 바꿀 수 있습니다" in refused.content.decode()
    assert save_track(track, "bleurt 45", title_ko="다른 제목").status_code == 302
    track.refresh_from_db()
    assert (track.title_ko, track.composite) == ("다른 제목", [{"score": "bleurt", "weight": 45}])


def test_a_phase_of_a_composite_says_which_submission_counts(phase: Phase) -> None:
    client = manage_of(phase, "owner")
    address = url(phase, f"manage/phases/{phase.pk}/")
    form = page_of(client, address)
    assert [each.attributes.get("value") for each in form.one("select", id="id_counting").all("option")] == [
        "", "best", "latest", "chosen",
    ]  # fmt: skip

    def save(**changes: str) -> Any:
        return client.post(address, fields_of(phase) | {"counting": "latest"} | changes)

    assert save(counting="").status_code == 422
    best = save(counting="best")
    assert "가장 좋은 제출을 가리는 점수를 골라 주십시오" in best.content.decode()
    assert save(counting="best", counting_score="rmse").status_code == 302
    phase.refresh_from_db()
    assert (phase.counting, phase.counting_score) == ("best", "rmse")
    assert AuditEntry.objects.filter(action="phase.update").latest("pk").after["counting_score"] == "rmse"
    assert "최종 선택 한도를 비우십시오" in save(counting="latest", finals_limit="2").content.decode()
    assert "최종 선택 한도가 1이어야 합니다" in save(counting="chosen", finals_limit="2").content.decode()
    assert save(counting="chosen", finals_limit="1", counting_score="rmse").status_code == 302
    phase.refresh_from_db()
    assert (phase.counting, phase.counting_score, phase.finals_limit) == ("chosen", "", 1)


def test_a_new_phase_of_a_composite_must_say_what_counts_and_one_of_another_is_not_asked(phase: Phase) -> None:
    client = manage_of(phase, "owner")
    address = url(phase, f"manage/phases/new/{phase.track.slug}/")
    new = PHASE | {"slug": "next", "finals_limit": ""}
    assert client.post(address, new).status_code == 422
    assert client.post(address, new | {"counting": "latest"}).status_code == 302
    assert Phase.objects.get(slug="next").counting == "latest"
    plain = PhaseFactory.create()
    page = page_of(manage_of(plain, "owner"), url(plain, f"manage/phases/{plain.pk}/"))
    assert not [each for each in page.all("select") if each.attributes.get("id") == "id_counting"]


def test_the_final_preview_shows_the_composite_and_its_parts(phase: Phase, teams: list[Team]) -> None:
    page = page_of(manage_of(phase, "owner"), url(phase, f"manage/phases/{phase.pk}/?show=final"))
    assert html.problems(page) == []
    assert "RMSE 2.5위 · 0.250" in page.text
    assert "종합 점수 = 지표별 (팀 수 − 순위) ÷ (팀 수 − 1)의 가중 평균" in page.text


def test_the_rescoring_preview_marks_who_moves_although_nothing_of_theirs_changed(
    phase: Phase, teams: list[Team]
) -> None:
    batch = batch_of(phase, {teams[2].pk: values(0.1, 0.9, 1.0)})
    page = page_of(manage_of(phase, "owner"), url(phase, f"manage/rescoring/{batch.pk}/"))
    assert html.problems(page) == []
    assert "그 가운데 2팀은 자기 점수는 그대로인데" in page.text
    marked = {
        row.one("th").text.split()[0]: "자기 점수는 그대로" in row.text
        for table in page.all("table")
        for row in table.one("tbody").all("tr")
        if row.all("th") and row.one("th").text.startswith("팀")
    }
    assert marked == {"팀0": True, "팀1": True, "팀2": False}
    assert "지금 종합 점수" in page.text
    assert "1건에서 순위에 쓰는 지표(RMSE, 스피어만 상관, 심사 모델)가 바뀝니다" in page.text
    assert "종합 점수가 바뀌는 팀 3팀, 순위가 바뀌는 팀 3팀" in page.text
    assert [each.text for each in page.all("li", "name")] == ["팀0", "팀1"]
    assert "건의 최종 점수" not in page.text
    assert "최종 점수의 변화" not in page.text
    assert len(page.one("svg", "bars").all("rect", "plot-bar")) == 3
    [histogram] = page.all("table", "manage-histogram")
    assert "종합 점수의 변화" in histogram.one("thead").text
    assert sum(int(row.all("td")[0].text) for row in histogram.one("tbody").all("tr")) == 3
    rows = [row.text for row in page.one("table", id="rows").one("tbody").all("tr")]
    assert len(rows) == 1
    assert "0.5000000 → 0.1000000 (−0.4000000)" in rows[0]


def test_the_preview_lists_who_changes_rank_alone_and_counts_no_baseline(phase: Phase, teams: list[Team]) -> None:
    baseline = TeamFactory.create(competition=phase.track.competition, name="기준선", is_baseline=True)
    finished_submission(phase, baseline, 0.5, scores=values(0.5, 0.5, 0.5))
    newcomer = TeamFactory.create(competition=phase.track.competition, name="새 팀")
    finished_submission(phase, newcomer, 0.1, scores=values(0.9, 0.1, 0.1))
    batch = batch_of(phase, {})
    move = {"team_name": "", "score_after": 0.5, "score_before": 0.5, "crossed": (), "is_own": True}
    same, stays = RankMove(1, before=1, after=2, **move), RankMove(2, before=3, after=3, **move)
    unranked = RankMove(3, before=None, after=None, **{**move, "score_after": 0.7})
    assert deltas.moved_at_least([same, stays, unranked], 0.0) == []

    page = page_of(manage_of(phase, "owner"), url(phase, f"manage/rescoring/{batch.pk}/"))

    assert html.problems(page) == []
    assert "종합 점수가 그대로인 팀 4팀" in page.text, "a baseline is no team of the contest"
    found = replace(preview(batch), moves=(same, stays, unranked))
    listed = _composite_context(found, [], 0.0, phase.track)["team_lines"]
    assert [line.move for line in listed] == [same]
    assert _composite_context(found, [], 0.1, phase.track)["team_lines"] == []


def test_the_csv_of_a_preview_ends_with_composites_and_ranks_of_the_teams(phase: Phase, teams: list[Team]) -> None:
    batch = batch_of(phase, {teams[2].pk: values(0.1, 0.9, 1.0)})
    response = manage_of(phase, "owner").get(url(phase, f"manage/rescoring/{batch.pk}/preview.csv"))
    lines = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    names = ["team_composite_before", "team_composite_after", "team_composite_delta"]
    assert list(lines[0])[-5:] == [*names, "team_rank_before", "team_rank_after"]
    places = {line["team"]: (line["team_rank_before"], line["team_rank_after"]) for line in lines}
    assert places == {"팀0": ("1", "2"), "팀1": ("2", "3"), "팀2": ("3", "1")}
    [third] = [line for line in lines if line["team"] == "팀2"]
    # three teams: the tied third was 2.5th by RMSE, third by Spearman and 2.5th by the judge; now it is first by all
    before = (45 * 0.25 + 45 * 0.0 + 10 * 0.25) / 100
    assert float(third["team_composite_before"]) == pytest.approx(before)
    assert float(third["team_composite_after"]) == pytest.approx(1.0)
    assert float(third["team_composite_delta"]) == pytest.approx(1.0 - before)


def test_an_applied_rescoring_links_the_board_from_before(phase: Phase, teams: list[Team]) -> None:
    batch = batch_of(phase, {teams[2].pk: values(0.1, 0.9, 1.0)})
    client = manage_of(phase, "owner")
    address = url(phase, f"manage/rescoring/{batch.pk}/")
    assert "적용 전 순위표" not in page_of(client, address).text
    rescoring.apply_batch(batch=batch, actor=batch.created_by)

    page = page_of(client, address)

    assert html.problems(page) == []
    [link] = [each for each in page.all("a") if each.text == "적용 전 순위표"]
    before = rows_of(page_of(client, link.attributes["href"].replace("&amp;", "&")))
    assert ["팀0" in row[-1] for row in before] == [True, False, False]
    assert "팀2" in rows_of(page_of(client, url(phase)))[0][-1]
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.HIDDEN)
    assert "적용 전 순위표" not in page_of(client, address).text


def test_the_board_names_neighbours_that_only_the_spread_of_the_judge_tells_apart(phase: Phase) -> None:
    teams = [TeamFactory.create(competition=phase.track.competition, name=f"팀{n}") for n in range(3)]
    rows = [
        finished_submission(phase, team, 0.5, scores=values(0.5 if n < 2 else 0.9, 0.5 if n < 2 else 0.1, judged))
        for n, (team, judged) in enumerate(zip(teams, (0.52, 0.5, 0.9), strict=True))
    ]
    client = client_of(leader_of(teams[0]))
    assert "반복 폭" not in page_of(client, url(phase)).text
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="반복", repeats=2, created_by=leader_of(teams[0])
    )
    for judged in (0.50, 0.53):
        ScoringRunFactory.create(
            submission=rows[1], batch=batch, state="finished", finished_at=timezone.now(), final_score=0.5,
            scores=values(0.5, 0.5, judged), signature_hash=rows[1].live_run.signature_hash,
        )  # fmt: skip
    page = page_of(client, url(phase))
    assert html.problems(page) == []
    said = page.one("div", id="spread").text
    assert "심사 모델 3.0000000" in said
    assert "1위 팀0 ≈ 2위 팀1" in said
    assert "팀2" not in said
    assert "≈" not in page_of(client, url(phase, "board/?sort=rmse")).text


def test_a_small_change_of_composites_can_be_left_out_of_the_list(phase: Phase, teams: list[Team]) -> None:
    batch = batch_of(phase, {teams[2].pk: values(0.1, 0.9, 1.0)})
    client = manage_of(phase, "owner")
    for minimum, count in (("", 3), ("60", 1), ("100", 0)):
        page = page_of(client, url(phase, f"manage/rescoring/{batch.pk}/?minimum={minimum}"))
        assert f"팀 가운데 {count}팀, 변화가 큰 순서" in page.text


def test_the_pages_say_what_counts_and_what_the_composite_is_made_of(phase: Phase, teams: list[Team]) -> None:
    Phase.objects.filter(pk=phase.pk).update(min_interval=timedelta(hours=72))
    member, owner = client_of(leader_of(teams[0])), manage_of(phase, "owner")
    weights = "RMSE(낮을수록 좋음) 45, 스피어만 상관 45, 심사 모델 10"
    for address in ("", "submit/"):
        text = page_of(member, url(phase, address)).text
        assert "점수가 나온 제출 가운데 가장 최근 것 하나가 반영됩니다" in text
        assert weights in text
        assert "72시간 이상" in text
    table = page_of(owner, url(phase, "manage/phases/")).one("table").text
    assert "72시간" in table
    assert "가장 최근 제출" in table
    assert weights in page_of(owner, url(phase, "manage/setup/tracks/")).one("table").text
    Phase.objects.filter(pk=phase.pk).update(counting="best", counting_score="rmse")
    assert "가장 좋은 제출(RMSE)" in page_of(owner, url(phase, "manage/phases/")).one("table").text


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"counting": "latest"}, State.OK),
        ({"counting": "chosen", "finals_limit": 1}, State.OK),
        ({"counting": "best", "counting_score": "rmse"}, State.OK),
        ({"counting": "best"}, State.WARN),
        ({"counting": "best", "counting_score": "gone"}, State.MISSING),
        ({"counting": "latest", "finals_limit": 3}, State.MISSING),
    ],
)
def test_the_checklist_says_what_counts(phase: Phase, fields: dict[str, Any], state: State) -> None:
    Phase.objects.filter(pk=phase.pk).update(**fields)
    items = [item for item in checklist(facts_of(phase.track.competition)) if item.code == "counting"]
    assert [item.state for item in items] == [state]
    assert phase.title_ko in items[0].text


def test_final_selection_says_what_counts_without_a_choice(phase: Phase, teams: list[Team]) -> None:
    Phase.objects.filter(pk=phase.pk).update(counting="chosen", finals_limit=1)
    member = client_of(leader_of(teams[0]))
    assert "고르지 않은 팀은 점수가 나온 제출 가운데" in page_of(member, url(phase, "submissions/")).text
    saved = member.post(
        url(phase, "submissions/finals/"), {"phase": phase.slug, "track": phase.track.slug}, follow=True
    )
    assert "단계의 규칙대로" in saved.content.decode()
