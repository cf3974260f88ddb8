"""순위표 as its readers see it."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from malpan.competitions.models import Phase
from malpan.core.times import kst_day
from malpan.leaderboard import board_rows, kept
from malpan.leaderboard.models import DayRanks
from malpan.leaderboard.selectors import board
from malpan.submissions.models import ScoringRun
from malpan.teams.models import Team
from malpan.web.presenters.board import _shown_columns
from malpan.web.presenters.board_headings import Sorting
from malpan.web.presenters.board_lines import second_line
from scoring.recipes import RECIPES
from tests.factories import PhaseFactory, TeamFactory, TrackFactory, finished_submission
from tests.web import html
from tests.web.conftest import SCORES, Contest


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def teams_of(page: html.Element) -> list[str]:
    """The names on the board, the pinned row left out."""
    return [row.one(css_class="team-name").text for row in page.one("table", "board").all("tbody")[-1].all("tr")]


def test_teams_stand_by_final_score_and_a_baseline_without_rank(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/"))
    ranks = [cell.text for cell in page.all("td", "rank")]
    assert teams_of(page) == ["Better", "Team One", "Baseline"]
    assert ranks == ["순위 1", "순위 2", "기준"]


@pytest.mark.parametrize(
    ("scores", "places", "after"),
    [
        ([0.9, 0.8, 0.7, 0.6], [1, 3], [1, 3]),
        ([0.9, 0.8, 0.8, 0.6], [2], [2]),  # of equals the earlier one ranks first
        ([0.9, 0.8], [1, 3], [1]),  # nobody is beyond the third
        ([0.9, 0.8, 0.7], [3], [3]),
        ([0.9, 0.8], [], []),
    ],
)
def test_a_line_stands_below_the_last_team_of_each_prize_place(
    db: None, scores: list[float], places: list[int], after: list[int]
) -> None:
    client = Client()
    phase = PhaseFactory.create(track__competition__prize_places=places)
    for number, score in enumerate(scores, start=1):
        team = TeamFactory.create(competition=phase.track.competition, name=f"팀{number}")
        finished_submission(phase, team, score)
    address = f"/competitions/{phase.track.competition.slug}/board/"
    page = page_of(client, address)
    rows = page.one("table", "board").all("tbody")[-1].all("tr")
    assert [at for at, row in enumerate(rows, 1) if "prize-end" in row.attributes.get("class", "")] == after
    assert ("겹줄은 시상선입니다" in page.text) == bool(after)
    assert "prize-end" not in client.get(f"{address}?sort=submitted").content.decode(), "in another order"
    assert "prize-end" not in client.get(f"{address}?q=팀1").content.decode(), "of those that are searched for"


def test_scores_are_times_a_hundred_with_equal_decimals(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/?digits=all"))
    full = [cell.text for cell in page.all("span", "full") if cell.text[0].isdigit()]
    main = [cell.text.split()[-1] for cell in page.all("td", "main")]
    assert main == ["93.0000000", "82.2283946", "50.0000000"]
    assert {len(text.split(".")[1]) for text in full} == {7}


def test_a_track_may_show_scores_from_0_to_1(contest: Contest, client: Client) -> None:
    contest.track.score_scale, contest.track.score_decimals = 1, 4
    contest.track.save()
    page = page_of(client, contest.url("board/"))
    assert [cell.text.split()[-1] for cell in page.all("td", "main")] == ["0.9300", "0.8223", "0.5000"]
    assert "0~1이며 소수점 아래 4자리" in page.one("section", "board-rules").text


def test_the_own_row_is_marked_in_its_place_and_not_repeated_on_a_short_board(contest: Contest, member: Client) -> None:
    page = page_of(member, contest.url("board/"))
    assert page.all("tbody", "pinned") == []
    assert [row.one(css_class="team-name").text for row in page.all("tr", "own")] == ["Team One"]


def test_a_visitor_has_no_pinned_row(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/"))
    assert page.all("tbody", "pinned") == []
    assert page.all("tr", "own") == []


@pytest.mark.parametrize(
    ("query", "first", "aria_sort"),
    [
        ("", "Better", {"순위": "ascending"}),
        ("?sort=rouge_1", "Team One", {"ROUGE-1": "descending"}),
        ("?sort=rouge_1&order=asc", "Baseline", {"ROUGE-1": "ascending"}),
        ("?sort=submissions", "Team One", {"제출 수": "descending"}),
        ("?sort=submitted", "Team One", {"제출 시각(KST)": "ascending"}),
        ("?sort=nothing&order=what", "Better", {"순위": "ascending"}),
    ],
)
def test_columns_sort_by_plain_links(
    contest: Contest, client: Client, query: str, first: str, aria_sort: dict[str, str]
) -> None:
    ScoringRun.objects.filter(submission=contest.finished).update(scores={**SCORES, "rouge_1": 0.99})
    page = page_of(client, contest.url(f"board/{query}"))
    sorted_by = {th.text: th.attributes["aria-sort"] for th in page.all("th") if "aria-sort" in th.attributes}
    assert teams_of(page)[0] == first
    assert sorted_by == aria_sort


def test_the_current_column_turns_round_when_chosen_again(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/?sort=bleurt"))
    heading = next(th for th in page.all("th") if "key-bleurt" in th.classes)
    assert heading.one("a").attributes["href"].endswith("?sort=bleurt&order=asc")


def test_a_team_without_the_score_sorted_by_stands_last(contest: Contest, client: Client) -> None:
    ScoringRun.objects.filter(final_score=0.93).update(scores={"final_score": 0.93})
    for order in ("asc", "desc"):
        page = page_of(client, contest.url(f"board/?sort=bleurt&order={order}"))
        assert teams_of(page)[-1] == "Better"
        assert "–" in page.text


@pytest.mark.parametrize(
    ("given", "is_said"), [({"exact_match": 0.5}, False), ({"bleurt": 0.4, "exact_match": 0.5}, True)]
)
def test_a_model_that_had_nothing_to_score_is_not_said_to_have_scored(
    db: None, given: dict[str, float], is_said: bool
) -> None:
    """Where all answers are short, no score on the board is a model's."""
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    finished_submission(phase, team, 0.5, scores={"final_score": 0.5, **given})
    ScoringRun.objects.update(is_demo_models=True)
    page = page_of(Client(), f"/competitions/{phase.track.competition.slug}/board/")
    assert ("데모 모델이 매긴 점수" in page.text) == is_said


