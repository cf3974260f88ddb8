"""Awards: proposed by a published result, given, put in order, shown to everybody, taken back."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from malpan_client.failing import NOT_FOUND, WRONG_USAGE, Failure
from malpan_client.parsing import settings_of
from malpan_client.places import place_of, with_track
from malpan_client.showing import Result, moment, note, pairs, state, table
from malpan_client.site import Site, each_of
from malpan_client.taking_part import confirm
from malpan_client.words import say

AWARD_SETTINGS = ("title_ko", "title_en", "prize_ko", "prize_en", "awarded_on", "track")


def _awards_path(options: Namespace, rest: str = "") -> str:
    return place_of(options.place).manage(f"awards/{rest}")


def list_awards(site: Site, options: Namespace) -> Result:
    """All of them, those that nobody else sees yet as well."""
    return _listed(list(each_of(site.get(_awards_path(options)))))


def _listed(found: Sequence[Any]) -> Result:
    return Result({"awards": found}, _awards_text(found))


def _awards_text(found: Sequence[Any]) -> str:
    if not found:
        return say("no_awards")
    rows = [
        (e["position"], e["id"], e["number"], e["title"], e["prize"] or None, _awarded_team(e), _award_state(e))
        for e in found
    ]
    heads = [say("position"), "id", say("award_number"), say("award"), say("prize"), say("team"), say("state")]
    return table(heads, rows, right=[0, 1])


def _awarded_team(found: Any) -> str:
    return f"{found['team_number']} {found['team']}"


def _award_state(found: Any) -> str:
    shown = f"{state('published')} {moment(found['published_at'])}" if found["published_at"] else state("unpublished")
    return f"{shown} · {state('disqualified')}" if found["is_disqualified"] else shown


def propose_awards(site: Site, options: Namespace) -> Result:
    """The first places of the published result of a track; nothing is given by it."""
    place = with_track(site, place_of(options.place))
    found = list(each_of(site.get(place.manage_track("awards/"), places=str(options.places))))
    rows = [
        (e["rank"], e["title_ko"], _awarded_team(e), e["sharing"], say("has_award") if e["has_award"] else None)
        for e in found
    ]
    heads = [say("rank"), say("award"), say("team"), say("sharing"), say("state")]
    return Result({"proposed": found}, table(heads, rows, right=[0, 3]) if rows else say("nobody_proposed"))


def create_award(site: Site, options: Namespace) -> Result:
    body = {"team_number": options.team, **settings_of(options, *AWARD_SETTINGS)}
    return _one_award(site.change("POST", _awards_path(options), body))


def update_award(site: Site, options: Namespace) -> Result:
    changes = settings_of(options, *AWARD_SETTINGS)
    if options.team is not None:
        changes["team_number"] = options.team
    if not changes:
        raise Failure(WRONG_USAGE, say("what_to_change"))
    return _one_award(site.change("PATCH", _awards_path(options, f"{options.id}/"), changes))


def _one_award(found: Any) -> Result:
    lines = {
        "id": found["id"],
        say("position"): found["position"],
        say("award_number"): found["number"],
        say("award"): " / ".join(filter(None, (found["title_ko"], found["title_en"]))),
        say("prize"): " / ".join(filter(None, (found["prize_ko"], found["prize_en"]))) or None,
        say("team"): _awarded_team(found),
        say("awarded_on"): found["awarded_on"],
        say("track"): found["track"],
        say("state"): _award_state(found),
    }
    return Result(found, pairs(lines))


def move_award(site: Site, options: Namespace) -> Result:
    body = {"position": options.position}
    return _listed(list(each_of(site.change("POST", _awards_path(options, f"{options.id}/move/"), body))))


def remove_award(site: Site, options: Namespace) -> Result:
    """Take an award from the list; one that has a number is revoked."""
    awards = each_of(site.get(_awards_path(options)))
    found = next((each for each in awards if each["id"] == options.id), None)
    if found is None:
        raise Failure(NOT_FOUND, say("no_award", id=options.id))
    said = {"title": found["title"], "team": _awarded_team(found), "number": found["number"]}
    confirm(options, say("confirm_award_revocation" if found["number"] else "confirm_award_removal", **said))
    site.change("DELETE", _awards_path(options, f"{options.id}/"))
    text = say("award_revoked" if found["number"] else "award_removed", **said)
    return Result({"removed": options.id, "number": found["number"]}, text)


def publish_awards(site: Site, options: Namespace) -> Result:
    """Show the list as everybody would see it, ask, and publish it."""
    found = list(each_of(site.get(_awards_path(options))))
    if options.dry_run:
        return Result({"awards": found}, f"{_awards_text(found)}\n{say('nothing_done')}")
    note(_awards_text(found))
    waiting = sum(each["published_at"] is None for each in found)
    confirm(options, say("confirm_awards", count=waiting))
    return _listed(list(each_of(site.change("POST", _awards_path(options, "publish/")))))


def withdraw_awards(site: Site, options: Namespace) -> Result:
    confirm(options, say("confirm_awards_withdrawal", contest=place_of(options.place).competition))
    return _listed(list(each_of(site.change("POST", _awards_path(options, "withdraw/")))))
