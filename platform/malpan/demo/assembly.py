"""Makes a demo competition with everything except its submissions. The caller must open a transaction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Min

from malpan.accounts.models import User
from malpan.competitions.models import Competition, DataFile, Phase, Track
from malpan.competitions.services import (
    add_data_file,
    create_competition,
    create_phase,
    create_track,
    post_notice,
)
from malpan.competitions.targets import add_published_targets
from malpan.core import audit
from malpan.core.times import kst_day_bounds
from malpan.demo.habits import DemoTeam
from malpan.demo.specs import CompetitionSpec, PhaseSpec
from malpan.demo.tracks import TrackSpec
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.invitations import create_invitation, join_team
from malpan.teams.services import create_team

PHASE_SLUG: Final = "main"
ORGANISER: Final = ("demo-organiser@example.com", "말판 데모 운영진")


def set_up(spec: CompetitionSpec, now: datetime) -> Competition:
    """Make the competition of ``spec`` with tracks, phases, references, public files, people and teams."""
    organiser = person(*ORGANISER)
    competition = create_competition(
        actor=organiser,
        slug=spec.slug,
        title_ko=spec.title_ko,
        title_en=spec.title_en,
        summary_ko=spec.summary_ko,
        summary_en=spec.summary_en,
        description_ko=spec.description_ko,
        description_en=spec.description_en,
        cover=spec.cover,
        organiser_ko="말판",
        organiser_en="Malpan",
        is_published=True,
        is_demo=True,
    )
    for position, track_spec in enumerate(spec.tracks):
        track = _set_up_track(competition, track_spec, position, organiser)
        _set_up_phase(track, spec.phase, track_spec, organiser, now)
        _publish_files(track, track_spec, organiser)
    for team in spec.teams:
        _set_up_team(competition, team)
    _welcome(competition, organiser)
    return competition


def person(email: str, name: str) -> User:
    """The demo's user with that address, made without a usable password, so that nobody can log in as one."""
    known = User.objects.filter(email=email).first()
    if known is not None:
        return known
    user = User.objects.create_user(email, password=None, name=name)
    audit.record(actor=None, action="user.create", obj=user)
    return user


def email_of(team: DemoTeam, number: int) -> str:
    """The address of the ``number``-th person of ``team``; the leader is the first."""
    return f"demo-{team.key}-{number}@example.com"


def _set_up_track(competition: Competition, spec: TrackSpec, position: int, organiser: User) -> Track:
    track = create_track(
        actor=organiser,
        competition=competition,
        slug=spec.slug,
        title_ko=spec.title_ko,
        title_en=spec.title_en,
        description_ko=spec.description_ko,
        description_en=spec.description_en,
        recipe=spec.recipe,
        score_scale=spec.score_scale,
        score_decimals=spec.score_decimals,
        position=position,
    )
    if spec.has_published_targets:
        add_published_targets(track=track, actor=organiser)
    return track


def _set_up_phase(track: Track, spec: PhaseSpec, track_spec: TrackSpec, organiser: User, now: datetime) -> Phase:
    midnight, _ = kst_day_bounds(now)
    phase = create_phase(
        actor=organiser,
        track=track,
        slug=PHASE_SLUG,
        title_ko=spec.title_ko,
        title_en=spec.title_en,
        starts_at=midnight + timedelta(days=spec.first_day),
        ends_at=midnight + timedelta(days=spec.last_day, hours=23, minutes=59),
        daily_limit=spec.daily_limit,
        total_limit=spec.total_limit,
        min_interval=spec.min_interval,
        counting=spec.counting,
    )
    publish_reference_version(phase=phase, data=track_spec.references(), actor=organiser, note="데모 정답")
    return phase


def _publish_files(track: Track, spec: TrackSpec, organiser: User) -> None:
    """Publish the task's data, a sample submission and the notes on the format: none contains a reference answer."""
    for position, file in enumerate(spec.public_files()):
        add_data_file(
            track=track,
            kind=DataFile.Kind(file.kind),
            title_ko=file.title_ko,
            title_en=file.title_en,
            file_name=file.file_name,
            data=file.data,
            position=position,
            actor=organiser,
        )


def _set_up_team(competition: Competition, spec: DemoTeam) -> None:
    """Make the team and its people, who join by invitation like everybody."""
    leader, *others = (person(email_of(spec, number), name) for number, name in enumerate(spec.people, start=1))
    team = create_team(competition=competition, name=spec.name, leader=leader, is_baseline=spec.is_baseline)
    begun = competition.tracks.aggregate(first=Min("phases__starts_at"))["first"]  # a past demo is closed now
    for other in others:
        _, token = create_invitation(team=team, actor=leader, now=begun)
        join_team(token=token, user=other, now=begun)


def _welcome(competition: Competition, organiser: User) -> None:
    post_notice(
        actor=organiser,
        competition=competition,
        title_ko="데모 대회에 오신 것을 환영합니다",
        title_en="Welcome to the demo competition",
        body_ko="문제, 정답, 팀, 답안은 모두 말판이 만든 것입니다. 저작권 걱정 없이 내려받아 시험해 보세요.",
        body_en="Tasks, answers, teams and submissions were all made for Malpan. Download and try them freely.",
    )
