"""Who looks at the pages, and what there is to see: called beside the site (``Stack.call``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from django.urls import Resolver404, URLPattern, get_resolver, resolve, reverse

from malpan.accounts.models import User
from malpan.arena.models import CampaignJudge
from malpan.competitions.models import Competition
from malpan.competitions.services import create_competition
from malpan.demo.assembly import ORGANISER
from malpan.demo.rating import PLAN
from malpan.stages.models import Award
from malpan.submissions.models import Submission
from malpan.teams.models import Membership
from malpan.web.pages.awards import token_of
from tests.appearance.judge import judge_everywhere
from tests.sessions import session_of
from tests.system.make_contest import make_numbered

LONG: Final = "아주긴이름을띄어쓰지않고" * 4
NOT_LOOKED_AT: Final = ("/admin/", "/api/v1/", "/language/")  # of Django; of programs; what only sends back


def sessions() -> dict[str, str]:
    """A session of each who looks, by what they are; a visitor has none."""
    scored = Submission.objects.filter(live_run__isnull=False, team__is_baseline=False)
    team = scored.order_by("-created_at", "-pk").select_related("team")[0].team
    people = {
        "participant": Membership.objects.get(team=team, role=Membership.Role.LEADER).user,
        "organiser": User.objects.get(email=ORGANISER[0]),
        "staff": User.objects.create_superuser("appearance@example.com", None, name="운영자"),
    }
    return {who: session_of(user) for who, user in people.items()}


def awarded() -> dict[str, str]:
    """Where an award is seen that no link leads to: the page that confirms it, and the team page of who got it, with
    their session. Empty until the demo has awards: its evaluation goes on after the board is complete.
    """
    award = Award.objects.filter(published_at__isnull=False).order_by("position").first()
    if award is None:
        return {}
    leader = Membership.objects.get(team=award.team, role=Membership.Role.LEADER).user
    return {
        "check": reverse("award_check", args=[token_of(award)]),
        "team": reverse("team", args=[award.competition.slug]),
        "session": session_of(leader),
    }


def judging() -> dict[str, Any]:
    """``{"sessions", "pages"}``: a judge amid an evaluation of each protocol, and the newcomer of the demo, who has not
    agreed yet; pages as ``(who, name of the view, address)``.
    """
    user, shown = judge_everywhere()
    newcomer = User.objects.get(email=PLAN["newcomer"]["email"])
    begun = CampaignJudge.objects.get(user=newcomer).campaign_id
    return {
        "sessions": {"judge": session_of(user), "newcomer": session_of(newcomer)},
        "pages": [
            ["judge", "arena", reverse("arena")],
            *(["judge", resolve(urlsplit(address).path).view_name, address] for address in shown),
            ["newcomer", "arena", reverse("arena")],
            ["newcomer", "arena_campaign", reverse("arena_campaign", args=[begun])],
        ],
    }


def add_empty_competitions() -> None:
    """One that has just been made, and an open one in which nobody takes part."""
    create_competition(slug="just-made", title_ko="방금 만든 대회")
    make_numbered("nobody-there", 3, 3)
    Competition.objects.filter(slug="nobody-there").update(title_ko=LONG, organiser_ko=LONG, title_en="Nobody " * 8)


def names_of(addresses: list[str]) -> list[str | None]:
    """The name of the view at each address; ``None``: nothing to look at."""
    return [None if address.startswith(NOT_LOOKED_AT) else _name_of(address) for address in addresses]


def all_names() -> list[str]:
    """The names of all views that are looked at."""
    return sorted(set(_names(get_resolver(), "/")))


def _names(resolver: Any, at: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        place = at + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield pattern.name or place
        elif not place.startswith(NOT_LOOKED_AT):
            yield from _names(pattern, place)


def _name_of(address: str) -> str | None:
    try:
        return resolve(address).view_name
    except Resolver404:
        return None
