"""심사: the stages of a track's final as they were published, and the combined standing with its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from malpan.competitions.models import Track
from malpan.competitions.selectors import get_track
from malpan.leaderboard.boards import Disqualified, disqualified, reader_in
from malpan.stages.awarded import awards_by
from malpan.stages.errors import StageNotFound
from malpan.stages.models import Stage, StageSnapshot
from malpan.stages.selectors import (
    StageState,
    disqualified_numbers,
    newest_final,
    newest_snapshot,
    numbers_in,
    publications_of,
    replaced_parts,
    rule_facts,
    stages_of,
    states_of,
    teams_in_publications,
)
from malpan.teams.models import Team
from malpan.web.csv_export import csv_response
from malpan.web.pages.context import page_context, page_of
from malpan.web.presenters.stages import final_lines, heads_of, rule_words, stage_lines

FORMAT: Final = "malpan-stages@2"


@require_safe
def stages_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The combined standing of a track, and its stages: those that are announced or published."""
    page = page_context(request, slug)
    context = page.context("stages", page.track)
    if page.track:
        states = states_of(page.track)
        context |= {"cards": _cards(states), "disqualified": _disqualified(page.track)}
        context["awards"] = awards_by(page.track)
        context |= _final(request, page.track, page.team, states)
    return render(request, "pages/stages.html", context)


def _cards(states: list[StageState]) -> list[tuple[Any, list[str], StageSnapshot | None, bool]]:
    """The stages that are announced or published, each with its share among all of them, and whether it is behind."""
    heads = heads_of([state.stage for state in states])
    return [
        (head, rule_words(_rule_of(state), state.stage.track), state.snapshot, state.is_behind)
        for head, state in zip(heads, states, strict=True)
        if state.snapshot or state.stage.is_announced
    ]


def _rule_of(state: StageState) -> dict[str, Any]:
    rule: dict[str, Any] = state.snapshot.rule if state.snapshot else rule_facts(state.stage)
    return rule


def _disqualified(track: Track) -> list[Disqualified]:
    """The disqualified teams that some publication of the stages of ``track`` has, or left out."""
    left = disqualified(track.competition, reader_in(track.competition, None))
    shown = teams_in_publications(track, [each.number for each in left]) if left else set()
    return [each for each in left if each.number in shown]


def _final(request: HttpRequest, track: Track, team: Team | None, states: list[StageState]) -> dict[str, Any]:
    final = newest_final(track)
    if final is None:
        return {"final": None}
    stages, listed = [state.stage for state in states], page_of(request, final.rows)
    out = disqualified_numbers(track.competition)
    return {
        "final": final,
        "heads": heads_of(stages),
        "lines": final_lines(list(listed), stages, own=team.number if team else None, out=out),
        "page": listed,
        "replaced": replaced_parts(final, states),
        "has_disqualified": bool(numbers_in(final, out)),
    }


@require_safe
def stage_page(request: HttpRequest, slug: str, track_slug: str, position: int) -> HttpResponse:
    """The published result of one stage. Raises ``StageNotFound`` until there is one."""
    page = page_context(request, slug)
    stage, snapshot = _published(get_track(page.competition, track_slug), position)
    listed = page_of(request, snapshot.rows)
    own = page.team.number if page.team else None
    out = disqualified_numbers(page.competition)
    context = page.context("stages", stage.track) | {
        "track": stage.track,
        "stage": stage,
        "snapshot": snapshot,
        "head": heads_of(stages_of(stage.track))[position - 1],
        "words": rule_words(snapshot.rule, stage.track),
        "state": next(state for state in states_of(stage.track) if state.stage == stage),
        "disqualified": _disqualified(stage.track),
        "page": listed,
        "lines": stage_lines(list(listed), stage.source, stage.track, own=own, out=out),
        "is_last": not Stage.objects.filter(track=stage.track_id, position__gt=position).exists(),
    }
    return render(request, "pages/stages_one.html", context)


@require_safe
def stage_csv(request: HttpRequest, slug: str, track_slug: str, position: int) -> HttpResponse:
    """The published result of one stage as a table. Raises ``StageNotFound``."""
    competition = page_context(request, slug).competition
    _stage, snapshot = _published(get_track(competition, track_slug), position)
    columns = ("rank", "team_number", "team", "score", "normalised", "goes_on", "submitted_at")
    rows = [[row[name] for name in columns] for row in snapshot.rows]
    return csv_response(f"{slug}-{track_slug}-stage-{position}.csv", columns, rows)


@require_safe
def final_csv(request: HttpRequest, slug: str, track_slug: str) -> HttpResponse:
    """The published combined standing as a table, with three columns for each stage. Raises ``StageNotFound``."""
    track = get_track(page_context(request, slug).competition, track_slug)
    final = newest_final(track)
    if final is None:
        raise StageNotFound
    count, names = len(final.rule["stages"]), ("score", "rank", "normalised")
    parts = [f"stage_{position}_{name}" for position in range(1, count + 1) for name in names]
    rows = []
    for row in final.rows:
        cells = [part[name] for part in row["parts"] for name in names]
        own = [row["rank"], row["team_number"], row["team"], row["final_score"], row["stopped_at"]]
        rows.append([*own, *cells, *[None] * (len(parts) - len(cells))])
    header = ("rank", "team_number", "team", "final_score", "stopped_at", *parts)
    return csv_response(f"{slug}-{track_slug}-final.csv", header, rows)


@require_safe
def stages_json(request: HttpRequest, slug: str, track_slug: str) -> JsonResponse:
    """Everything that was ever published of a track's stages, as ``verify_chain.py --stages`` reads it."""
    competition = page_context(request, slug).competition
    track = get_track(competition, track_slug)
    published: dict[Stage | None, list[StageSnapshot]] = {}
    for snapshot in publications_of(track):
        published.setdefault(snapshot.stage, []).append(snapshot)
    final = published.pop(None, [])
    body = {
        "format": FORMAT,
        "competition": competition.slug,
        "track": track.slug,
        "stages": [
            {"position": stage.position, "title": stage.title_ko, "title_en": stage.title_en, **_all(snapshots)}
            for stage, snapshots in published.items()
            if stage is not None
        ],
        "final": _all(final) if final else None,
    }
    return JsonResponse(body, json_dumps_params={"ensure_ascii": False})


def _all(snapshots: Sequence[StageSnapshot]) -> dict[str, Any]:
    """Every publication, the first first, and the number of the newest, which is the one that counts."""
    return {"newest": snapshots[-1].number, "snapshots": [_as_dict(snapshot) for snapshot in snapshots]}


def _as_dict(snapshot: StageSnapshot) -> dict[str, Any]:
    return {
        "snapshot": snapshot.number,
        "published_at": snapshot.published_at.isoformat(),
        "note": snapshot.note_ko,
        "note_en": snapshot.note_en,
        "sha256": snapshot.sha256,
        "rule": snapshot.rule,
        "rows": snapshot.rows,
    }


def _published(track: Track, position: int) -> tuple[Stage, StageSnapshot]:
    stages = Stage.objects.filter(track=track, position=min(position, 32767)).select_related("track__competition")
    stage = stages.first()
    snapshot = None if stage is None else newest_snapshot(stage)
    if stage is None or snapshot is None:
        raise StageNotFound
    return stage, snapshot
