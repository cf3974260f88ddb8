"""Word to the people of a competition's teams: a notice; its phases open, will soon end, have ended; and to people who
are invited into a team.

Phases that begin or end at one moment are told of in one letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.accounts.selectors import has_verified
from malpan.competitions.models import Competition, Notice, Phase
from malpan.competitions.selectors import notices_of
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Happening, Word, register, register_happening
from malpan.teams.models import Invitation, Membership

NOTICE: Final = "notice"
PHASE_OPENED: Final = "phase_opened"
DEADLINE_NEAR: Final = "deadline_near"
PHASE_CLOSED: Final = "phase_closed"
INVITATION: Final = "invitation"
NEAR: Final = timedelta(days=1)
BODY_CHARS: Final = 2_000  # of a notice; its page has the rest


def register_events() -> None:
    register(Event(NOTICE, _("참가하는 대회에 공지가 올라왔을 때"), _notice, _notice_sample))
    register(Event(PHASE_OPENED, _("참가하는 대회의 단계가 시작했을 때"), _opened, _phases_sample))
    register(Event(DEADLINE_NEAR, _("참가하는 대회의 단계가 하루 안에 마감할 때"), _near, _phases_sample))
    register_happening(Happening(PHASE_OPENED, _("단계가 시작했을 때"), _opened_for_organisers))
    register_happening(Happening(PHASE_CLOSED, _("단계가 마감했을 때"), _closed_for_organisers))
    register(Event(PHASE_CLOSED, _("참가하는 대회의 단계가 마감했을 때"), _closed, _phases_sample))
    register(Event(INVITATION, _("팀에 초대받았을 때(메일은 따로 갑니다)"), _invited))


def tell_invited(invitation: Invitation) -> None:
    """Post word to the programs of whoever may use ``invitation``: the mail with its link is sent by itself. Call it in
    the transaction that makes it.
    """
    verified = EmailAddress.objects.filter(email__iexact=invitation.email, verified=True)
    people = User.objects.filter(pk__in=verified.values("user"))
    key = f"{INVITATION}:{invitation.pk}"
    outbox.post(event=INVITATION, key=key, people=people, facts={"invitation": invitation.pk})


def people_of(competition: Competition | int, *, may_submit: bool) -> QuerySet[User]:
    """The people of its teams; ``may_submit`` leaves out those of disqualified ones."""
    members = Membership.objects.filter(competition=competition)
    if may_submit:
        members = members.filter(team__disqualified_at=None)
    return User.objects.filter(pk__in=members.values("user"))


def that_near(phases: QuerySet[Phase], now: datetime) -> QuerySet[Phase]:
    """Those that end within ``NEAR``; not those that are shorter, whose end was told with their beginning."""
    return phases.filter(starts_at__lte=F("ends_at") - NEAR, ends_at__gt=now, ends_at__lte=now + NEAR)


def _invited(person: User, facts: Facts) -> Word | None:
    usable = Invitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())
    invitation = usable.select_related("team__competition").filter(pk=facts["invitation"]).first()
    if invitation is None or not has_verified(person, invitation.email):
        return None
    team = invitation.team
    about = {"competition": team.competition.title, "team": team.name, "expires_at": invitation.expires_at}
    return Word(about, reverse("competition", args=[team.competition.slug]))


def _notice(person: User, facts: Facts) -> Word | None:
    notice = Notice.objects.filter(pk=facts["notice"], competition__is_published=True).first()
    if notice is None or not _takes_part(person, notice.competition_id):
        return None
    if not notices_of(notice.competition).filter(pk=notice.pk).exists():  # its moment was put off
        return None
    competition = notice.competition
    about = {"competition": competition.title, "title": notice.title, "body": Truncator(notice.body).chars(BODY_CHARS)}
    return Word(about, f"{reverse('notices', args=[competition.slug])}#notice-{notice.pk}")


def _opened(person: User, facts: Facts) -> Word | None:
    return _phases(person, facts, "competition", _that_opened(facts))


def _near(person: User, facts: Facts) -> Word | None:
    soon = that_near(Phase.objects.filter(ends_at=_at(facts)), timezone.now())
    return _phases(person, facts, "submit", soon)


def _closed(person: User, facts: Facts) -> Word | None:
    return _phases(person, facts, "board", _that_closed(facts))


def _opened_for_organisers(facts: Facts) -> Word | None:
    return _phases_for_organisers(facts, _that_opened(facts))


def _closed_for_organisers(facts: Facts) -> Word | None:
    return _phases_for_organisers(facts, _that_closed(facts))


def _that_opened(facts: Facts) -> QuerySet[Phase]:
    return Phase.objects.filter(starts_at=_at(facts), ends_at__gt=timezone.now())


def _that_closed(facts: Facts) -> QuerySet[Phase]:
    return Phase.objects.filter(ends_at=_at(facts))


def _of_competition(facts: Facts, phases: QuerySet[Phase]) -> list[Phase]:
    of_it = phases.filter(track__competition=facts["competition"], track__competition__is_published=True)
    return list(of_it.select_related("track__competition").order_by("track__position", "position", "pk"))


def _phases_for_organisers(facts: Facts, phases: QuerySet[Phase]) -> Word | None:
    found = _of_competition(facts, phases)
    if not found:
        return None
    slug = found[0].track.competition.slug
    lines = [
        {"track": each.track.slug, "phase": each.slug, "starts_at": each.starts_at, "ends_at": each.ends_at}
        for each in found
    ]
    return Word({"competition": slug, "phases": lines}, reverse("manage_phases", args=[slug]))


def _phases(person: User, facts: Facts, page: str, phases: QuerySet[Phase]) -> Word | None:
    """The letter about those of ``phases`` that are of the competition; none if their times were changed meanwhile."""
    found = _of_competition(facts, phases)
    if not found or not _takes_part(person, facts["competition"], may_submit=True):
        return None
    competition = found[0].track.competition
    lines = ((phase.track.title, phase.title, phase.ends_at) for phase in found)
    return Word(_about(competition.title, lines), reverse(page, args=[competition.slug]))


def _about(competition: str, phases: Iterable[tuple[str, str, datetime]]) -> dict[str, Any]:
    lines = [{"track": track, "phase": phase, "ends_at": ends_at} for track, phase, ends_at in phases]
    return {"competition": competition, "phases": lines}


def _takes_part(person: User, competition: int, *, may_submit: bool = False) -> bool:
    return people_of(competition, may_submit=may_submit).filter(pk=person.pk).exists()


def _at(facts: Facts) -> datetime:
    return datetime.fromisoformat(facts["at"])


def _notice_sample() -> Word:
    about = {"competition": "한글 대회", "title": "평가 자료 안내", "body": "평가 자료를 자료 쪽에 올렸습니다."}
    return Word(about, reverse("home"))


def _phases_sample() -> Word:
    ends_at = (timezone.now() + NEAR).replace(second=0, microsecond=0)
    return Word(_about("한글 대회", [("어문 규범", "본선", ends_at)]), reverse("home"))