@pytest.mark.parametrize("profile", ["demo", "official"])
def test_demo_scores_are_marked_once_and_named(contest: Contest, client: Client, profile: str) -> None:
    """In the banner, or beside the title where the track has other models by now."""
    ScoringRun.objects.update(is_demo_models=True)
    contest.track.profile = profile
    contest.track.save()
    page = page_of(client, contest.url("board/"))
    marked = [*page.all("div", "banner"), *page.one(id="board-title").all("span", "badge")]
    assert ["데모 모델 점수" in each.text for each in marked] == [True]
    assert "데모" not in page.one("table", "board").text
    named = "데모 모델이 매긴 점수: 최종 점수, 서술 평균, BLEURT, BERTScore"
    assert named in page.one("section", "board-rules").text


def test_the_banner_of_demo_models_is_of_the_track_that_is_shown(contest: Contest, client: Client) -> None:
    TrackFactory.create(competition=contest.competition, slug="captions", recipe="captioning-lexical@1")
    assert page_of(client, contest.url("board/?track=norms")).all("div", "banner")
    assert page_of(client, contest.url("board/?track=captions")).all("div", "banner") == []
    assert page_of(client, contest.url()).all("div", "banner"), "the overview is of both"


def test_the_scale_and_the_tie_rule_stand_under_the_table(contest: Contest, client: Client) -> None:
    rules = page_of(client, contest.url("board/")).one("section", "board-rules").text
    assert "0~100이며(0~1의 값 × 100) 소수점 아래 7자리" in rules
    assert "같으면 EM 점수로 가리고, 그래도 같으면 먼저 제출한 팀이 앞섭니다" in rules
    assert RECIPES["rag-qa@1"].rule() in rules


def test_a_hidden_board_shows_no_row(contest: Contest, member: Client) -> None:
    Phase.objects.update(board="hidden")
    page = page_of(member, contest.url("board/"))
    assert page.all("table") == []
    assert "공개하지 않았습니다" in page.one("p", "notice").text


def test_a_frozen_board_says_since_when(contest: Contest, client: Client) -> None:
    Phase.objects.update(board="frozen", frozen_at=timezone.now())
    page = page_of(client, contest.url("board/"))
    assert "에 고정된 순위표입니다" in page.one("p", "notice").text
    assert teams_of(page)[0] == "Better"


def test_results_of_another_signature_are_left_out_and_counted(contest: Contest, client: Client) -> None:
    ScoringRun.objects.filter(final_score=0.5).update(signature_hash="other")
    page = page_of(client, contest.url("board/"))
    assert "Baseline" not in teams_of(page)
    assert "제출 1건은 빠져 있습니다" in page.text


def test_an_empty_board_says_what_will_come(phase: Phase, client: Client) -> None:
    page = page_of(client, f"/competitions/{phase.track.competition.slug}/board/")
    assert "첫 점수가 나오면 이곳에 올라갑니다" in page.one("div", "empty").text


@pytest.mark.parametrize("page", ["", "data/", "submit/", "board/", "team/"])
def test_a_competition_without_track_or_phase_opens(db: None, client: Client, page: str) -> None:
    bare = TrackFactory.create()
    empty = TeamFactory.create().competition
    for competition in (bare.competition, empty):
        assert client.get(f"/competitions/{competition.slug}/{page}").status_code == 200


