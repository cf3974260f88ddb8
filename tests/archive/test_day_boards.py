"""A competition with the boards of its days and with awards on another site: what leaves it again is what came."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from malpan.archive.importing import import_competition
from malpan.competitions.models import Competition, Phase
from malpan.core.times import KST, kst_day, kst_day_bounds
from malpan.leaderboard import standings
from malpan.leaderboard.day_boards import keep_day_boards
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.verification import verify_competition as verify_boards
from malpan.notifications.models import Letter
from malpan.stages.awards import create_award, publish_awards, remove_award
from malpan.stages.verification import verify_competition as verify_stages
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import issue_receipt
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team
from tests.archive.full_competition import exported
from tests.archive.test_archive import content
from tests.composite_boards import install, values
from tests.factories import PhaseFactory, TeamFactory, finished_submission, person_in
from tests.web import html

pytestmark = pytest.mark.django_db
DAYS = [kst_day(timezone.now()) - timedelta(days=ago) for ago in (3, 2, 1)]


@pytest.fixture(params=["score", "composite", "blind names"])
def competition(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Competition:
    """Three days, on the last of which the leading team was disqualified; then the final board, with awards by it."""
    fields = {"track__recipe": install(monkeypatch)} if request.param == "composite" else {}
    phase: Phase = PhaseFactory.create(starts_at=_noon(DAYS[0]), ends_at=_noon(DAYS[-1]), **fields)
    competition = phase.track.competition
    Competition.objects.filter(pk=competition.pk).update(has_blind_names=request.param == "blind names")
    owner = person_in(competition, "owner", name="주인")
    for name, score in (("가", 0.8), ("나", 0.6), ("다", 0.4), ("기준", 0.7)):
        TeamFactory.create(competition=competition, name=name, is_baseline=name == "기준")
        _score(phase, name, score, _noon(DAYS[0]) + timedelta(hours=1))
    _keep(phase, DAYS[0])
    _score(phase, "다", 0.9, _noon(DAYS[1]))
    _keep(phase, DAYS[1])
    disqualify_team(team=_team(competition, "가"), actor=owner, note_ko="두 팀으로 참가", note_en="Two teams")
    _keep(phase, DAYS[2])
    publish_final_board(phase=Phase.objects.get(pk=phase.pk), actor=owner, note_ko="최종")
    given = {"competition": competition, "actor": owner, "awarded_on": date(2026, 12, 5)}
    create_award(
        **given, team=_team(competition, "다"), title_ko="대상", title_en="Grand", prize_ko="상금", track=phase.track
    )
    revoked = create_award(**given, team=_team(competition, "나"), title_ko="특별상")
    publish_awards(competition=competition, actor=owner)
    remove_award(award=revoked, actor=owner)
    create_award(**given, team=_team(competition, "나"), title_ko="우수상", track=phase.track)
    return competition


def _noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=KST)


def _team(competition: Competition, name: str) -> Team:
    return Team.objects.get(competition=competition, name=name)


def _score(phase: Phase, name: str, score: float, moment: datetime) -> None:
    team = _team(phase.track.competition, name)
    scores = values(1 - score, score, score / 2)
    row = finished_submission(phase, team, score, scores=scores, created_at=moment)
    issue_receipt(submission=row)
    chain.append_scores([row])


def _keep(phase: Phase, day: date) -> None:
    standings.refresh(phase)
    assert keep_day_boards(_midnight(day)) == 1


def _midnight(day: date) -> datetime:
    """Some seconds after ``day`` ended."""
    return kst_day_bounds(_noon(day))[1] + timedelta(seconds=5)


def seen(competition: Competition, query: str = "") -> list[str]:
    """The rows of a board as its page shows them, their titles of awards too."""
    answer = Client().get(f"/competitions/{competition.slug}/board/{query}")
    assert answer.status_code == 200
    return [row.text for row in html.parse(answer.content.decode()).one("table", "board").all("tr")[1:]]


def test_what_leaves_the_site_again_is_what_came(competition: Competition, empty_site: Callable[[], None]) -> None:
    queries = ["", "?view=public", *(f"?day={day}" for day in DAYS)]
    before = {query: seen(competition, query) for query in queries}
    assert any("대상" in row for row in before[""])
    assert len({tuple(rows) for rows in before.values()}) >= 4, "the days differ"
    archive = exported(competition)
    empty_site()
    imported = import_competition(file=archive, actor=None).competition
    assert content(exported(imported)) == content(archive)
    assert {query: seen(imported, query) for query in queries} == before
    kept = BoardSnapshot.objects.filter(kind=BoardSnapshot.Kind.DAY).order_by("number")
    assert [(each.number, each.day) for each in kept] == list(enumerate(DAYS, 1))
    assert [*verify_boards(imported), *verify_stages(imported)] == []


def test_the_new_site_keeps_no_day_twice_and_writes_to_nobody(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    archive = exported(competition)
    empty_site()
    imported = import_competition(file=archive, actor=None).competition
    standings.refresh(Phase.objects.get(track__competition=imported))
    assert keep_day_boards(_midnight(DAYS[-1])) == 0
    assert not Letter.objects.exists()
