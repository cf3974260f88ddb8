"""The campaign of the chaos: judges compare the labels of teams in pairs. Run beside a site where files of labels are
on their way; prints the number of the campaign and a session of each judge.
"""

from __future__ import annotations

import json
from typing import Any

from tests.chaos.contest import SLUG
from tests.sessions import session_of

JUDGES, ITEMS, TEAMS = 4, 16, 4
SCORED_SECONDS = 90.0


def make() -> dict[str, Any]:
    """``{"campaign": its number, "sessions": those of its judges}``."""
    from django.utils import timezone

    from malpan.accounts.models import User
    from malpan.arena.campaigns import create_campaign
    from malpan.arena.opening import open_campaign
    from malpan.arena.rubrics import create_rubric
    from malpan.arena.systems import choose_top
    from malpan.competitions.models import CompetitionRole, Phase
    from malpan.competitions.roles import appoint
    from malpan.demo.judges import add_judge, agree

    phase = Phase.objects.select_related("track__competition").get(track__competition__slug=SLUG, track__slug="labels")
    _wait_for_teams(phase)
    owner = User.objects.create_user(email="owner@example.org", name="운영자")
    appoint(competition=phase.track.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    rubric = create_rubric(track=phase.track, actor=owner, title_ko="기준표", guideline_ko="견줍니다.")
    campaign = create_campaign(
        track=phase.track, actor=owner, rubric=rubric, phase=phase, title_ko="평가", protocol="pairwise",
        item_count=ITEMS, judges_per_unit=2, control_percent=0, repeat_percent=0, calibration_count=0, min_seconds=0,
    )  # fmt: skip
    choose_top(campaign=campaign, actor=owner, count=TEAMS)
    now = timezone.now()
    for number in range(JUDGES):
        row = {"name": f"평가자 {number}", "institution": f"{number}번 기관"}
        agree(add_judge(campaign, owner, f"judge-{number}@example.org", row, now), now)
    open_campaign(campaign=campaign, actor=owner)
    return {"campaign": campaign.pk, "sessions": [session_of(each.user) for each in campaign.judges.all()]}


def _wait_for_teams(phase: Any) -> None:
    """Return when the files of two teams are scored."""
    from malpan.submissions.models import Submission
    from tests.waiting import wait_for

    scored = Submission.objects.filter(phase=phase, live_run__state="finished").values("team").distinct()
    wait_for(lambda: scored.count() > 1, "two teams with labels", seconds=SCORED_SECONDS)


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(make()))
