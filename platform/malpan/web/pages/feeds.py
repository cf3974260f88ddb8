"""What programs of readers subscribe to: the notices of a competition, and the first places of its boards with the
publications of the final ones, as Atom; its deadlines as a calendar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.selectors import notices_of
from malpan.leaderboard.first_places import FirstPlaces, Publication, first_places_of, publications_of
from malpan.notifications.rendering import absolute
from malpan.web.ics import Moment, calendar
from malpan.web.markdown import to_html
from malpan.web.pages.context import page_context

NOTICES: Final = 50
CHANGES: Final = 50


class _Feed(Atom1Feed):
    """Without entries it was last changed when its competition was made: it stays the same while nothing happens."""

    def latest_post_date(self) -> datetime:
        found: datetime = super().latest_post_date() if self.items else self.feed["made_at"]
        return found


@require_safe
def notices_feed(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest notices, in the language of the request."""
    competition = page_context(request, slug).competition
    link = absolute(reverse("notices", args=[slug]))
    feed = _Feed(
        made_at=competition.created_at,
        title=_("%(competition)s: 공지") % {"competition": competition.title},
        link=link,
        description="",
        language=get_language(),
        feed_url=absolute(reverse("notices_feed", args=[slug])),
    )
    for notice in notices_of(competition).order_by("-published_at", "-pk")[:NOTICES]:
        place = f"{link}#notice-{notice.pk}"
        feed.add_item(
            title=notice.title,
            link=place,
            description=to_html(notice.body),
            unique_id=place,
            pubdate=notice.published_at,
            updateddate=notice.published_at,
        )
    return _answer(feed)


@require_safe
def board_feed(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is first on the public boards, an entry for each day that changed it, and for each final board."""
    page = page_context(request, slug)
    link = absolute(reverse("board", args=[slug]))
    feed = _Feed(
        made_at=page.competition.created_at,
        title=_("%(competition)s: 순위표의 앞자리") % {"competition": page.competition.title},
        link=link,
        description="",
        language=get_language(),
        feed_url=absolute(reverse("board_feed", args=[slug])),
    )
    phases = [phase for track in page.tracks for phase in track.phases.all()]
    changes = [_of_day(each) for each in first_places_of(phases)]
    changes += [_of_publication(each) for each in publications_of(phases)]
    for each in sorted(changes, key=lambda change: change.moment, reverse=True)[:CHANGES]:
        place = f"{link}?{urlencode(each.asked)}"
        feed.add_item(
            title=each.title,
            link=place,
            description=escape(_first_places_text(each.teams)),  # which readers take for HTML
            unique_id=place,
            pubdate=each.moment,
            updateddate=each.moment,
        )
    return _answer(feed)


@dataclass(frozen=True, slots=True)
class _Change:
    """An entry: ``asked``: the board that it is about, of the page of boards."""

    moment: datetime
    title: str
    teams: Sequence[str]
    asked: dict[str, str]


def _of_day(found: FirstPlaces) -> _Change:
    title = _first_places_title(found, found.phase.track)
    return _Change(found.kept_at, title, found.teams, _board_of(found.phase) | {"day": found.day.isoformat()})


def _of_publication(found: Publication) -> _Change:
    names = {"track": found.phase.track.title, "phase": found.phase.title, "number": found.number}
    title = _("%(track)s %(phase)s: 최종 순위표(%(number)s판)가 발표되었습니다") % names
    return _Change(found.published_at, title, found.teams, _board_of(found.phase) | {"snapshot": str(found.number)})


def _board_of(phase: Phase) -> dict[str, str]:
    return {"track": phase.track.slug, "phase": phase.slug}


def _first_places_text(teams: Sequence[str]) -> str:
    """``1위 가, 2위 나, 3위 다``"""
    named = enumerate(teams, 1)
    return ", ".join(_("%(place)d위 %(team)s") % {"place": place, "team": team} for place, team in named)


def _first_places_title(found: FirstPlaces, track: Track) -> str:
    names = {"track": track.title, "phase": found.phase.title, "team": found.teams[0]}
    if found.has_new_leader:
        return _("%(track)s %(phase)s: 1위가 %(team)s 팀으로 바뀌었습니다") % names
    return _("%(track)s %(phase)s: 앞자리의 순위가 바뀌었습니다") % names


def _answer(feed: Atom1Feed) -> HttpResponse:
    return HttpResponse(feed.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


@require_safe
def deadlines_calendar(request: HttpRequest, slug: str) -> HttpResponse:
    """When the phases of the competition begin and end."""
    page = page_context(request, slug)
    moments = [
        moment
        for track in page.tracks
        for phase in track.phases.all()
        for moment in _moments(page.competition, track, phase)
    ]
    content = calendar(page.competition.title, moments, timezone.now())
    response = HttpResponse(content, content_type="text/calendar; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}.ics"'
    return response


def _moments(competition: Competition, track: Track, phase: Phase) -> list[Moment]:
    names = {"competition": competition.title, "track": track.title, "phase": phase.title}
    url, host = absolute(reverse("competition", args=[competition.slug])), urlsplit(settings.SITE_URL).hostname
    begins = _("%(competition)s %(track)s: %(phase)s 시작") % names
    ends = _("%(competition)s %(track)s: %(phase)s 제출 마감") % names
    return [
        Moment(f"phase-{phase.pk}-begins@{host}", phase.starts_at, begins, url),
        Moment(f"phase-{phase.pk}-ends@{host}", phase.ends_at, ends, url),
    ]
