"""A contest with a long board, in a running site's database: for ``Stack.call``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

TEAMS = 50  # from so many on a board can be searched


def prepare(slug: str, email: str) -> dict[str, Any]:
    """An open phase with many teams; the person with this e-mail leads one more, of two scored submissions.

    Returns ``slug``, ``ids`` of the items, and ``files``: the names of the two.
    """
    from django.utils import timezone

    from malpan.accounts.models import User
    from malpan.competitions.models import Phase
    from tests.factories import TeamFactory, finished_submission
    from tests.system.make_contest import make_numbered

    made = make_numbered(slug, 4, 3)
    phase, now = Phase.objects.get(track__competition__slug=slug), timezone.now()
    competition = phase.track.competition
    for number in range(1, TEAMS + 1):
        team = TeamFactory.create(competition=competition, name=f"이웃 팀 {number}")
        score = score_of(number)
        finished_submission(phase, team, score, scores={"exact_match": score, "rouge_1": score})
    own = TeamFactory.create(competition=competition, name="자판 팀", leader=User.objects.get(email=email))
    files = {"first.json": 0.4, "second.json": 0.7}
    for hours, (name, score) in enumerate(files.items()):
        moment = now - timedelta(hours=3 - hours)
        scores = {"exact_match": score, "rouge_1": score / 2}
        finished_submission(phase, own, score, scores=scores, file_name=name, created_at=moment)
    return {**made, "files": list(files)}


def score_of(number: int) -> float:
    """That of the team ``이웃 팀 1`` and so on."""
    return number / (TEAMS + 1)
