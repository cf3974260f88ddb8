"""Who won: the first of each track's published result, of the final in stages or of the final board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F, Func, JSONField, Q, Value

from malpan.competitions.models import Competition, Track
from malpan.competitions.selectors import is_blind
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.models import Stage, StageSnapshot
from malpan.teams.models import Team

PLACES: Final = 3
ROWS_READ: Final = 20  # of the 10,000 that a board may have: baselines and disqualified teams may be among them


@dataclass(frozen=True, slots=True)
class Winner:
    """``model`` and ``paper``: the addresses that the team gave; empty without, and while names are blind."""

    rank: int
    team: str
    model: str = ""
    paper: str = ""


@dataclass(frozen=True, slots=True)
class TrackWinners:
    """``page``: the name of the page with the whole result."""

    track: Track
    page: str
    winners: tuple[Winner, ...]


class _FirstRows(Func):
    """The first rows of a JSON array, without the others being read."""

    function = "jsonb_path_query_array"
    template = "%(function)s(%(expressions)s::jsonpath)"
    output_field = JSONField()


_HEAD: Final = _FirstRows(F("rows"), Value(f"$[0 to {ROWS_READ - 1}]"))


def winners_of(competitions: Iterable[Competition]) -> dict[int, list[TrackWinners]]:
    """The winners of each track with a published result, by the key of the competition. Five queries at most."""
    competitions = list(competitions)
    tracks = list(Track.objects.filter(competition__in=competitions).order_by("position", "pk"))
    if not tracks:
        return {}
    boards, finals = _boards(tracks), _finals(tracks)
    staged = set(Stage.objects.filter(track__in=tracks).values_list("track", flat=True))
    teams = _teams(tracks, [*boards.values(), *finals.values()])
    blind = {each.pk for each in competitions if is_blind(each)}
    found: dict[int, list[TrackWinners]] = {}
    for track in tracks:
        page, rows = ("stages", finals.get(track.pk)) if track.pk in staged else ("board", boards.get(track.pk))
        key = track.competition_id
        known = {number: told for (competition, number), told in teams.items() if competition == key}
        if first := _first(rows or (), known, names_links=key not in blind):
            found.setdefault(key, []).append(TrackWinners(track, page, first))
    return found


def _boards(tracks: list[Track]) -> dict[int, list[Mapping[str, Any]]]:
    """The first rows of the newest final board of the last phase that has one, by the key of the track."""
    snapshots = BoardSnapshot.objects.filter(
        phase__track__in=tracks, phase__final_published_at__isnull=False, kind=BoardSnapshot.Kind.FINAL
    )
    newest = snapshots.order_by("phase__track", "-phase__ends_at", "-phase", "-number").distinct("phase__track")
    return dict(newest.annotate(head=_HEAD).values_list("phase__track", "head"))


def _finals(tracks: list[Track]) -> dict[int, list[Mapping[str, Any]]]:
    """The same of the newest combined standing."""
    newest = StageSnapshot.objects.filter(track__in=tracks, stage=None).order_by("track", "-number").distinct("track")
    return dict(newest.annotate(head=_HEAD).values_list("track", "head"))


@dataclass(frozen=True, slots=True)
class _Told:
    """What is to be known of a team beside its row."""

    is_out: bool
    model: str
    paper: str


def _teams(tracks: list[Track], heads: list[list[Mapping[str, Any]]]) -> dict[tuple[int, int], _Told]:
    """The teams of which there is something to know, by competition and number: of all those of ``heads`` at most."""
    said = Q(disqualified_at__isnull=False) | ~Q(model_url="") | ~Q(paper_url="")
    numbers = {row["team_number"] for rows in heads for row in rows}
    teams = Team.objects.filter(said, competition__in={each.competition_id for each in tracks}, number__in=numbers)
    found = teams.values_list("competition", "number", "disqualified_at", "model_url", "paper_url")
    return {(key, number): _Told(at is not None, model, paper) for key, number, at, model, paper in found}


def _first(rows: Iterable[Mapping[str, Any]], known: Mapping[int, _Told], *, names_links: bool) -> tuple[Winner, ...]:
    """Those on the first places, without who was disqualified after the publication."""
    winners = []
    for row in rows:
        told = known.get(row["team_number"])
        if row["rank"] is None or row["rank"] > PLACES or (told and told.is_out):
            continue
        links = (told.model, told.paper) if told and names_links else ("", "")
        winners.append(Winner(row["rank"], row["team"], *links))
    return tuple(winners)
