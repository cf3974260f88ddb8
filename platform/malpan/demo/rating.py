"""The human evaluation of a demo contest that goes on: two simulated judges have begun, and a newcomer can judge at
once. Where the site is somebody's own machine the newcomer has a password; elsewhere nobody can log in as they.

What exists already is not changed, so an interrupted beginning is completed by the next call.
"""

from __future__ import annotations

import os
import secrets
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from malpan.arena.campaigns import create_campaign
from malpan.arena.models import Campaign
from malpan.arena.opening import open_campaign
from malpan.arena.rubrics import create_rubric
from malpan.arena.systems import choose_top
from malpan.competitions.models import Phase
from malpan.core import audit
from malpan.core.locks import own_rows
from malpan.demo.assembly import ORGANISER, PHASE_SLUG, person
from malpan.demo.evaluation import appoint_owner, is_ready
from malpan.demo.habits import RAG_QA
from malpan.demo.judges import add_judge, agree, do_queue, email_of_judge
from malpan.demo.loading import one_at_a_time
from malpan.demo.readers import Readers

if TYPE_CHECKING:
    from malpan.accounts.models import User

SLUG: Final = "demo"
PLAN: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "rating.toml").read_text(encoding="utf-8"))
TEAMS_MOST: Final = 4  # of the board, besides the baseline
SEED: Final = 21  # of what the simulated judges draw
BEGUN: Final = timedelta(hours=3)  # before the first call
STEP: Final = timedelta(minutes=40)  # from the opening to the first judge, and to the next


def begin_rating(now: datetime | None = None) -> Campaign | None:
    """Complete the beginning of the campaign and return it; ``None`` where there is none: no such demo contest, not all
    of it scored yet, or somebody else made a campaign of the track.

    Of two parallel calls the second waits.
    """
    with one_at_a_time():
        phases = Phase.objects.filter(track__competition__slug=SLUG, track__competition__is_demo=True)
        phase = phases.filter(track__slug=RAG_QA, slug=PHASE_SLUG).select_related("track__competition").first()
        if phase is None:
            return None
        organiser, begun = person(*ORGANISER), (now or timezone.now()) - BEGUN
        campaign = Campaign.objects.filter(track=phase.track, number=1).first()
        if campaign is None and is_ready(phase):
            campaign = _open(phase, organiser, begun)
        if campaign is None or campaign.created_by_id != organiser.pk:
            return None
        if campaign.closed_at is None:
            _judge(campaign, begun)
            _let_log_in(campaign)
        return campaign


def password_file() -> Path:
    """Where the newcomer's password is kept, if they have one."""
    return Path(settings.VAR_DIR) / "demo-judge-password"


def _open(phase: Phase, organiser: User, now: datetime) -> Campaign:
    """An open campaign with its judges; all of it or nothing."""
    texts = dict(PLAN["campaign"])
    if settings.LOCAL:
        texts |= {name: f"{texts[name]}\n\n{text}" for name, text in PLAN["login"].items()}
    with transaction.atomic(), own_rows():
        appoint_owner(phase.track.competition, organiser)
        rubric = create_rubric(track=phase.track, actor=organiser, now=now, **PLAN["rubric"])
        campaign = create_campaign(track=phase.track, actor=organiser, rubric=rubric, phase=phase, now=now, **texts)
        choose_top(campaign=campaign, actor=organiser, count=TEAMS_MOST, with_baselines=True)
        for row in PLAN["judges"]:
            agree(add_judge(campaign, organiser, email_of_judge(row["number"]), row, now), now)
        add_judge(campaign, organiser, PLAN["newcomer"]["email"], PLAN["newcomer"], now)
        return open_campaign(campaign=campaign, actor=organiser, now=now)


def _judge(campaign: Campaign, begun: datetime) -> None:
    """Let the simulated judges do their share."""
    rows = PLAN["judges"]
    readers = Readers([row["behaviour"] for row in rows], campaign, SEED)
    judge_of = {judge.email: judge for judge in campaign.judges.select_related("user", "campaign")}
    for place, row in enumerate(rows):
        judge = judge_of.get(email_of_judge(row["number"]))
        if judge is not None and judge.is_active:
            do_queue(judge, place, readers, begun + (place + 1) * STEP, row["share"])


def _let_log_in(campaign: Campaign) -> None:
    """Give the newcomer a password, where the site is somebody's own machine: kept like the administrator's."""
    judge = campaign.judges.filter(email=PLAN["newcomer"]["email"], user__isnull=False).select_related("user").first()
    if not settings.LOCAL or judge is None or judge.user is None or judge.user.has_usable_password():
        return
    password = secrets.token_urlsafe(12)
    descriptor = os.open(password_file(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(password + "\n")
    judge.user.set_password(password)
    with transaction.atomic():
        judge.user.save(update_fields=["password"])
        audit.record(actor=None, action="user.set_password", obj=judge.user)
