"""Reads of awards: of a competition, of a team, and what would be proposed by a published result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from malpan.competitions.models import Competition, Track
from malpan.competitions.selectors import is_blind
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import published_rows
from malpan.stages.award_errors import AwardInvalid, AwardNotFound, NoFinalResult
from malpan.stages.models import Award
from malpan.stages.placings import final_result
from malpan.teams.models import Team
from malpan.teams.selectors import members_of

PLACES_MAX: Final = 20
TITLES: Final = (  # of the places from the first on; the last one is for all that follow
    ("대상", "Grand Prize"),
    ("최우수상", "First Prize"),
    ("우수상", "Excellence Prize"),
    ("장려상", "Encouragement Prize"),
)


@dataclass(frozen=True, slots=True)
class Proposed:
    """A team on one of the first places. ``sharing``: how many teams have the place; ``has_award``: it got one on this
    track; ``has_other``: it got one on another track or on none.
    """

    team: Team
    rank: int
    sharing: int
    has_award: bool
    has_other: bool
    title_ko: str
    title_en: str


def _told(awards: QuerySet[Award]) -> QuerySet[Award]:
    """With what ``basis_of_award`` reads, and without the rows of whole boards."""
    tracks = Track.objects.filter(competition=OuterRef("competition")).order_by().values("competition")
    rows = awards.annotate(tracks=Subquery(tracks.annotate(count=Count("pk")).values("count")))
    return rows.select_related("competition", "team", "stage_snapshot__track", "board_snapshot__phase__track").defer(
        "board_snapshot__rows"
    )


def awards_of(competition: Competition) -> QuerySet[Award]:
    """The list of the organisers, published or not, without what was revoked."""
    rows = Award.objects.filter(competition=competition, revoked_at__isnull=True)
    return _told(rows).order_by("position")


def award_of(competition: Competition, pk: int) -> Award:
    """The award of the list with primary key ``pk``. Raises ``AwardNotFound``."""
    found = awards_of(competition).filter(pk=pk).first()
    if found is None:
        raise AwardNotFound
    return found


def listed_awards(competitions: Iterable[Competition]) -> QuerySet[Award]:
    """What everybody sees: ``given_awards`` of competitions whose teams have their names; blind ones have numbers."""
    return given_awards(each for each in competitions if not is_blind(each))


def given_awards(competitions: Iterable[Competition]) -> QuerySet[Award]:
    """What a team was given: published, and not to a team that was disqualified since."""
    rows = Award.objects.filter(competition__in=list(competitions), published_at__isnull=False)
    return _told(rows.filter(team__disqualified_at__isnull=True)).order_by("competition", "position")


def awards_by(track: Track) -> list[Award]:
    """The published awards that rest on a result of ``track``."""
    rests = Q(stage_snapshot__track=track) | Q(board_snapshot__phase__track=track)
    return list(listed_awards([track.competition]).filter(rests))


def titles_by_number(awards: Iterable[Award]) -> dict[int, tuple[str, ...]]:
    """The titles of ``awards`` in the reader's language, by the number of their team."""
    titles: dict[int, tuple[str, ...]] = defaultdict(tuple)
    for award in awards:
        titles[award.team.number] += (award.title,)
    return dict(titles)


def awards_of_team(team: Team) -> QuerySet[Award]:
    """The published awards of ``team``."""
    return given_awards([team.competition]).filter(team=team)


def names_of(team: Team) -> list[str]:
    """The members as an award names them: as they call themselves, without whose data were erased."""
    return [each.user.name for each in members_of(team) if each.user.erased_at is None and each.user.name]


def track_of(award: Award) -> Track | None:
    """The track whose result the award rests on."""
    if award.stage_snapshot is not None:
        return award.stage_snapshot.track
    return None if award.board_snapshot is None else award.board_snapshot.phase.track


@dataclass(frozen=True, slots=True)
class AwardBasis:
    """The track that an award was given on, and the rank of its team there, where the result has it."""

    track: Track
    rank: int | None

    @property
    def text(self) -> str:
        names = {"track": self.track.title, "rank": self.rank}
        return self.track.title if self.rank is None else _("%(track)s %(rank)s위") % names


def basis_of_award(award: Any) -> AwardBasis | None:
    """What tells ``award`` from one with the same title on another track; ``None`` where the competition has only one
    track. ``award`` comes from a query of this module.
    """
    track = track_of(award)
    if track is None or award.tracks < 2:
        return None
    rows = award.stage_snapshot.rows if award.stage_snapshot else published_rows(award.board_snapshot)
    rank = next((row["rank"] for row in rows if row["team_number"] == award.team.number), None)
    return AwardBasis(track, rank)


def awardable_tracks(competition: Competition) -> list[Track]:
    """The tracks whose final result is published. Raises ``NoFinalResult`` if there is none."""
    found = [track for track in competition.tracks.order_by("position", "pk") if final_result(track) is not None]
    if not found:
        raise NoFinalResult
    return found


def awardable_teams(competition: Competition) -> QuerySet[Team]:
    """The teams that may get an award, by name: participants who submitted. A disqualified one is refused by name."""
    teams = Team.objects.filter(competition=competition, is_baseline=False, merged_into=None)
    return teams.filter(submissions__isnull=False).distinct().order_by("name", "pk")


def proposal_of(track: Track, places: int) -> list[Proposed]:
    """Who stands on the first ``places`` of the final result of ``track``, without who was disqualified since.

    Raises ``AwardInvalid`` and ``NoFinalResult``.
    """
    if not 1 <= places <= PLACES_MAX:
        raise AwardInvalid("places")
    result = final_result(track)
    if result is None:
        raise NoFinalResult
    ranks = {row["team_number"]: row["rank"] for row in result.rows if row["rank"] and row["rank"] <= places}
    teams = awardable_teams(track.competition).filter(number__in=ranks, disqualified_at__isnull=True)
    sharing = Counter(ranks[team.number] for team in teams)
    awarded: dict[bool, set[int]] = {True: set(), False: set()}  # by whether it was on this track
    for award in awards_of(track.competition):
        awarded[track_of(award) == track].add(award.team_id)
    found = []
    for team in teams:
        rank = ranks[team.number]
        has_award, has_other = team.pk in awarded[True], team.pk in awarded[False]
        found.append(Proposed(team, rank, sharing[rank], has_award, has_other, *TITLES[min(rank, len(TITLES)) - 1]))
    return sorted(found, key=lambda each: (each.rank, each.team.number))


def basis_of(track: Track) -> dict[str, object]:
    """The columns that say on which result of ``track`` an award rests. Raises ``AwardInvalid``."""
    result = final_result(track)
    if result is None:
        raise AwardInvalid("track")
    is_board = isinstance(result.snapshot, BoardSnapshot)
    return {
        "board_snapshot": result.snapshot if is_board else None,
        "stage_snapshot": None if is_board else result.snapshot,
    }
