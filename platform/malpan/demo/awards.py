"""The awards of the demo contest that is over: the first three places of its final board, published."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from malpan.competitions.models import Track
from malpan.core.times import kst_day
from malpan.stages.awarded import proposal_of
from malpan.stages.awards import create_awards, publish_awards
from malpan.stages.models import Award

if TYPE_CHECKING:
    from malpan.accounts.models import User

PRIZES: Final = (  # of the places
    ("말판상, 상금 300만 원", "Malpan Prize, 3,000,000 won"),
    ("상금 200만 원", "2,000,000 won"),
    ("상금 100만 원", "1,000,000 won"),
)


def give_awards(track: Track, organiser: User, now: datetime) -> None:
    """Give the awards once; what an organiser made of them since stays."""
    competition = track.competition
    if Award.objects.filter(competition=competition).exists():
        return
    rows = []
    for each in proposal_of(track, len(PRIZES)):
        prize_ko, prize_en = PRIZES[each.rank - 1]
        texts = {"title_ko": each.title_ko, "title_en": each.title_en, "prize_ko": prize_ko, "prize_en": prize_en}
        rows.append({**texts, "team": each.team, "track": track, "awarded_on": kst_day(now)})
    with transaction.atomic():
        create_awards(competition=competition, actor=organiser, rows=rows)
        publish_awards(competition=competition, actor=organiser, now=now)
