"""Where a result stands: on the page of a submission, beside the score of its team."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.leaderboard import kept
from malpan.leaderboard.comparing import computing as comparing
from malpan.leaderboard.models import ResultComparison
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.sureness import computing
from malpan.leaderboard.sureness.results import intervals_of
from malpan.submissions.models import HiddenResult, ScoringRun, Submission
from malpan.teams.models import Team
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, UserFactory, finished_submission, leader_of
from tests.leaderboard.sureness_world import RECIPE, compute, report_of, teams_with
from tests.leaderboard.sureness_world import scored as with_items
from tests.web import html
from tests.web.conftest import SCORES, client_of

pytestmark = pytest.mark.django_db


def scored(phase: Phase, team: Team, score: float, **fields: object) -> Submission:
    return finished_submission(phase, team, score, scores=dict.fromkeys(SCORES, score), **fields)


def page_of(submission: Submission, client: Client | None = None) -> html.Element:
    client = client or client_of(leader_of(submission.team))
    return html.parse(client.get(f"/submissions/{submission.public_id}/").content.decode())


def gaps_of(page: html.Element) -> dict[str, str]:
    terms = page.one("dl", "gaps")
    return dict(zip((e.text for e in terms.all("dt")), (e.text for e in terms.all("dd")), strict=True))


@pytest.fixture
def world(phase: Phase, team: Team) -> tuple[Phase, Team]:
    """Four teams, of which the reader's is second, and a baseline."""
    for name, score in (("First", 0.9), ("Third", 0.5), ("Fourth", 0.3)):
        scored(phase, TeamFactory.create(competition=team.competition, name=name), score)
    scored(phase, TeamFactory.create(competition=team.competition, name="Plain", is_baseline=True), 0.4)
    return phase, team


def test_a_result_says_its_rank_and_how_far_it_is_from_the_others(world: tuple[Phase, Team]) -> None:
    phase, team = world
    scored(phase, team, 0.55)
    page = page_of(scored(phase, team, 0.7))
    assert "지금 순위 2위 (4팀)" in page.one("div", "position").text
    assert gaps_of(page) == {
        "바로 위 1위와": "−20.0000",
        "기준 팀 ‘Plain’와": "+30.0000",
    }
    assert "점수가 가장 높은 것" in page.one("p", id="own-best").text
    assert "+15.0000" in page.one("p", id="own-best").text


def test_a_result_that_does_not_count_says_which_does_and_its_own_rank(world: tuple[Phase, Team]) -> None:
    phase, team = world
    best, worse = scored(phase, team, 0.95), scored(phase, team, 0.4)
    page = page_of(worse)
    told = page.one("div", "position")
    assert "지금 순위 1위" in told.text
    assert "이 점수만이라면 3위입니다" in told.text
    assert any(a.attributes["href"] == f"/submissions/{best.public_id}/" for a in told.all("a"))
    assert gaps_of(page) == {"기준 팀 ‘Plain’와": "0.0000"}
    assert page.text.count("−55.0000") == 1
    assert "순위표에 오른 내 제출" in page.one("p", id="own-best").text
    assert "바로 아래 2위와" in gaps_of(page_of(best))


def test_two_own_submissions_are_two_differences_where_the_best_is_not_on_the_board(
    world: tuple[Phase, Team],
) -> None:
    phase, team = world
    Phase.objects.filter(pk=phase.pk).update(board="frozen", frozen_at=timezone.now())
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=1))
    early = scored(phase, team, 0.4)
    Submission.objects.filter(pk=early.pk).update(created_at=timezone.now() - timedelta(hours=1))
    scored(phase, team, 0.7)
    page = page_of(scored(phase, team, 0.6))
    assert gaps_of(page)["순위표에 오른 내 점수와"] == "+20.0000"
    best = page.one("p", id="own-best").text
    assert "점수가 가장 높은 것" in best
    assert "−10.0000" in best


