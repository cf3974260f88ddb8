"""Contests whose rows a request may name: one that runs, one that was judged in stages and has awards, one that people
evaluate.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any, Final

from malpan.accounts.models import User
from malpan.arena.models import CampaignJudge, Judgement
from malpan.competitions.models import Competition, CompetitionEndpoint, CompetitionRole, Notice, Question
from malpan.competitions.roles import appoint
from malpan.core.storage import store_private
from malpan.notifications.models import Endpoint, Letter
from malpan.stages.awards import create_award, publish_awards
from malpan.teams.models import Membership
from tests.arena.conftest import judge_everything, make_world
from tests.factories import (
    PhaseFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
    prediction_bytes,
    publish,
)
from tests.stages.conftest import make_contest

SHARED: Final = 900_001  # a primary key of rows of several tables, which none gives by itself
FIELDS: Final = {"team_number": "teams", "track": "tracks", "phase": "phases", "rubric": "rubric"}  # of bodies
EVERY: Final = {"competitions", "tracks"}


@dataclass(frozen=True)
class There:
    """A contest. ``rows``: what an address may name after a part of it, as primary keys after ``phases``."""

    competition: Competition
    rows: Mapping[str, Sequence[Any]]

    def address(self, path: str, given: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
        """The values of the address ``path``: those of ``given`` where there is nothing that it could name."""
        found = dict(given)
        for before, part in pairwise(path.split("/")):
            name = part.strip("{}")
            if part.startswith("{") and name in found:
                found[name] = chance.choice(self.rows.get(_subject(before), [found[name], SHARED]))
        return found

    def body(self, given: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
        names = {name: FIELDS[name] for name in given if FIELDS.get(name) in self.rows}
        return {**given, **{name: chance.choice(self.rows[subject]) for name, subject in names.items()}}


def _subject(before: str) -> str:
    """Two ids in a row, and those that are compared, are of submissions."""
    return "submissions" if before in {"duplicates", "{one_id}", "compare"} else before


def fitting(contests: Sequence[There], path: str) -> Sequence[There]:
    """Those that have everything that ``path`` is about; all, where none has."""
    known = {subject for each in contests for subject in each.rows} - EVERY
    subjects = known & set(path.split("/"))
    return [each for each in contests if subjects <= each.rows.keys()] or contests


def made_contests() -> list[There]:
    found = [running(), judged(), evaluated()]
    participant, owner = participant_of(found), owner_of(found)
    for each in found[1:]:
        appoint(competition=each.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
        team = each.competition.teams.order_by("number")[0]
        Membership.objects.create(team=team, user=participant, competition=each.competition)
    return found


def participant_of(contests: Sequence[There]) -> User:
    return leader_of(contests[0].competition.teams.get())


def owner_of(contests: Sequence[There]) -> User:
    return contests[0].competition.roles.get().user


def running() -> There:
    """A phase with a scored submission, webhooks, a notice, a question."""
    phase = PhaseFactory.create(pk=SHARED, daily_limit=500)
    version = publish(phase)
    competition = phase.track.competition
    team = TeamFactory.create(competition=competition)
    submission = finished_submission(phase, team, 0.5, file_sha256=store_private(prediction_bytes()).sha256)
    owner, person = UserFactory.create(), leader_of(team)
    role = appoint(competition=competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    own = {"url": "https://hooks.example.com/", "events": ["scored"]}
    webhooks = [
        Endpoint.objects.create(pk=SHARED, person=person, **own),
        CompetitionEndpoint.objects.create(competition=competition, **own),
    ]
    letters = [Letter.objects.create(endpoint=each, event="scored", key="k", person=each.person) for each in webhooks]
    notice = Notice.objects.create(competition=competition, title_ko="공지", body_ko="내용")
    question = Question.objects.create(competition=competition, asked_by=person, title="형식", body="어떻게?")
    rows = {
        "competitions": [competition.slug],
        "tracks": [phase.track.slug],
        "phases": [phase.pk],
        "submissions": [str(submission.public_id)],
        "runs": [submission.live_run_id],
        "teams": [team.number],
        "members": [person.pk],
        "references": [version.pk],
        "roles": [role.pk],
        "webhooks": [each.pk for each in webhooks],
        "deliveries": [each.pk for each in letters],
        "notices": [notice.pk],
        "questions": [question.pk],
    }
    return There(competition, rows)


def judged() -> There:
    """Awards by the board, one of them published; then a stage that is published and one with a table that waits."""
    contest = make_contest()
    values = {"competition": contest.competition, "actor": contest.writer, "awarded_on": date(2026, 12, 5)}
    awards = [create_award(team=contest.teams[1], title_ko="대상", track=contest.track, **values)]
    publish_awards(competition=contest.competition, actor=contest.writer)
    awards.append(create_award(team=contest.teams[2], title_ko="우수상", **values))
    first, second = contest.stage(), contest.stage()
    contest.publish(first)
    contest.enter(second, {1: 50, 2: 90, 3: 70})
    rows = {
        "competitions": [contest.competition.slug],
        "tracks": [contest.track.slug],
        "phases": [contest.phase.pk],
        "teams": list(contest.teams),
        "stages": [first.pk, second.pk],
        "awards": [each.pk for each in awards],
        "standing": [],
    }
    return There(contest.competition, rows)


def evaluated() -> There:
    """Human evaluations: a draft, one in which everything is judged, one that is closed."""
    world = make_world()
    campaigns = [world.ready(judges=2), world.opened(judges=2), world.closed(judges=2)]
    judge_everything(campaigns[1])
    of_open = Judgement.objects.filter(assignment__campaign=campaigns[1])
    rows = {
        "competitions": [world.competition.slug],
        "tracks": [world.track.slug],
        "phases": [world.phase.pk],
        "teams": list(world.teams),
        "submissions": [str(each.public_id) for each in world.submissions.values()],
        "arena": [each.pk for each in campaigns],
        "judges": list(CampaignJudge.objects.filter(campaign__in=campaigns).values_list("pk", flat=True)),
        "judgements": list(of_open.values_list("pk", flat=True)[:20]),
        "rubrics": [world.track.slug],
        "rubric": [world.rubric().pk],
    }
    return There(world.competition, rows)
