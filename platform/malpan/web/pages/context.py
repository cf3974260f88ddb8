"""What every page of a competition needs: the competition itself, its tabs, its period, the viewer's team."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from malpan.accounts.models import User
from malpan.arena.selectors import has_campaign
from malpan.competitions.errors import CompetitionNotFound
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.permissions import Permission, may
from malpan.competitions.selectors import get_competition, phase_to_show
from malpan.competitions.terms import is_accepted
from malpan.core.database.prepared import Prepared
from malpan.stages.selectors import has_shown_stage
from malpan.teams.models import Team
from malpan.teams.selectors import team_of
from malpan.web.presenters.periods import period_of
from scoring.recipes import UnknownRecipe, get_recipe

P = ParamSpec("P")
DEMO_PROFILE = "demo"
PAGE_SIZE: Final = 100


def _tracks(slug: str) -> QuerySet[Track]:
    """The tracks of the competition at ``slug`` in their order, with what their tabs depend on."""
    tracks = Track.objects.filter(competition__slug=slug).select_related("competition")
    return tracks.annotate(has_shown_stage=has_shown_stage(), has_campaign=has_campaign())


_TRACKS: Final = Prepared(_tracks, str)


class MemberRequest(HttpRequest):
    """A request behind ``members_only``: somebody is logged in."""

    user: User


@dataclass(frozen=True, slots=True)
class Tab:
    name: str
    label: str
    href: str


@dataclass(frozen=True, slots=True)
class PageContext:
    """A request for a page of a competition: what was requested, and by whom."""

    competition: Competition
    tracks: list[Any]  # of Track, with what ``_tracks`` asks
    track: Track | None
    phase: Phase | None
    team: Team | None
    needs_terms: bool = False  # the member must accept the current terms before the next submission
    has_manage_pages: bool = False  # the viewer has a role in the competition

    def context(self, tab: str, track: Track | None = None) -> dict[str, Any]:
        """The context of ``pages/base.html``. ``track``: the only one whose scores the page may have; else of all."""
        phases = list(self.track.phases.all()) if self.track else []
        return {
            "competition": self.competition,
            "phases": phases,
            "tracks": self.tracks,
            "track": self.track,
            "phase": self.phase,
            "team": self.team,
            "needs_terms": self.needs_terms,
            "tab": tab,
            "tabs": _tabs(self),
            "period": period_of(self.tracks, timezone.now()),
            "uses_demo_models": any(uses_demo_models(each) for each in ([track] if track else self.tracks)),
        }


def page_context(request: HttpRequest, slug: str) -> PageContext:
    """The competition at ``slug``, the track of ``?track=`` (or ``track`` in the body; else the first) and the phase of
    ``?phase=`` (else the one to show now).

    Raises ``CompetitionNotFound``. Anybody with a role in it may see an unpublished competition.
    """
    tracks = _TRACKS(slug)
    prefetch_related_objects(tracks, "phases")
    competition = tracks[0].competition if tracks else get_competition(slug, include_unpublished=True)
    if not may_visit(request.user, competition):
        raise CompetitionNotFound
    wanted = request.POST.get("track") or request.GET.get("track")
    track = next((track for track in tracks if track.slug == wanted), tracks[0] if tracks else None)
    phase = _phase_of(track, request.GET.get("phase")) if track else None
    team = team_of(request.user, competition)
    needs_terms = team is not None and not is_accepted(request.user, competition)
    has_manage_pages = may(request.user, competition, Permission.VIEW)
    return PageContext(competition, tracks, track, phase, team, needs_terms, has_manage_pages)


def may_visit(user: User | AnonymousUser, competition: Competition) -> bool:
    """Whether ``user`` may see the pages of ``competition``: everybody after it is published."""
    return competition.is_published or may(user, competition, Permission.VIEW)


def _phase_of(track: Track, wanted: str | None) -> Phase | None:
    return next((phase for phase in track.phases.all() if phase.slug == wanted), None) or phase_to_show(track)


def page_of(
    request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], size: int = PAGE_SIZE, *, name: str = "page"
) -> Page[Any]:
    """The page of ``?page=``, or of another ``name`` for a second list; the nearest one if that does not exist."""
    return Paginator(rows, size).get_page(request.GET.get(name))


def uses_demo_models(track: Track) -> bool:
    """Whether the demo models take part in new scores of ``track``: not where no score is a model's."""
    return (track.profile or settings.SCORING_PROFILE) == DEMO_PROFILE and bool(_model_scores(track.recipe))


def _model_scores(recipe: str) -> frozenset[str]:
    try:
        return get_recipe(recipe).model_scores
    except UnknownRecipe:
        return frozenset()


def address(name: str, competition: Competition, track: Track | None = None) -> str:
    """The address of page ``name`` of ``competition``, on ``track`` if it is not the only one."""
    url = resolve_url(name, competition.slug)
    return f"{url}?{urlencode({'track': track.slug})}" if track else url


def _tabs(page: PageContext) -> list[Tab]:
    track = page.track if len(page.tracks) > 1 else None
    tabs = [
        Tab("competition", _("대회안내"), address("competition", page.competition)),
        Tab("data", _("데이터"), address("competition_data", page.competition)),
        Tab("submit", pgettext("menu", "제출"), address("submit", page.competition, track)),
        Tab("board", _("순위표"), address("board", page.competition, track)),
    ]
    if any(each.has_shown_stage for each in page.tracks):
        tabs.append(Tab("stages", pgettext("menu", "심사"), address("stages", page.competition, track)))
    if any(each.has_campaign for each in page.tracks):
        tabs.append(Tab("campaigns", _("사람 평가"), address("campaigns", page.competition)))
    if page.team:
        tabs.append(Tab("submissions", _("내 제출"), address("submissions", page.competition, track)))
    tabs.append(Tab("team", _("팀"), address("team", page.competition)))
    tabs.append(Tab("questions", _("문의와 답변"), address("questions", page.competition)))
    if page.has_manage_pages:
        tabs.append(Tab("manage", _("운영실"), address("manage_overview", page.competition)))
    return tabs


def members_only(
    view: Callable[Concatenate[MemberRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Send a visitor to the log-in page, with a message if the data they sent is lost."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.user.is_authenticated:
            return view(cast("MemberRequest", request), *args, **kwargs)
        if request.method == "POST":
            text = _(
                "로그인이 끊겨 보낸 내용을 처리하지 못했습니다. 다시 로그인한 뒤 한 번 더 보내 주십시오. "
                "파일을 올렸다면 제출 횟수는 차감되지 않았습니다."
            )
            messages.warning(request, text)
        return to_log_in(_return_address(request))

    return guarded


def to_log_in(address: str) -> HttpResponse:
    """Lead to the log-in, and then to ``address``."""
    return redirect(f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': address})}")


def _return_address(request: HttpRequest) -> str:
    """The address to return to: this page or, for a POST, the page it was sent from."""
    if request.method != "POST":
        return request.get_full_path()
    referer = request.META.get("HTTP_REFERER", "")
    if url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
        return referer.split(request.get_host(), 1)[1]
    return request.get_full_path()
