"""An open campaign with its design, made by direct rows: no references, no files. Outputs say which system they are of.

``open_panel`` draws a real design (``scoring.arena.design.plan``) and writes real queues with controls and repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.design_rows import create_assignments, settings_of, specs_of
from malpan.arena.invitations import accept_invitation, invite_judge
from malpan.arena.judges import consent_version_of
from malpan.arena.judging import correct_judgement, judge_assignment
from malpan.arena.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignJudge,
    CampaignSystem,
    Judgement,
    Rubric,
)
from malpan.arena.practice import create_practice
from malpan.arena.queue import next_assignment
from scoring.arena.design import plan
from tests.database import count_rows
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, person_in

SEED = "5eed" * 16
ADDRESS = "judge@univ.ac.kr"
VALUES: dict[str, dict[str, Any]] = {
    "pairwise": {"choice": "first", "reasons": ["accuracy"]},
    "rubric": {"scores": {"fluency": 4, "accuracy": 3}},
    "ranking": {"ranks": [1, 2, 2]},
    "errors": {
        "score": 70,
        "spans": [{"output": 0, "start": 0, "end": 2, "severity": "major", "category": "accuracy"}],
    },
}
GROUPS = {"pairwise": 2, "rubric": 1, "errors": 1, "ranking": 3}
CRITERIA = [
    {
        "key": "fluency",
        "label_ko": "자연스러움",
        "label_en": "Fluency",
        "low": 1,
        "high": 5,
        "weight": 1,
        "anchors": {},
    },
    {"key": "accuracy", "label_ko": "정확성", "label_en": "Accuracy", "low": 1, "high": 5, "weight": 3, "anchors": {}},
]
REASONS = [
    {"key": "accuracy", "label_ko": "정확해서", "label_en": "More accurate"},
    {"key": "fluency", "label_ko": "자연스러워서", "label_en": "More fluent"},
]


@dataclass
class Panel:
    """A campaign, who runs it, and who judges. ``now`` is the moment of the last thing that was done."""

    campaign: Campaign
    organiser: User
    judges: list[CampaignJudge] = field(default_factory=list)
    systems: list[CampaignSystem] = field(default_factory=list)
    now: datetime = field(default_factory=timezone.now)

    def later(self, seconds: int = 30) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def next(self, judge: CampaignJudge) -> Assignment | None:
        assert judge.user is not None
        return next_assignment(judge=judge, actor=judge.user, now=self.later(1))

    def judge_next(self, judge: CampaignJudge, value: dict[str, Any] | None = None) -> Judgement | None:
        """The judgement of the next assignment of ``judge``, half a minute after it was shown."""
        assignment = self.next(judge)
        return assignment and self.judge(assignment, value)

    def judge(self, assignment: Assignment, value: dict[str, Any] | None = None, **given: Any) -> Judgement:
        assert assignment.judge.user is not None
        fields = {"seconds": 30, "actor": assignment.judge.user, "now": self.later()} | given
        value = value or VALUES[self.campaign.protocol]
        return judge_assignment(assignment=assignment, value=value, **fields)

    def fill(self, choose: Callable[[Assignment], dict[str, Any]], seconds: int = 30) -> None:
        """Every open assignment is judged, by ``choose``, with rows alone: the services take a while for hundreds."""
        rows = list(Assignment.objects.filter(campaign=self.campaign, state="open").select_related("judge", "item"))
        Judgement.objects.bulk_create(
            Judgement(
                assignment=row,
                number=1,
                value=choose(row),
                seconds=seconds,
                judged_by_id=row.judge.user_id,
                created_at=self.now,
            )
            for row in rows
        )
        Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(state="done", first_shown_at=self.now)
        count_rows()

    def queue(self, judge: CampaignJudge, **filters: Any) -> list[Assignment]:
        return list(Assignment.objects.filter(judge=judge, **filters).order_by("position"))


def draft_panel(protocol: str = "pairwise", *, systems: int = 4, **fields: Any) -> Panel:
    """A campaign in preparation with its systems, each of a team of its own, without labels.

    ``reasons``: those of its rubric.
    """
    phase = PhaseFactory.create()
    organiser = person_in(phase.track.competition, "organiser")
    now = timezone.now()
    rubric = Rubric.objects.create(
        track=phase.track, number=1, title_ko="기준", guideline_ko="끝까지 읽는다.", criteria=CRITERIA,
        reasons=fields.pop("reasons", REASONS), created_by=organiser, created_at=now,
    )  # fmt: skip
    values = {
        "track": phase.track, "number": 1, "title_ko": "결선 평가", "notice_ko": "비밀을 지킨다.", "phase": phase,
        "protocol": protocol, "rubric": rubric, "group_size": GROUPS[protocol], "item_count": 12, "units_per_item": 2,
        "judges_per_unit": 2, "calibration_count": 1, "control_percent": 10, "repeat_percent": 10, "resamples": 200,
        "seed": SEED, "seed_sha256": "0" * 64, "created_by": organiser, "created_at": now,
    }  # fmt: skip
    panel = Panel(Campaign.objects.create(**(values | fields)), organiser, now=now)
    for place in range(1, systems + 1):
        team = TeamFactory.create(competition=phase.track.competition)
        submission = finished_submission(phase, team, 1 - place / 100)
        panel.systems.append(
            CampaignSystem.objects.create(campaign=panel.campaign, submission=submission, position=place)
        )
    return panel


def open_panel(protocol: str = "pairwise", *, systems: int = 4, judges: int = 4, **fields: Any) -> Panel:
    """An open campaign; every judge accepted, agreed and acknowledged."""
    panel = draft_panel(protocol, systems=systems, **fields)
    campaign = panel.campaign
    for place, system in enumerate(panel.systems, start=1):
        system.label = f"S{place:02d}"
        system.save()
    panel.judges = [add_judge(panel, number) for number in range(1, judges + 1)]
    items = _items(campaign)
    specs = specs_of(panel.judges)
    real = [item.label for item in items if item.kind == "real"]
    queues = plan(real, [system.label for system in panel.systems], specs, settings_of(campaign), SEED)
    create_practice(campaign=campaign, judges=panel.judges, specs=specs, items=items, now=panel.now)
    create_assignments(campaign=campaign, added=queues, starts={}, judges=panel.judges, items=items, now=panel.now)
    campaign.opened_at = panel.now
    campaign.save()
    return panel


def add_judge(panel: Panel, number: int, **fields: Any) -> CampaignJudge:
    """A judge who accepted and agreed; in an open campaign without a queue."""
    email = f"judge{number}.{panel.campaign.pk}@example.com"
    user = fields.pop("user", None) or person(email)
    values = {
        "email": user.email, "user": user, "accepted_at": panel.now, "design_label": f"D{number:02d}",
        "consent_version": consent_version_of(panel.campaign), "consented_at": panel.now,
        "rubric": panel.campaign.rubric, "token_sha256": f"{panel.campaign.pk:032x}{number:032x}",
        "invited_by": panel.organiser, "invited_at": panel.now, "expires_at": panel.now + timedelta(days=14),
    }  # fmt: skip
    return CampaignJudge.objects.create(campaign=panel.campaign, **(values | fields))


def person(email: str, *, is_verified: bool = True) -> User:
    """Somebody with an account and this address."""
    user = UserFactory.create(email=email)
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=is_verified)
    return user


# --- invitations -----------------------------------------------------------------------------------------------------
def link_for(token: str) -> str:
    return f"https://malpan.example/arena/invitation/{token}/"


def invite(panel: Panel, email: str = ADDRESS, **fields: Any) -> CampaignJudge:
    given = {"campaign": panel.campaign, "actor": panel.organiser, "link_for": link_for, "now": panel.now} | fields
    return invite_judge(email=email, **given)


def mailed_token() -> str:
    return mail.outbox[-1].body.split("/invitation/")[1].split("/")[0]


def accept(panel: Panel, user: User | None = None, token: str = "", **fields: Any) -> CampaignJudge:
    given = {"now": panel.now} | fields
    return accept_invitation(token=token or mailed_token(), user=user or person(ADDRESS), **given)


# --- rows -------------------------------------------------------------------------------------------------------------
def standing(panel: Panel, **filters: Any) -> list[Assignment]:
    """Assignments that are not void."""
    rows = Assignment.objects.filter(campaign=panel.campaign, **filters).exclude(state="void")
    return list(rows.select_related("judge").order_by("judge", "position"))


def judges_of_units(panel: Panel) -> Counter[tuple[int, frozenset[str]]]:
    """How many judges each real unit has."""
    return Counter((row.item_id, frozenset(row.systems)) for row in standing(panel, kind="real"))


def _items(campaign: Campaign) -> list[CampaignItem]:
    systems = [system.label for system in campaign.systems.order_by("position")]
    labels = [f"I{number:04d}" for number in range(1, campaign.item_count + 1)]
    rows = [_item(campaign, systems, label, f"q{number}") for number, label in enumerate(labels, start=1)]
    for number in range(1, campaign.calibration_count + 1):
        row = _item(campaign, systems, f"C{number:02d}", f"c{number}")
        row.kind, row.expected = CampaignItem.Kind.CALIBRATION, {"rule": "shuffled"}
        row.explanation_ko, row.explanation_en = "뒤섞였습니다.", "It was shuffled."
        rows.append(row)
    return CampaignItem.objects.bulk_create(rows)


def _item(campaign: Campaign, systems: list[str], label: str, reference_id: str) -> CampaignItem:
    outputs = {system: f"문항 {label}에 대한 {system}의 대답은 여러 낱말로 이루어진 긴 글입니다." for system in systems}
    return CampaignItem(
        campaign=campaign, label=label, reference_id=reference_id, stratum="서술형", input_text=f"{label}의 물음",
        outputs=outputs,
    )  # fmt: skip


def correct(panel: Panel, assignment: Assignment, value: dict, expected_number: int = 1, **fields: Any) -> Judgement:
    """Another judgement of an assignment by its judge, a moment later."""
    fields = {"actor": assignment.judge.user, "now": panel.later()} | fields
    return correct_judgement(assignment=assignment, value=value, expected_number=expected_number, **fields)


def panel_at_work() -> Panel:
    """Twenty judges' worth of work for eight, a part of which is done."""
    panel = open_panel(systems=6, judges=8, item_count=30, units_per_item=2)
    for place, judge in enumerate(panel.judges):
        for _number in range(1 + place % 4):
            panel.judge_next(judge)
    return panel