@pytest.mark.parametrize(("is_member", "queries"), [(False, 4), (True, 8)])
def test_a_board_that_did_not_change_takes_few_queries(
    contest: Contest, client: Client, member: Client, is_member: bool, queries: int, django_assert_num_queries: Any
) -> None:
    reader = member if is_member else client
    teams = teams_of(page_of(reader, contest.url("board/")))
    with django_assert_num_queries(queries):
        page = page_of(reader, contest.url("board/"))
    assert teams_of(page) == teams


def test_a_long_team_name_is_whole_in_its_title(contest: Contest, client: Client) -> None:
    name = "가" * 60
    finished_submission(contest.phase, TeamFactory.create(competition=contest.competition, name=name), 0.99)
    assert page_of(client, contest.url("board/")).all("span", "team-name")[0].attributes["title"] == name


def test_a_team_name_is_text_not_markup(contest: Contest, client: Client) -> None:
    team = TeamFactory.create(competition=contest.competition, name="<script>alert(1)</script>")
    finished_submission(contest.phase, team, 0.99)
    assert "<script>alert" not in client.get(contest.url("board/")).content.decode()


def test_an_earlier_phase_has_its_own_board_and_its_links_stay_there(contest: Contest, client: Client) -> None:
    before = timezone.now() - timedelta(days=9)
    earlier = PhaseFactory.create(
        track=contest.track, slug="earlier", title_ko="예선", starts_at=before, ends_at=before + timedelta(days=2)
    )
    finished_submission(earlier, contest.team, 0.4, scores=SCORES)
    page = page_of(client, contest.url("board/?phase=earlier"))
    assert teams_of(page) == ["Team One"]
    assert all("phase=earlier" in th.one("a").attributes["href"] for th in page.all("th") if th.all("a"))


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_phone_shows_at_least_two_scores_and_always_the_one_sorted_by(
    phase: Phase, recipe: str, language: str
) -> None:
    phase.track.recipe = recipe
    found = board(phase)
    found = replace(found, columns=_shown_columns(found, shows_all=False))
    with translation.override(language):
        for column in found.columns[1:]:
            shown = second_line(found, Sorting(column.key, "descending"))
            assert column.key in shown
            assert len(shown) >= min(2, len(found.columns) - 1)


def team_cells(page: html.Element) -> dict[str, str]:
    """What stands under the name of each team."""
    found = {}
    for cell in page.one("table", "board").all("th", "team"):
        if names := cell.all(css_class="team-name"):
            found[names[0].text] = " ".join(each.text for each in cell.all("span", "standing"))
    return found


def test_a_row_says_how_far_it_is_below_the_team_above(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/"))
    assert team_cells(page) == {"Better": "", "Team One": "바로 위와 −10.77 이유 응답률 66.7%", "Baseline": ""}
    assert "바로 위 팀과의 점수 차이" in page.one("section", "board-rules").text
    assert "어제" not in page.one("section", "board-rules").text
    by_another = page_of(client, contest.url("board/?sort=bleurt"))
    assert "바로 위와" not in "".join(team_cells(by_another).values())


def test_a_row_says_how_far_its_team_moved_since_yesterday(contest: Contest, client: Client) -> None:
    board(contest.phase)
    better = Team.objects.get(name="Better")
    today = {"day": kst_day(timezone.now()), "ranks": {str(contest.team.pk): 1, str(better.pk): 2}}
    DayRanks.objects.create(phase=contest.phase, **today)
    found = team_cells(page_of(client, contest.url("board/")))
    assert found["Better"] == "어제보다 ▲ 1"
    assert found["Team One"].startswith("어제보다 ▼ 1")
    DayRanks.objects.all().delete()
    for read in (kept.day_ranks, board_rows._kept):  # the ranks with which a day began are never others
        read.cache_clear()
    DayRanks.objects.create(phase=contest.phase, day=today["day"], ranks={str(contest.team.pk): 2})
    page = page_of(client, contest.url("board/"))
    assert team_cells(page)["Better"] == "새 팀"
    assert team_cells(page)["Team One"] == "바로 위와 −10.77 이유 응답률 66.7%"
    assert "어제 마지막 순위" in page.one("section", "board-rules").text


def test_a_row_says_how_many_reasons_were_given(contest: Contest, client: Client) -> None:
    ScoringRun.objects.filter(submission=contest.finished).update(
        coverage={"reason_coverage": 0.875}, is_demo_models=True
    )
    assert team_cells(page_of(client, contest.url("board/")))["Team One"] == "바로 위와 −10.77 이유 응답률 87.5%"
    rows = csv.DictReader(client.get(contest.url("board/?as=csv")).content.decode("utf-8-sig").splitlines())
    assert [row["reason_coverage"] for row in rows if row["team"] == "Team One"] == ["0.875"]
