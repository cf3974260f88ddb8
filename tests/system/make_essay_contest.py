"""The essay scoring demo once more, at its own address and by another recipe, in a running site: for ``Stack.call``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any


def prepare(slug: str, recipe: str) -> dict[str, Any]:
    """The contest with its teams; the site's worker scores every submission."""
    from django.utils import timezone

    from malpan.competitions.models import Phase
    from malpan.demo.loading import LoadCount, load_competition
    from malpan.demo.specs import COMPETITIONS

    [spec] = [spec for spec in COMPETITIONS if spec.slug == "demo-essays"]
    [track] = spec.tracks
    count = LoadCount()
    load_competition(replace(spec, slug=slug, tracks=(replace(track, recipe=recipe),)), timezone.now(), count)
    phase = Phase.objects.get(track__competition__slug=slug)
    return {"slug": slug, "phase": phase.pk, "track": phase.track.slug, "submissions": count.submissions}


def invite(slug: str, team: str) -> dict[str, Any]:
    """An invitation to a team, by its leader."""
    from malpan.teams.invitations import create_invitation
    from malpan.teams.models import Membership

    leader = Membership.objects.get(team__competition__slug=slug, team__name=team, role="leader")
    _invitation, token = create_invitation(team=leader.team, actor=leader.user)
    return {"token": token}
