"""A competition full of canaries: every secret a recognisable number or word, found wherever it turns up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.utils import timezone

from malpan.accounts.models import ApiToken, Scope, User
from malpan.accounts.services import create_api_token
from malpan.competitions.drafts import create_draft
from malpan.competitions.models import Competition, CompetitionRole, DataFile, Notice, Phase, Question, ReferenceVersion
from malpan.competitions.programs import create_endpoint
from malpan.competitions.services import add_data_file, post_notice
from malpan.core.models import AuditEntry
from malpan.core.storage import store_private
from malpan.leaderboard.models import ResultComparison, ResultSureness
from malpan.leaderboard.snapshots import publish_final_board
from malpan.notifications.models import Endpoint, Letter
from malpan.stages.contents import stage_content
from malpan.stages.models import Award, Stage, StageTable
from malpan.stages.publishing import publish_stage
from malpan.stages.selectors import table_sha256
from malpan.stages.services import create_stage
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import issue_receipt
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.invitations import create_invitation
from malpan.teams.models import Invitation, Membership, Team
from tests.factories import (
    CANARY,
    CompetitionFactory,
    PhaseFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    finished_submission,
    leader_of,
    reference_bytes,
    rows,
)
from tests.web.arena_world import Arena, plant_arena

HOUR: Final = timedelta(hours=1)
REFERENCE: Final = "references"
AWARD: Final = "awards"  # planted, and not published in any state
ANSWER: Final = "답안카나리아"  # with the name of the submission, in the uploaded file
METRICS: Final = ("exact_match", "descriptive_avg", "bleurt", "bertscore", "rouge_1")
ROLES: Final = ("viewer", "operator", "organiser")
VIEWERS: Final = ("anonymous", "judge", "other team", "own team", *ROLES, "organiser elsewhere")

# own and other team, submitted before and after the moment of freezing: the later one is the better one in both splits
PUBLIC: Final = {
    "own.before": 0.50718461,
    "own.after": 0.61829357,
    "other.before": 0.53274916,
    "other.after": 0.64381952,
}
PRIVATE: Final = {
    "own.before": 0.31375298,
    "own.after": 0.42681739,
    "other.before": 0.35927184,
    "other.after": 0.46493827,
}
PUBLIC_ITEM: Final = {name: value - 0.3 for name, value in PUBLIC.items()}
PRIVATE_ITEM: Final = {name: value - 0.2 for name, value in PRIVATE.items()}
STAGE: Final = {"own.stage": 0.8173645298, "other.stage": 0.7719384627}  # entered, of 0 to 100: never published here
PUBLIC_COUNT: Final = {name: 90817263 + step for step, name in enumerate(PUBLIC)}  # in coverage and warnings
PRIVATE_COUNT: Final = {name: 70615243 + step for step, name in enumerate(PUBLIC)}
NUMBERS: Final = {
    **{f"public score {name}": value for name, value in PUBLIC.items()},
    **{f"private score {name}": value for name, value in PRIVATE.items()},
    **{f"public item {name}": value for name, value in PUBLIC_ITEM.items()},
    **{f"private item {name}": value for name, value in PRIVATE_ITEM.items()},
    **{f"stage score {name}": value for name, value in STAGE.items()},
}
WORDS: Final = {
    REFERENCE: CANARY,
    AWARD: "상이름카나리아",
    **{f"answers {name}": f"{ANSWER}{name}" for name in PUBLIC},
    **{f"public detail {name}": str(count) for name, count in PUBLIC_COUNT.items()},
    **{f"private detail {name}": str(count) for name, count in PRIVATE_COUNT.items()},
    **{f"public signature {name}": f"signature-public-{name}" for name in PUBLIC},
    **{f"private signature {name}": f"signature-private-{name}" for name in PUBLIC},
}
DECIMAL: Final = re.compile(r"\d+\.\d{2,}")
CLOCK: Final = re.compile(r"\d\d:\d\d:\d\d\.\d+")  # its seconds are no score: 13:19:34.382 is not 0.34382


@dataclass(frozen=True)
class State:
    """A state of a phase: its settings and where now stands in it."""

    name: str
    settings: dict[str, Any]
    when: str = "running"  # upcoming, running or over
    is_published: bool = False


HIDING: Final = {"shows_own_score": False}
STATES: Final = (
    State("upcoming", {}, "upcoming"),
    State("live", {}),
    State("frozen", {"board": "frozen"}),
    State("frozen, own score kept back", {"board": "frozen", **HIDING}),
    State("hidden", {"board": "hidden"}),
    State("hidden, own score kept back", {"board": "hidden", **HIDING}),
    State("over, not published", {}, "over"),
    State("published", {"board": "frozen", **HIDING}, "over", is_published=True),
)


@dataclass
class World:
    """The competition, its people and everything that a route may name."""

    competition: Competition
    phase: Phase
    version: ReferenceVersion
    draft: ReferenceVersion
    teams: dict[str, Team]
    submissions: dict[str, Submission]
    people: dict[str, User | None]
    tokens: dict[str, str]
    invitation: Invitation
    invitation_token: str
    data_file: DataFile
    notice: Notice
    question: Question
    arena: Arena

    def candidates(self, family: str) -> list[int]:
        """The numbers that ``pk`` may stand for on the pages of ``family``."""
        own = Membership.objects.filter(team=self.teams["own"])
        found: dict[str, Any] = {
            "references": [self.version, self.draft],
            "runs": ScoringRun.objects.all(),
            "stages": Stage.objects.filter(track=self.phase.track),
            "awards": Award.objects.filter(competition=self.competition).order_by("position"),
            "notices": [self.notice],
            "questions": [self.question],
            "roles": CompetitionRole.objects.filter(competition=self.competition)[:1],
            "audit": AuditEntry.objects.order_by("-pk")[:2],
            "files": [self.data_file],
            "team": [self.invitation, *own],
            "teams": own,
            "arena": [self.arena.campaigns["shown"]],
            "tokens": ApiToken.objects.filter(user=leader_of(self.teams["own"])),
            "webhooks": Endpoint.objects.all(),
            "deliveries": Letter.objects.exclude(endpoint=None).order_by("pk"),
        }
        return [row.pk for row in found.get(family, [self.phase])]


def token_of(user: User) -> str:
    """A token for everything that its owner may do. As it was just used, no request notes its use."""
    row, token = create_api_token(user=user, label="t", scopes=list(Scope))
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=timezone.now() + HOUR)
    return token


def make(state: State) -> World:
    """The world in ``state``, as seen from now."""
    now = timezone.now()
    shift = {"upcoming": (1, 48), "running": (-48, 48), "over": (-96, -0.5)}[state.when]
    starts_at, ends_at = (now + HOUR * hours for hours in shift)
    competition = CompetitionFactory.create(slug="canaries")
    track = TrackFactory.create(competition=competition, slug="norms")
    frozen = {"frozen_at": now - 2 * HOUR} if state.settings.get("board") == "frozen" else {}
    phase = PhaseFactory.create(
        track=track, slug="main", starts_at=starts_at, ends_at=ends_at, **state.settings, **frozen
    )
    version = publish_reference_version(phase=phase, data=reference_bytes(3), actor=None, public_ids=["q1"])
    teams = {name: TeamFactory.create(competition=competition, name=f"{name} team") for name in ("own", "other")}
    submissions = {name: _plant(name, phase, teams, now) for name in PUBLIC}
    _compare(submissions["own.before"], submissions["own.after"])
    people = _people(competition, teams)
    organiser, judge = people["organiser"], people["judge"]
    assert organiser is not None
    assert judge is not None
    invitation, token = create_invitation(team=teams["own"], actor=leader_of(teams["own"]))
    world = World(
        competition=competition,
        phase=phase,
        version=version,
        draft=create_draft(phase=phase, data=file_bytes(rows(3, f"{CANARY}은 틀리고 맞히다가 옳다.")), actor=None),
        teams=teams,
        submissions=submissions,
        people=people,
        tokens={name: token_of(user) for name, user in people.items() if user},
        invitation=invitation,
        invitation_token=token,
        data_file=add_data_file(track=track, kind="data", title_ko="문항", file_name="q.json", data=b"[]"),
        notice=post_notice(competition=competition, title_ko="공지", body_ko="본문", actor=organiser),
        question=Question.objects.create(
            competition=competition, asked_by=leader_of(teams["other"]), title="질문", body="본문"
        ),
        arena=plant_arena(phase, submissions, judge, organiser),
    )
    hook = Endpoint.objects.create(person=leader_of(teams["own"]), url="https://hooks.example.com/x", events=["scored"])
    Letter.objects.create(event="test", key="test", person=hook.person, endpoint=hook, state="failed")
    theirs = create_endpoint(competition=competition, url="https://a.example/", events=["scored"], actor=organiser)
    Letter.objects.create(event="test", key="test", endpoint=theirs, state="failed")
    if state.is_published:
        publish_final_board(phase=phase, actor=organiser, note_ko="발표")
    _plant_stages(phase, teams, organiser, now, is_published=state.is_published)
    Award.objects.create(competition=competition, team=teams["own"], position=1, title_ko=WORDS[AWARD], awarded_on=now)
    return world


def _plant_stages(phase: Phase, teams: dict[str, Team], organiser: User, now: Any, *, is_published: bool) -> None:
    """Announced stages: the first published where its board is, the second with a table that waits."""
    first = create_stage(
        track=phase.track, actor=organiser, title_ko="순위표", phase=phase, weight=50, is_announced=True
    )
    stage = create_stage(
        track=phase.track, actor=organiser, title_ko="평가", weight=50, scale_max=100.0, is_announced=True
    )
    entered = [
        {"team_number": teams[name.partition(".")[0]].number, "score": 100 * value} for name, value in STAGE.items()
    ]
    StageTable.objects.create(
        stage=stage,
        number=1,
        rows=entered,
        sha256=table_sha256(stage, entered),
        entered_by=UserFactory.create(),
        created_at=now,
    )
    if is_published:
        publish_stage(stage=first, actor=organiser, sha256=stage_content(first).sha256)


def _plant(name: str, phase: Phase, teams: dict[str, Team], now: Any) -> Submission:
    """One scored submission whose every number is its own."""
    team, _dot, when = name.partition(".")
    data = file_bytes(rows(3, f"{ANSWER}{name}가 옳다."))
    stored = store_private(data)
    row = finished_submission(
        phase,
        teams[team],
        PUBLIC[name],
        scores=dict.fromkeys(METRICS, PUBLIC[name]),
        signature_hash="5" * 64,
        created_at=now - (3 if when == "before" else 1) * HOUR,
        file_sha256=stored.sha256,
        file_size=stored.size,
    )
    run = row.live_run
    assert run is not None
    ScoringRun.objects.filter(pk=run.pk).update(**_details("public", name, PUBLIC_COUNT[name]))
    HiddenResult.objects.create(
        run=run,
        final_score=PRIVATE[name],
        scores={"final_score": PRIVATE[name], **dict.fromkeys(METRICS, PRIVATE[name])},
        signature_hash="6" * 64,
        **_details("private", name, PRIVATE_COUNT[name]),
    )
    for split, items, value in (("public", ["q1"], PUBLIC_ITEM), ("private", ["q2", "q3"], PRIVATE_ITEM)):
        MetricResult.objects.create(
            submission=row,
            reference_version=run.reference_version,
            split=split,
            metric="bleurt",
            metric_signature="7" * 64,
            values=dict.fromkeys(items, value[name]),
        )
    for is_private, score in ((False, PUBLIC[name]), (True, PRIVATE[name])):  # as computed: the ends are the score
        ends = {"final_score": [score, score]}
        ResultSureness.objects.create(run=run, is_private=is_private, scores=ends)
    row.refresh_from_db()
    issue_receipt(submission=row)
    chain.append_scores([row])
    return row


def _compare(one: Submission, other: Submission) -> None:
    """Both splits of two submissions compared, as a worker did: the ends of the intervals are their scores."""
    for is_private, values in ((False, PUBLIC), (True, PRIVATE)):
        interval = [values["own.before"], values["own.after"]]
        ResultComparison.objects.create(
            one=one.live_run,
            other=other.live_run,
            is_private=is_private,
            lines={"final_score": {"a": None, "b": None, "p": 0.5, "interval": interval, "is_significant": False}},
            computed_at=timezone.now(),
        )


def _details(split: str, name: str, count: int) -> dict[str, Any]:
    return {
        "coverage": {"items": count, "answered": count},
        "warnings": [{"code": "empty_answers", "params": {"count": count}}],
        "signature": {"recipe": "rag-qa@1", "note": f"signature-{split}-{name}"},
    }


def _people(competition: Competition, teams: dict[str, Team]) -> dict[str, User | None]:
    people: dict[str, User | None] = {
        "anonymous": None,
        "other team": leader_of(teams["other"]),
        "own team": leader_of(teams["own"]),
        "judge": UserFactory.create(),
    }
    for role in ROLES:
        people[role] = UserFactory.create()
        CompetitionRole.objects.create(user=people[role], competition=competition, role=role)
    people["organiser elsewhere"] = UserFactory.create()
    elsewhere = CompetitionFactory.create(slug="elsewhere")
    CompetitionRole.objects.create(user=people["organiser elsewhere"], competition=elsewhere, role="organiser")
    for person in filter(None, people.values()):
        confirmed(person)
    return people


def confirmed(person: User) -> None:
    """As after signing up; without a row of the address its page writes one."""
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)


def canaries_in(text: str) -> Iterator[str]:
    """The names of the canaries in a response: words as they are, numbers on either scale and however rounded.

    A number counts as seen when it is written with four figures or more that agree with it; the seconds of a clock are
    not such a number.
    """
    plain = CLOCK.sub("", text.replace(",", ""))
    yield from (name for name, word in WORDS.items() if word in plain)
    for number in set(DECIMAL.findall(plain)):
        yield from _named_by(number)


@cache
def _named_by(number: str) -> tuple[str, ...]:
    """The canaries that ``number``, as it is written, may be: of a few thousand pages it stands on."""
    if len(number.replace(".", "").lstrip("0")) < 4:
        return ()
    room = 0.5000001 * 10 ** -len(number.partition(".")[2])
    return tuple(
        name for name, value in NUMBERS.items() if any(abs(float(number) - value * scale) <= room for scale in (1, 100))
    )
