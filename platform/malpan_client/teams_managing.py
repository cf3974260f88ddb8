"""Teams as organisers see them, and what they have left of the limits: grants, refunds, resets."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from malpan_client.failing import WRONG_USAGE, Failure
from malpan_client.places import managed_phase, place_of
from malpan_client.showing import Result, moment, pairs, state, table
from malpan_client.site import Site, each_of
from malpan_client.taking_part import confirm, limits_text
from malpan_client.words import say


# --- teams ------------------------------------------------------------------------------------------------------------
def list_teams(site: Site, options: Namespace) -> Result:
    found = list(site.pages(place_of(options.place).manage("teams/"), "items")["items"])
    rows = [(e["number"], e["name"], len(e["members"]), e["submissions"], _team_marks(e) or None) for e in found]
    heads = [say("number"), say("team"), say("members"), say("submission_count"), say("state")]
    return Result({"teams": found}, table(heads, rows, right=[0, 2, 3]) if rows else say("no_teams"))


def _team_marks(found: Any) -> str:
    marks = [say(name) for name in ("is_baseline", "is_program") if found[name]]
    marks += [state("disqualified")] if found["disqualified_at"] else []
    return " · ".join([*marks, *([say("merged_into", number=found["merged_into"])] if found["merged_into"] else [])])


def create_managed_team(site: Site, options: Namespace) -> Result:
    """A team for somebody who has an account, such as that of a baseline."""
    body = {"name": options.name, "email": options.email, "is_baseline": options.baseline}
    return _one_team(site.change("POST", place_of(options.place).manage("teams/"), body))


def update_managed_team(site: Site, options: Namespace) -> Result:
    changes: dict[str, Any] = {}
    if options.name is not None:
        changes["name"] = options.name
    if options.baseline or options.no_baseline:
        changes["is_baseline"] = bool(options.baseline)
    if options.program or options.no_program:
        changes["is_program"] = bool(options.program)
    if not changes:
        raise Failure(WRONG_USAGE, say("what_to_change"))
    return _one_team(site.change("PATCH", place_of(options.place).manage(f"teams/{options.id}/"), changes))


def _one_team(found: Any) -> Result:
    people = [f"{each.get('name', '')} <{each.get('email', '')}>" for each in each_of(found["members"])]
    lines = {
        say("number"): found["number"],
        say("team"): found["name"],
        say("members"): ", ".join(people) or None,
        say("state"): _team_marks(found) or None,
    }
    return Result(found, pairs(lines))


# --- what they have left ----------------------------------------------------------------------------------------------
def _quota_path(site: Site, options: Namespace, rest: str = "") -> str:
    place = place_of(options.place)
    path = place.manage(f"phases/{managed_phase(site, place)['id']}/quota/")
    return path + (f"teams/{options.team}/" if options.team is not None else "") + rest


def show_quota(site: Site, options: Namespace) -> Result:
    found = site.get(_quota_path(site, options))
    return Result(found, limits_text(found))


def show_ledger(site: Site, options: Namespace) -> Result:
    """Every line of it, also of those behind the first page."""
    path, page = _quota_path(site, options, "ledger/"), 1
    found: list[Any] = []
    while True:
        part = list(each_of(site.get(path, page=str(page), page_size="100")))
        found += part
        page += 1
        if len(part) < 100:
            return Result({"lines": found}, _ledger_text(found))


def _ledger_text(found: Sequence[Any]) -> str:
    rows = [
        (moment(e["moment"]), e["kind"], e["slots"], e["day"], e["actor"], e["reason"] or e["submission"])
        for e in found
    ]
    heads = [say("when"), say("kind"), say("slots"), say("day"), say("actor"), say("reason")]
    return table(heads, rows, right=[2]) if rows else say("no_ledger")


def grant_slots(site: Site, options: Namespace) -> Result:
    """More slots for one team or for all, of one day or of the phase."""
    body = {"slots": options.slots, "reason": options.reason, **({"day": options.day} if options.day else {})}
    return _quota_changed(site, options, "grant/", body, "confirm_grant_all")


def reset_quota(site: Site, options: Namespace) -> Result:
    """Have the slots that were used count no more, of one team or of all."""
    body: dict[str, Any] = {"reason": options.reason}
    if options.team is None:
        place = place_of(options.place)
        body["confirm"] = managed_phase(site, place)["slug"]
    return _quota_changed(site, options, "reset/", body, "confirm_reset_all")


def _quota_changed(site: Site, options: Namespace, rest: str, body: dict[str, Any], question: str) -> Result:
    if (options.team is None) != bool(options.all):
        raise Failure(WRONG_USAGE, say("team_or_all"))
    if options.all:
        confirm(options, say(question, place=options.place))
    found = site.change("POST", _quota_path(site, options, rest), body)
    return Result(found, say("teams_changed", count=found["count"]) if options.all else limits_text(found))


def refund_slot(site: Site, options: Namespace) -> Result:
    body = {"submission": options.submission, "reason": options.reason}
    found = site.change("POST", _quota_path(site, options, "refund/"), body)
    return Result(found, limits_text(found))
