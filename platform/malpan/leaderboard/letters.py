"""Word to a team, at most once a day, of the teams that passed it on the public boards of its competition.

Who passed is found when the ranks of a new day are noted (``days``); the letter is due in the morning and says what the
board shows its reader at that moment: no passing that was undone by then, blind names, nothing of a frozen or hidden
board.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core.times import kst_day, kst_day_bounds
from malpan.leaderboard.boards import reader_of
from malpan.leaderboard.passing import Passed
from malpan.leaderboard.selectors import public_ranks
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register
from malpan.notifications.models import Pace
from malpan.teams.models import Membership, Team

RANK_PASSED: Final = "rank_passed"
MORNING: Final = timedelta(hours=8)  # after midnight in Korea


def register_events() -> None:
    label = _("다른 팀이 우리 팀의 순위를 앞질렀을 때(하루 한 번)")
    register(Event(RANK_PASSED, label, _passed, _sample, pace=Pace.DAILY))


def tell_passed(found: Mapping[Phase, Mapping[str, Passed]], now: datetime) -> None:
    """Post a letter to each team that was passed in a phase of ``found``. Call it in the transaction that notes it."""
    boards: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for phase, teams in found.items():
        for team, passed in teams.items():
            boards[team].append({"phase": phase.pk, "by": [int(each) for each in passed.by], "more": passed.more})
    people: dict[int, list[int]] = defaultdict(list)
    for of_team, person in Membership.objects.filter(team__in=map(int, boards)).values_list("team", "user"):
        people[of_team].append(person)
    day = kst_day(now).isoformat()
    posts = [
        outbox.Post(f"{RANK_PASSED}:{day}:{team}", people[int(team)], {"team": int(team), "boards": lines})
        for team, lines in boards.items()
    ]
    outbox.post_all(event=RANK_PASSED, posts=posts, due=kst_day_bounds(now)[0] + MORNING)


def _passed(person: User, facts: Facts) -> Word | None:
    membership = Membership.objects.filter(team=facts["team"], user=person).select_related("team__competition").first()
    if membership is None or not membership.team.competition.is_published:
        return None
    team, lines = membership.team, facts["boards"]
    phases = Phase.objects.select_related("track__competition").in_bulk([line["phase"] for line in lines])
    shown = [_board(phases[line["phase"]], team, line) for line in lines if line["phase"] in phases]
    return _word(team.competition.title, team.name, (each for each in shown if each), team.competition.slug)


def _board(phase: Phase, team: Team, line: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is said of one board; nothing if it shows nobody of ``line`` above ``team`` now."""
    ranks, reader = public_ranks(phase), reader_of(phase, team)
    own = ranks.get(team.pk, 0)
    higher = sorted((ranks[each], each) for each in line["by"] if ranks.get(each, own) < own)
    if not higher:
        return None
    teams = Team.objects.in_bulk([each for _rank, each in higher])
    named = [(rank, reader.name_of(teams[each])) for rank, each in higher]
    return _line(phase.track.title, phase.title, own, named, line["more"])


def _line(track: str, phase: str, rank: int, higher: Iterable[tuple[int, str]], more: int) -> dict[str, Any]:
    passed = [{"rank": rank, "team": name} for rank, name in higher]
    return {"track": track, "phase": phase, "rank": rank, "passed_by": passed, "more": more}


def _word(competition: str, team: str, boards: Iterable[dict[str, Any]], slug: str = "") -> Word | None:
    about = {"competition": competition, "team": team, "boards": list(boards)}
    return Word(about, reverse("board", args=[slug]) if slug else reverse("home")) if about["boards"] else None


def _sample() -> Word:
    word = _word("한글 대회", "가나다", [_line("어문 규범", "본선", 4, [(2, "라마바"), (3, "사아자")], 0)])
    assert word is not None
    return word