def test_each_metric_stands_in_the_field_with_a_plot_and_the_numbers_beside(world: tuple[Phase, Team]) -> None:
    phase, team = world
    page = page_of(scored(phase, team, 0.7))
    row = next(row for row in page.all("tr") if row.all("th") and row.all("th")[0].text == "BLEURT")
    shown = {cell.attributes["data-label"]: cell.text for cell in row.all("td")}
    assert (shown["점수"], shown["팀들의 중앙값"], shown["가장 좋은 값"]) == ("70.0000000", "60.00", "90.00")
    assert shown["팀들 가운데 위치"].endswith("4팀 가운데 2팀보다 좋음")
    assert row.one("svg").attributes["aria-label"].startswith("BLEURT: 팀들의 점수 분포")
    assert html.problems(page) == []


@pytest.mark.parametrize(
    ("rules", "sees_board", "sees_score"),
    [
        ({"board": "hidden"}, False, True),
        ({"board": "hidden", "shows_own_score": False}, False, False),
        ({"board": "frozen", "shows_own_score": False}, False, False),
        ({"board": "frozen"}, True, True),
    ],
)
def test_nothing_of_the_others_is_told_while_the_board_is_not_seen(
    world: tuple[Phase, Team], rules: dict[str, object], sees_board: bool, sees_score: bool
) -> None:
    phase, team = world
    frozen = {"frozen_at": timezone.now()} if rules["board"] == "frozen" else {}
    Phase.objects.filter(pk=phase.pk).update(**rules, **frozen)
    page = page_of(scored(phase, team, 0.95))
    assert bool(page.all("div", "position")) == sees_board
    assert ("95.0000000" in page.text) == sees_score
    if sees_board:  # its own later score is not on the frozen board
        assert "팀의 순위가 없습니다" in page.text
        assert "순위표에 오른다면 1위" in page.text


def test_scores_of_other_conditions_are_not_compared(world: tuple[Phase, Team]) -> None:
    phase, team = world
    page = page_of(scored(phase, team, 0.7, signature_hash="other"))
    assert "채점 조건(서명)이 달라" in page.text
    assert page.all("dl", "gaps") == page.all("svg", "strip") == []


def test_a_rounded_score_is_compared_as_it_is_shown(world: tuple[Phase, Team]) -> None:
    phase, team = world
    Phase.objects.filter(pk=phase.pk).update(score_step=Decimal("0.01"))
    page = page_of(scored(phase, team, 0.70412345))
    assert gaps_of(page)["바로 위 1위와"] == "−20"
    assert "70412345" not in page.text.replace(".", "")


def test_after_the_publication_the_private_score_stands_on_the_final_board(world: tuple[Phase, Team]) -> None:
    phase, team = world
    mine = scored(phase, team, 0.7)
    for run in ScoringRun.objects.filter(submission__phase=phase):
        score = 1 - (run.final_score or 0.0)
        HiddenResult.objects.create(
            run=run,
            final_score=score,
            scores={"final_score": score, **dict.fromkeys(SCORES, score)},
            signature_hash="hidden",
        )
    Phase.objects.filter(pk=phase.pk).update(starts_at="2020-01-01T00:00Z", ends_at="2020-01-02T00:00Z")
    ReferenceVersion.objects.filter(phase=phase).update(public_ids=["q1"])
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))
    page = page_of(mine)
    assert "최종 순위 3위 (4팀)" in page.one("div", "position").text
    assert gaps_of(page)["바로 위 2위와"] == "−20.0000"
    tables = [table for table in page.all("table") if table.all("svg")]
    assert len(tables) == 1
    assert tables[0].all("td")[0].text == "30.0000000"


@pytest.fixture
def resampled(monkeypatch: pytest.MonkeyPatch) -> tuple[Submission, Submission]:
    """A team with two results of forty items, the earlier one far better, among three."""
    for each in (computing, comparing):
        monkeypatch.setattr(each, "TRIALS", 200)
    phase = PhaseFactory.create(track__recipe=RECIPE, track__competition=CompetitionFactory.create())
    best, *_others = teams_with(phase, [0.9, 0.5, 0.4])
    worse = with_items(phase, best.team, report_of(7, 0.3))
    compute(phase)
    return best, worse


