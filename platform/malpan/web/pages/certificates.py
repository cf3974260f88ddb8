"""참가 확인서: a person's certificate as PDF, and the page where whoever is shown one finds whether it is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from malpan.accounts.models import User
from malpan.competitions.models import Competition
from malpan.core.times import kst_day
from malpan.notifications.rendering import absolute
from malpan.stages.errors import CertificateNotValid, NothingToCertify
from malpan.stages.placings import Placing, placings_of
from malpan.teams.models import Team
from malpan.teams.selectors import team_of
from malpan.web import certificate
from malpan.web.pages.context import MemberRequest, members_only, page_context
from malpan.web.presenters.periods import period_of

SALT: Final = "certificate"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a certificate of ``person`` says now."""

    person: User
    competition: Competition
    team: Team
    placings: list[Placing]

    @property
    def period(self) -> str:
        """``2026-11-01 ~ 2026-11-30``, in Korea Standard Time."""
        found = period_of(list(self.competition.tracks.prefetch_related("phases")), timezone.now())
        return " ~ ".join(kst_day(moment).isoformat() for moment in (found.starts_at, found.ends_at) if moment)

    @property
    def results(self) -> list[str]:
        return [sentence_of(each) for each in self.placings]


def facts_of(person: User, competition: Competition) -> Facts:
    """Raises ``NothingToCertify`` until a result is published that has the person's team."""
    team = team_of(person, competition)
    placings = placings_of(team) if team else []
    if team is None or not placings:
        raise NothingToCertify
    return Facts(person, competition, team, placings)


def sentence_of(placing: Placing) -> str:
    """A result in words: the rank, or that the team took part."""
    names = {"track": placing.track.title, "rank": placing.rank, "ranked": placing.ranked}
    if placing.rank is None:
        return _("‘%(track)s’ 트랙에 참가") % names
    return _("‘%(track)s’ 트랙에서 %(ranked)s팀 가운데 %(rank)s위") % names


def token_of(person: User, competition: Competition) -> str:
    """What the address on a certificate has: it proves itself, and names no one."""
    return signing.dumps([competition.pk, person.pk], salt=SALT)


def organiser_of(competition: Competition) -> str:
    """Who signs."""
    return competition.organiser or str(settings.SITE_OPERATOR) or competition.title


@require_safe
@never_cache
@members_only
def certificate_pdf(request: MemberRequest, slug: str) -> HttpResponse:
    """The reader's certificate. Raises ``NothingToCertify`` and ``CertificateFontMissing``."""
    facts = facts_of(request.user, page_context(request, slug).competition)
    competition = facts.competition
    page = certificate.Certificate(
        heading=_("참가 확인서"),
        subject=facts.person.name or facts.person.email,
        lines=((_("대회"), competition.title), (_("기간"), facts.period), (_("팀"), facts.team.name)),
        results=facts.results,
        closing=_("위와 같이 참가하였음을 확인합니다."),
        organiser=organiser_of(competition),
        issued_on=kst_day(timezone.now()),
        address=absolute(reverse("certificate_check", args=[token_of(request.user, competition)])),
    )
    return certificate.answer(page, f"{slug}-certificate.pdf")


@require_safe
@never_cache
def certificate_check(request: HttpRequest, token: str) -> HttpResponse:
    """What the certificate with this address says today. Raises ``CertificateNotValid``."""
    try:
        competition_pk, person_pk = signing.loads(token, salt=SALT)
    except signing.BadSignature as error:
        raise CertificateNotValid from error
    competition = Competition.objects.filter(pk=competition_pk, is_published=True).first()
    person = User.objects.filter(pk=person_pk, erased_at=None).first()
    if competition is None or person is None:
        raise CertificateNotValid
    try:
        facts = facts_of(person, competition)
    except NothingToCertify as error:
        raise CertificateNotValid from error
    response = render(request, "pages/certificate.html", {"facts": facts, "competition": competition})
    response["X-Robots-Tag"] = "noindex"
    return response
