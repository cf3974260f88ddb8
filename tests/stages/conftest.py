"""A track whose board is published, with two organisers and stages to judge."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, CompetitionRole, Phase, Track
from malpan.leaderboard.snapshots import publish_final_board
from malpan.stages.contents import final_content, stage_content
from malpan.stages.entering import confirm_table, enter_table
from malpan.stages.models import Stage, StageSnapshot, StageTable
from malpan.stages.publishing import publish_final, publish_stage
from malpan.stages.selectors import newest_table
from malpan.stages.services import create_stage
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import issue_receipt
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, publish

SCORES = (0.9, 0.8, 0.7, 0.6, 0.5)  # of the teams 1 to 5 on the board


@dataclass
class Contest:
    """``writer`` enters, ``reader`` confirms and publishes; ``teams`` by number, the best on the board first."""

    phase: Phase
    writer: User
    reader: User
    teams: dict[int, Team] = field(default_factory=dict)

    @property
    def track(self) -> Track:
        return self.phase.track

    @property
    def competition(self) -> Competition:
        return self.phase.track.competition

    def stage(self, **values: object) -> Stage:
        """The next stage: the first cuts to three teams by value, a later one is 0 to 100."""
        is_first = not Stage.objects.filter(track=self.track).exists()
        given: dict[str, Any] = {"phase": self.phase, "cut": 3} if is_first else {"scale_min": 0.0, "scale_max": 100.0}
        given |= {"title_ko": "순위표" if is_first else "사람 평가", "weight": 50}
        return create_stage(track=self.track, actor=self.writer, **(given | values))

    def enter(self, stage: Stage, scores: dict[int, object], reason: str = "", actor: User | None = None) -> StageTable:
        last = newest_table(stage)
        text = "팀 번호,점수\n" + "".join(f"{number},{score}\n" for number, score in scores.items())
        return enter_table(
            stage=stage, text=text, actor=actor or self.writer, based_on=last.number if last else 0, reason=reason
        )

    def confirm(self, table: StageTable, actor: User | None = None) -> None:
        confirm_table(stage=table.stage, number=table.number, sha256=table.sha256, actor=actor or self.reader)

    def publish(self, stage: Stage, note: str = "") -> StageSnapshot:
        return publish_stage(stage=stage, actor=self.reader, sha256=stage_content(stage).sha256, note_ko=note)

    def publish_final(self, note: str = "") -> StageSnapshot:
        sha256 = final_content(self.track).sha256
        return publish_final(track=self.track, actor=self.reader, sha256=sha256, note_ko=note)

    def judged(self, stage: Stage, scores: dict[int, object], reason: str = "") -> StageSnapshot:
        """Entered, confirmed and published."""
        self.confirm(self.enter(stage, scores, reason))
        return self.publish(stage, note=reason)

    def republish_board(self) -> None:
        publish_final_board(phase=self.phase, actor=self.writer, note_ko="정정")


def make_contest(items: int = 3) -> Contest:
    now = timezone.now()
    phase = PhaseFactory.create(slug="main", starts_at=now - timedelta(days=9), ends_at=now + timedelta(days=1))
    publish(phase, items)
    competition = phase.track.competition
    people = [UserFactory.create(name=name) for name in ("입력하는 사람", "확인하는 사람")]
    for person, role in zip(people, ("owner", "organiser"), strict=True):
        CompetitionRole.objects.create(user=person, competition=competition, role=role)
    contest = Contest(phase, *people)
    for number, score in enumerate(SCORES, start=1):
        team = TeamFactory.create(competition=competition)
        contest.teams[team.number] = team
        row = finished_submission(phase, team, score, created_at=now - timedelta(hours=number))
        issue_receipt(submission=row)
        chain.append_scores([row])
    Phase.objects.filter(pk=phase.pk).update(ends_at=now - timedelta(minutes=1))
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=contest.writer)
    return contest


@pytest.fixture(scope="module")
def made_contest(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made_contest: Contest) -> Contest:
    """Of the test's own, though the rows were made once for its module."""
    return copy.deepcopy(made_contest)
