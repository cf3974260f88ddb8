"""Word to the judges of a campaign: it has begun, something is left for them, it has ended; to its organisers: a judge
wrote to them.
"""

from __future__ import annotations

from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.arena.models import Campaign, CampaignJudge
from malpan.arena.progress import left_by_judge
from malpan.competitions.models import CompetitionRole
from malpan.competitions.permissions import Permission, may
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register

CAMPAIGN_OPENED: Final = "campaign_opened"
CAMPAIGN_CLOSED: Final = "campaign_closed"
JUDGE_WROTE: Final = "judge_wrote"
REMINDER: Final = "campaign_reminder"  # posted by ``arena.reminders``

_RUNNING: Final = (CompetitionRole.Role.OWNER, CompetitionRole.Role.ORGANISER)


def tell_opened(campaign: Campaign) -> None:
    """Post word to the judges that they can begin. Call it in the transaction of the opening."""
    _tell(CAMPAIGN_OPENED, campaign)


def tell_closed(campaign: Campaign) -> None:
    """Post word to the judges that nothing is judged any more. Call it in the transaction of the closing."""
    _tell(CAMPAIGN_CLOSED, campaign)


def tell_of_word(campaign: Campaign, key: str) -> None:
    """Post word to who runs the competition that a judge wrote to them; ``key`` is of this word alone. Call it in the
    transaction that keeps it.
    """
    roles = CompetitionRole.objects.filter(competition=campaign.track.competition_id, role__in=_RUNNING)
    people = User.objects.filter(pk__in=roles.values("user"))
    outbox.post(event=JUDGE_WROTE, key=f"{JUDGE_WROTE}:{key}", people=people, facts={"campaign": campaign.pk})


def register_events() -> None:
    register(Event(JUDGE_WROTE, _("평가자가 운영자에게 알린 말이 있을 때"), _written, _sample))
    register(Event(CAMPAIGN_OPENED, _("평가자로 참여하는 평가가 시작했을 때"), _opened, _sample))
    register(Event(REMINDER, _("평가자로 참여하는 평가에 남은 문항이 있을 때"), _left, _left_sample))
    register(Event(CAMPAIGN_CLOSED, _("평가자로 참여한 평가가 끝났을 때"), _closed, _sample))


def _tell(event: str, campaign: Campaign) -> None:
    judges = CampaignJudge.objects.filter(campaign=campaign, accepted_at__isnull=False, removed_at=None)
    people = User.objects.filter(pk__in=judges.values("user"))
    outbox.post(event=event, key=f"{event}:{campaign.pk}", people=people, facts={"campaign": campaign.pk})


def _opened(person: User, facts: Facts) -> Word | None:
    judge = _judge(person, facts)
    return _word(judge.campaign) if judge is not None and judge.campaign.is_judged_now else None


def _left(person: User, facts: Facts) -> Word | None:
    judge = _judge(person, facts)
    if judge is None or not judge.campaign.is_judged_now:
        return None
    left = left_by_judge(judge.campaign)[judge.pk]
    return _word(judge.campaign, left=left) if left else None


def _closed(person: User, facts: Facts) -> Word | None:
    judge = _judge(person, facts)
    return _word(judge.campaign) if judge is not None and judge.campaign.closed_at is not None else None


def _written(person: User, facts: Facts) -> Word | None:
    """Neither who wrote nor what."""
    campaign = Campaign.objects.filter(pk=facts["campaign"]).select_related("track__competition").first()
    if campaign is None or not may(person, campaign.track.competition, Permission.MANAGE):
        return None
    names = {"competition": campaign.track.competition.title, "campaign": campaign.title}
    return Word(names, reverse("manage_campaign_judges", args=[campaign.track.competition.slug, campaign.pk]))


def _judge(person: User, facts: Facts) -> CampaignJudge | None:
    """The person as a judge of the campaign, if they still are one."""
    judge = CampaignJudge.objects.filter(campaign=facts["campaign"], user=person, removed_at=None)
    found = judge.select_related("campaign__track__competition").first()
    return found if found is not None and found.is_active else None


def _word(campaign: Campaign, **more: int) -> Word:
    names = {"competition": campaign.track.competition.title, "campaign": campaign.title, "until": campaign.end_text}
    return Word(names | more, reverse("arena_campaign", args=[campaign.pk]))


def _sample(**more: int) -> Word:
    names = {"competition": "한글 대회", "campaign": "결선 평가", "until": "2026-11-20 18:00 KST"}
    return Word(names | more, reverse("home"))


def _left_sample() -> Word:
    return _sample(left=12)
