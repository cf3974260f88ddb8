"""Word to each member of a team that gets an award, when everybody can see it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions.models import Competition
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register
from malpan.stages.awarded import basis_of_award, given_awards
from malpan.stages.models import Award
from malpan.teams.models import Membership

AWARDED: Final = "awarded"


def register_events() -> None:
    register(Event(AWARDED, _("우리 팀의 시상이 공개되었을 때"), _awarded, _sample))


def tell_awarded(awards: Iterable[Award]) -> None:
    """Post a letter about each of ``awards`` to each member of its team, unless one with the same words was sent. Call
    it in the transaction that shows them.

    What was withdrawn again before it was told is told now.
    """
    told = {_key(award): award for award in awards}
    outbox.forget_dropped(told)
    people: dict[int, list[int]] = defaultdict(list)
    members = Membership.objects.filter(team__in=[award.team_id for award in told.values()])
    for team, person in members.values_list("team", "user"):
        people[team].append(person)
    posts = [outbox.Post(key, people[award.team_id], {"award": award.pk}) for key, award in told.items()]
    outbox.post_all(event=AWARDED, posts=posts)


def _key(award: Award) -> str:
    """The award with what a letter says of it."""
    words = "\n".join((award.title_ko, award.title_en, award.prize_ko, award.prize_en))
    return f"{AWARDED}:{award.pk}:{sha256(words.encode()).hexdigest()[:16]}"


def _awarded(person: User, facts: Facts) -> Word | None:
    """Nothing to who is not of the team now, and of an award that nobody sees now."""
    competitions = Competition.objects.filter(is_published=True, awards=facts["award"])
    award = given_awards(competitions).filter(pk=facts["award"]).first()
    if award is None or not Membership.objects.filter(team=award.team, user=person).exists():
        return None
    basis = basis_of_award(award)
    about = {
        "competition": award.competition.title,
        "team": award.team.name,
        "title": f"{award.title} ({basis.text})" if basis else award.title,
        "prize": award.prize,
    }
    return Word(about, reverse("team", args=[award.competition.slug]))


def _sample() -> Word:
    about = {"competition": "한글 대회", "team": "가나다", "title": "대상", "prize": "상금 300만 원"}
    return Word(about, reverse("home"))
