"""Addresses of the manage pages, below ``competitions/<slug>/manage/``."""

from __future__ import annotations

from typing import Final

from django.urls import URLPattern

from malpan.web.manage import (
    archive,
    arena,
    arena_computations,
    arena_judges,
    arena_planner,
    arena_practice,
    arena_quality,
    arena_rubrics,
    arena_running,
    arena_systems,
    audit,
    duplicates,
    figures,
    judge,
    notices,
    overview,
    phases,
    questions,
    quota,
    references,
    rescoring,
    roles,
    runs,
    setup,
    setup_files,
    setup_targets,
    setup_tracks,
    stages,
    stages_tables,
    submissions,
    teams,
    webhooks,
)

_PAGES: Final = (
    archive,
    arena,
    arena_computations,
    arena_judges,
    arena_planner,
    arena_practice,
    arena_quality,
    arena_rubrics,
    arena_running,
    arena_systems,
    audit,
    duplicates,
    figures,
    judge,
    notices,
    overview,
    phases,
    questions,
    quota,
    references,
    rescoring,
    roles,
    runs,
    setup,
    setup_files,
    setup_targets,
    setup_tracks,
    stages,
    stages_tables,
    submissions,
    teams,
    webhooks,
)

urlpatterns: Final[list[URLPattern]] = [pattern for page in _PAGES for pattern in page.urlpatterns]
