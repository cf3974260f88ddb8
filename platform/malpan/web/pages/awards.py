"""상장: the award of a team as PDF, and the page where whoever is shown one finds whether it stands."""

from __future__ import annotations

from typing import Final

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from malpan.competitions.models import Competition
from malpan.notifications.rendering import absolute
from malpan.stages.award_errors import AwardNotFound, AwardNotValid
from malpan.stages.awarded import awards_of_team, basis_of_award, given_awards, names_of
from malpan.stages.models import Award
from malpan.web import certificate
from malpan.web.pages.certificates import organiser_of
from malpan.web.pages.context import MemberRequest, members_only, page_context

SALT: Final = "award"


@require_safe
@never_cache
@members_only
def award_pdf(request: MemberRequest, slug: str, pk: int) -> HttpResponse:
    """An award of the reader's team. Raises ``AwardNotFound`` and ``CertificateFontMissing``."""
    team = page_context(request, slug).team
    award = None if team is None else awards_of_team(team).filter(pk=pk).first()
    if award is None:
        raise AwardNotFound
    return pdf_of(award)


def pdf_of(award: Award) -> HttpResponse:
    """The page that is handed over. Before it was first published it has neither a number nor where to confirm it, and
    says so. Raises ``CertificateFontMissing``.
    """
    competition, team = award.competition, award.team
    found = (
        (_("팀"), team.name),
        (_("구성원"), ", ".join(names_of(team))),
        (_("대회"), competition.title),
        (_("부상"), award.prize),
    )
    page = certificate.Certificate(
        heading=_("상장"),
        subject=award.title,
        lines=[(label, value) for label, value in found if value],
        results=[reason_of(award)],
        closing=_("이에 상장을 드립니다."),
        organiser=organiser_of(competition),
        issued_on=award.awarded_on,
        address=absolute(reverse("award_check", args=[token_of(award)])) if award.number else "",
        number=number_of(award) or _("미리 보기: 공개하면 번호가 붙습니다."),
    )
    return certificate.answer(page, f"{competition.slug}-award-{award.number or 'preview'}.pdf")


def number_of(award: Award) -> str:
    """``제2026-3호``; empty before it has one."""
    return _("제%(number)s호") % {"number": award.number} if award.number else ""


def reason_of(award: Award) -> str:
    """Why it is given, in a sentence."""
    basis = basis_of_award(award)
    names = {"competition": award.competition.title}
    if basis is None:
        return _("위 팀은 ‘%(competition)s’에서 뛰어난 성적을 거두었습니다.") % names
    names |= {"track": basis.track.title, "rank": str(basis.rank)}
    if basis.rank is None:
        return _("위 팀은 ‘%(competition)s’의 ‘%(track)s’ 트랙에서 뛰어난 성적을 거두었습니다.") % names
    return _("위 팀은 ‘%(competition)s’의 ‘%(track)s’ 트랙에서 %(rank)s위의 뛰어난 성적을 거두었습니다.") % names


def token_of(award: Award) -> str:
    """What the address on an award has, always the same: only who was shown one sees the members' names."""
    return signing.Signer(salt=SALT).sign_object(award.pk)


@require_safe
@never_cache
def award_check(request: HttpRequest, token: str) -> HttpResponse:
    """What the award with this address says today. Raises ``AwardNotValid``."""
    try:
        pk = signing.Signer(salt=SALT).unsign_object(token)
    except signing.BadSignature as error:
        raise AwardNotValid from error
    competitions = Competition.objects.filter(is_published=True, awards=pk)
    award = given_awards(competitions).filter(pk=pk).first()
    if award is None:
        raise AwardNotValid
    context = {
        "award": award,
        "number": number_of(award),
        "names": names_of(award.team),
        "competition": award.competition,
    }
    response = render(request, "pages/award.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response
