"""A judge's word to the organisers: a conflict of interest that teams to declare do not say, or that is more of them
than a judge declares alone.

Organisers read it on the page of the judge. The mail to them says of which evaluation somebody wrote, and neither who
nor what: it may be read by others, and be forwarded.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from malpan.arena.errors import CampaignNotOpen, JudgeNotFound, JudgeRemoved, WordMissing
from malpan.arena.letters import tell_of_word
from malpan.arena.locks import lock_campaign, lock_judge
from malpan.arena.models import CampaignJudge
from malpan.arena.models.judging import TOLD_MAX, WORD_MAX
from malpan.arena.values import clean_note
from malpan.core import audit
from malpan.core.times import kst_text

if TYPE_CHECKING:
    from malpan.accounts.models import User


def tell_organisers(*, judge: CampaignJudge, actor: User, text: str, now: datetime | None = None) -> None:
    """Put ``text`` after what the judge wrote before, with the moment; the same once more changes nothing.

    Raises ``JudgeNotFound`` for another person's, ``JudgeRemoved``, ``CampaignNotOpen`` after the closing,
    ``WordMissing`` for no text, one that is too long or one that has no room beside the former ones.
    """
    if judge.user_id != actor.pk:
        raise JudgeNotFound
    word, moment = clean_note(text), now or timezone.now()
    if not word or len(word) > WORD_MAX:
        raise WordMissing(limit=WORD_MAX)
    with transaction.atomic():
        campaign = lock_campaign(judge.campaign_id)
        if campaign.closed_at is not None:
            raise CampaignNotOpen
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is not None:
            raise JudgeRemoved
        if fresh.told.endswith(f"\n{word}"):
            return
        told = f"{fresh.told}\n\n[{kst_text(moment, seconds=False)}]\n{word}".strip()
        if len(told) > TOLD_MAX:
            raise WordMissing(limit=WORD_MAX)
        fresh.told, fresh.told_at = told, moment
        fresh.save(update_fields=["told", "told_at"])
        audit.record(actor=actor, action="campaign_judge.tell", obj=fresh, after={"characters": len(word)})
        tell_of_word(campaign, key=f"{fresh.pk}:{moment.isoformat()}")
