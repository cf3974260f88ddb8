"""The essay scoring demo once more, at its own address and by another recipe, in a running site: for ``Stack.call``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.waiting import wait_for


def prepare(slug: str, recipe: str) -> dict[str, Any]:
    """The contest with its teams; every submission is scored by the site's worker."""
    from django.utils import timezone

    from malpan.competitions.models import Phase
    from malpan.demo.loading import LoadCount, load_competition
    from malpan.demo.specs import COMPETITIONS
    from malpan.submissions.models import ScoringRun

    [spec] = [spec for spec in COMPETITIONS if spec.slug == "demo-essays"]
    [track] = spec.tracks
    count = LoadCount()
    load_competition(replace(spec, slug=slug, tracks=(replace(track, recipe=recipe),)), timezone.now(), count)
    runs = ScoringRun.objects.filter(submission__phase__track__competition__slug=slug)
    wait_for(lambda: not runs.exclude(state__in=("finished", "failed")).exists(), "all is scored", seconds=120)
    assert set(runs.values_list("state", flat=True)) == {"finished"}, [run.error_code for run in runs]
    phase = Phase.objects.get(track__competition__slug=slug)
    return {"slug": slug, "phase": phase.pk, "track": phase.track.slug, "submissions": count.submissions}
