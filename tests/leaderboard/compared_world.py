"""Two results of one team on forty items, the later one far better, whose third answers differ."""

from __future__ import annotations

from malpan.competitions.models import Phase
from malpan.core.storage import store_private
from malpan.submissions.models import Submission
from tests.factories import PhaseFactory, TeamFactory, file_bytes, publish, rows
from tests.leaderboard.sureness_world import RECIPE, report_of, scored

ANSWERS = ("‘맞히다’가 옳다.", "‘맞추다’가 옳다.")
TRIALS = 400


def two_results() -> tuple[Submission, Submission]:
    phase: Phase = PhaseFactory.create(track__recipe=RECIPE, track__competition__is_published=True)
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition)
    found = []
    for number, skill in enumerate((0.3, 0.9)):
        row = scored(phase, team, report_of(number, skill))
        items = rows(3, ANSWERS[0])
        items[2]["output"]["answer"] = ANSWERS[number]
        stored = store_private(file_bytes(items))
        Submission.objects.filter(pk=row.pk).update(file_sha256=stored.sha256, file_size=stored.size)
        row.refresh_from_db()
        found.append(row)
    return found[0], found[1]
