"""A contest that is over and goes on in three stages, in a running site's database: for ``Stack.call``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

SCORES = ((0.9, 0.4), (0.7, 0.8), (0.5, 0.6), (0.3, 0.7), (0.2, 0.1))  # exact match and ROUGE-1 of the teams 1 to 5


def prepare(slug: str, owner: str, organiser: str) -> dict[str, Any]:
    """Five scored teams of a track that ranks by a composite, ``owner`` and ``organiser`` by their e-mails, and the
    stages: the board (three go on), an evaluation by people (two go on), a presentation.
    """
    from django.utils import timezone

    from malpan.accounts.models import User
    from malpan.competitions.models import Competition, CompetitionRole, Phase, Track
    from malpan.stages.services import create_stage
    from malpan.submissions.integrity import chain
    from malpan.submissions.integrity.receipts import issue_receipt
    from tests.factories import TeamFactory, finished_submission
    from tests.system.make_contest import answers, make

    make(slug, ["item-0"], answers(["item-0"], 3))
    competition = Competition.objects.get(slug=slug)
    parts = [{"score": "exact_match", "weight": 45}, {"score": "rouge_1", "weight": 55}]
    Track.objects.filter(competition=competition).update(composite=parts)
    phase, now = Phase.objects.get(track__competition=competition), timezone.now()
    for number, (exact, rouge) in enumerate(SCORES, start=1):
        team = TeamFactory.create(competition=competition, name=f"감자팀 {number}")
        moment = now - timedelta(hours=number)
        scores = {"exact_match": exact, "rouge_1": rouge}
        row = finished_submission(phase, team, (exact + rouge) / 2, scores=scores, created_at=moment)
        issue_receipt(submission=row)
        chain.append_scores([row])
    Phase.objects.filter(pk=phase.pk).update(ends_at=now - timedelta(minutes=1))
    people = {role: User.objects.get(email=email) for role, email in (("owner", owner), ("organiser", organiser))}
    for role, person in people.items():
        CompetitionRole.objects.create(user=person, competition=competition, role=role)
    phase.refresh_from_db()
    rules: list[dict[str, Any]] = [
        {"title_ko": "순위표", "phase": phase, "weight": 50, "cut": 3},
        {"title_ko": "사람 평가", "scale_min": 0.0, "scale_max": 100.0, "weight": 30, "cut": 2},
        {"title_ko": "발표", "scale_min": 0.0, "scale_max": 10.0, "weight": 20},
    ]
    stages = [create_stage(track=phase.track, actor=people["owner"], **rule) for rule in rules]
    return {"slug": slug, "phase": phase.pk, "stages": [stage.pk for stage in stages]}