def test_the_interval_of_every_result_stands_beside_its_score(resampled: tuple[Submission, Submission]) -> None:
    best, worse = resampled
    page = page_of(best)
    assert "순위의 95% 구간 1위" in page.one("div", "position").text
    for submission in (best, worse):
        page = page_of(submission)
        row = page.one("table").one("tr", "main")
        low, high = intervals_of(submission.live_run_id)[False]["final_score"]
        assert row.one("span", "interval").text == f"95% 구간 {100 * low:.2f}–{100 * high:.2f}"
        assert html.problems(page) == []


def test_a_rounded_score_has_no_interval(resampled: tuple[Submission, Submission]) -> None:
    Phase.objects.update(score_step=Decimal("0.01"))
    page = page_of(resampled[1])
    assert page.all("span", "interval") == page.all("p", id="own-best") == []


def test_the_difference_to_the_best_of_the_team_says_whether_it_may_be_chance(
    resampled: tuple[Submission, Submission],
) -> None:
    best, worse = resampled
    waiting = page_of(worse).one("p", id="own-best")
    assert "계산 중" in waiting.text
    assert waiting.attributes["hx-get"] == f"/submissions/{worse.public_id}/"
    page_of(best)
    assert ResultComparison.objects.count() == 1
    row = ResultComparison.objects.get()
    found = comparing.compute(row)
    ResultComparison.objects.update(lines=found.lines, items=found.items, computed_at=timezone.now())
    low, high = found.lines["final_score"]["interval"]  # of the later minus the earlier
    told = page_of(worse).one("p", id="own-best")
    assert "hx-get" not in told.attributes
    assert "차이가 있음" in told.text
    assert f"차이의 95% 구간 −{-100 * low:.4f} ~ −{-100 * high:.4f}" in told.text
    assert told.one("a").attributes["href"] == f"/submissions/{worse.public_id}/compare/{best.public_id}/"
    assert f"차이의 95% 구간 +{-100 * high:.4f} ~ +{-100 * low:.4f}" in page_of(best).one("p", id="own-best").text


def test_the_history_shows_the_best_the_distance_to_it_and_how_scores_went(world: tuple[Phase, Team]) -> None:
    phase, team = world
    now = timezone.now()
    for hours, score in ((9, 0.5), (6, 0.7), (3, 0.6)):
        scored(phase, team, score, created_at=now - timedelta(hours=hours))
    scored(phase, team, 0.9, created_at=now - timedelta(hours=2), withdrawn_at=now)
    page = html.parse(
        client_of(leader_of(team)).get(f"/competitions/{team.competition.slug}/submissions/").content.decode()
    )
    rows = page.one("table", "history").all("tr", "history-row")
    from_best = [row.one("td", "figure").text for row in rows]
    assert from_best[1:] == ["−10.0000", "최고", "−20.0000"]
    drawn = page.one("svg", "line")
    assert ["plot-own" in dot.classes for dot in drawn.all("circle")] == [True, True, False]
    assert html.problems(page) == []


def test_scores_that_are_not_told_are_not_in_the_trend_either(world: tuple[Phase, Team]) -> None:
    phase, team = world
    Phase.objects.filter(pk=phase.pk).update(board="hidden", shows_own_score=False)
    for hours, score in ((9, 0.5), (6, 0.7)):
        scored(phase, team, score, created_at=timezone.now() - timedelta(hours=hours))
    page = html.parse(
        client_of(leader_of(team)).get(f"/competitions/{team.competition.slug}/submissions/").content.decode()
    )
    assert page.all("svg", "line") == []
    assert "최고" not in page.one("table", "history").text


def test_more_teams_cost_no_more_queries(world: tuple[Phase, Team]) -> None:
    phase, team = world
    scored(phase, team, 0.2)  # with which the other is compared
    mine = scored(phase, team, 0.7)
    client = client_of(leader_of(team))
    counts = []
    for more in (0, 5):
        for number in range(more):
            scored(phase, TeamFactory.create(competition=team.competition), 0.1 * number)
            scored(phase, team, 0.01 * number)
        page_of(mine, client)  # the first reader after a change brings the standings up to date
        with CaptureQueriesContext(connection) as queries:
            page_of(mine, client)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 30
    assert kept.field_of.cache_info().hits
