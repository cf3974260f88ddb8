"""Competitions, tracks, phases and files for download."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse
from ninja import Schema

from malpan.api.schemas.kinds import seconds
from malpan.competitions import models
from malpan.competitions.references import recipe_of
from malpan.competitions.selectors import phase_to_show
from malpan.core.language import reader_language


class Phase(Schema):
    slug: str
    title: str
    starts_at: datetime
    ends_at: datetime
    is_open: bool
    daily_limit: int | None
    total_limit: int | None
    min_interval_seconds: int
    board: str
    finals_limit: int | None
    counting: str  # which submission of a team counts, where a composite ranks
    counting_score: str | None  # by which it is the best; null: the final score
    score_step: float | None  # of scores 0-1; null: shown as computed
    is_ladder: bool
    ties: str  # how the board shows teams that no test tells apart: band, shared or none
    final_published_at: datetime | None


class Track(Schema):
    slug: str
    title: str
    recipe: str
    phase: Phase | None  # the one that counts now


class Column(Schema):
    key: str
    label: str
    is_main: bool
    is_scaled: bool
    group: str
    higher_is_better: bool


class DataFile(Schema):
    id: int
    kind: str
    title: str
    file_name: str
    file_size: int
    file_sha256: str
    address: str


class TrackDetail(Track):
    description: str
    score_scale: int
    score_decimals: int
    answer_form: str
    columns: list[Column]
    phases: list[Phase]
    files: list[DataFile]


class Competition(Schema):
    slug: str
    title: str
    summary: str
    organiser: str
    is_demo: bool
    terms_version: int  # 0: there are no terms to accept


class CompetitionDetail(Competition):
    description: str
    team_size_max: int
    is_published: bool
    tracks: list[Track]


class CompetitionList(Schema):
    running: list[Competition]
    upcoming: list[Competition]
    past: list[Competition]
    count: int  # of past ones, which come by pages
    next: str | None


class Terms(Schema):
    version: int  # 0: there are none
    text: str
    accepted_at: datetime | None  # the current version, by the caller


def competition(found: models.Competition) -> dict[str, Any]:
    return {
        "slug": found.slug,
        "title": found.title,
        "summary": found.summary,
        "organiser": found.organiser,
        "is_demo": found.is_demo,
        "terms_version": found.terms_version,
    }


def competition_detail(found: models.Competition, tracks: list[models.Track]) -> dict[str, Any]:
    return competition(found) | {
        "description": found.description,
        "team_size_max": found.team_size_max,
        "is_published": found.is_published,
        "tracks": [track(each) for each in tracks],
    }


def track(found: models.Track) -> dict[str, Any]:
    shown = phase_to_show(found)
    return {"slug": found.slug, "title": found.title, "recipe": found.recipe, "phase": shown and phase(shown)}


def track_detail(found: models.Track) -> dict[str, Any]:
    recipe = recipe_of(found)
    return track(found) | {
        "description": found.description,
        "score_scale": found.score_scale,
        "score_decimals": found.score_decimals,
        "answer_form": recipe.answer_form,
        "columns": [
            {
                "key": column.key,
                "label": column.label(reader_language()),
                "is_main": column.is_main,
                "is_scaled": column.is_scaled,
                "group": column.group,
                "higher_is_better": column.higher_is_better,
            }
            for column in recipe.columns
        ],
        "phases": [phase(each) for each in found.phases.all()],
        "files": [data_file(each) for each in found.data_files.all()],
    }


def data_file(found: models.DataFile) -> dict[str, Any]:
    return {
        "id": found.pk,
        "kind": found.kind,
        "title": found.title,
        "file_name": found.file_name,
        "file_size": found.file_size,
        "file_sha256": found.file_sha256,
        "address": reverse("getDataFile", args=[found.pk]),
    }


def phase(found: models.Phase) -> dict[str, Any]:
    return {
        "slug": found.slug,
        "title": found.title,
        "starts_at": found.starts_at,
        "ends_at": found.ends_at,
        "is_open": found.is_open(),
        "daily_limit": found.daily_limit,
        "total_limit": found.total_limit,
        "min_interval_seconds": seconds(found.min_interval),
        "board": found.board,
        "finals_limit": found.finals_limit,
        "counting": found.counting,
        "counting_score": found.counting_score or None,
        "score_step": found.score_step and float(found.score_step),
        "is_ladder": found.is_ladder,
        "ties": found.ties,
        "final_published_at": found.final_published_at,
    }
