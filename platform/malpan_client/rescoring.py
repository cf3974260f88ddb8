"""Rescoring: start it, look at what would change, apply what was seen, order that it applies itself, or cancel."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

from malpan_client.failing import DONE, NOT_SCORED, WRONG_INPUT, Failure
from malpan_client.places import Place, managed_phase, place_of
from malpan_client.showing import Result, moment, note, pairs, state, table
from malpan_client.site import Facts, Site, each_of
from malpan_client.taking_part import confirm
from malpan_client.watching import watch
from malpan_client.words import say

COUNTS = ("finished", "running", "queued", "failed", "excluded", "late")
SHOWN = 20  # moves of teams
FINAL = "final_score"  # that ranks, unless a composite does
AS_STORED = {"scale": 1, "decimals": 4}  # of scores where nothing was scored yet, so that no change says how


def list_rescorings(site: Site, options: Namespace) -> Result:
    found = site.pages(place_of(options.place).manage("rescoring/"), "items")
    rows = [(e["id"], state(e["state"]), e["finished"], moment(e["created_at"]), e["reason"]) for e in found["items"]]
    heads = ["id", say("state"), say("finished"), say("when"), say("reason")]
    return Result(found, table(heads, rows, right=[0, 2]) if rows else say("no_rescorings"))


def start_rescoring(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    phase = managed_phase(site, place)
    body: dict[str, Any] = {"phase": phase["id"], "reason": options.reason}
    if options.also:
        track = Place(place.competition, phase["track"])
        body["also"] = [managed_phase(site, replace(track, phase=name))["id"] for name in options.also]
    if options.references:
        body["reference_version"] = _version(site, place, phase["id"], options.references)
    for name in ("recipe", "profile", "since", "until", "state"):
        if getattr(options, name):
            body[name] = getattr(options, name)
    if options.teams:
        body["teams"] = options.teams
    if options.from_scratch:
        body["from_scratch"] = True
    made = site.change("POST", place.manage("rescoring/"), body)
    return _followed(site, place, made, options)


def _version(site: Site, place: Place, phase: int, named: str) -> int:
    """The version of this id, or the newest draft of the phase."""
    if named.isdigit():
        return int(named)
    if named != "draft":
        raise Failure(WRONG_INPUT, say("which_version", name=named))
    versions = each_of(site.get(place.manage("references/")))
    drafts = [int(each["id"]) for each in versions if each["phase"] == phase and each["state"] == "draft"]
    if not drafts:
        raise Failure(WRONG_INPUT, say("no_draft"))
    return max(drafts)


def show_rescoring(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    return _followed(site, place, site.get(_path(place, options)), options)


def _followed(site: Site, place: Place, found: Any, options: Namespace) -> Result:
    """The batch; with ``--wait`` when nothing of it, and of those applied with it, is waiting to be scored any more."""
    if not options.wait:
        return Result(found, _batch_text(found))
    found = _awaited(site, place, found, options)
    others = [site.get(_one(place, pk)) for pk in found.get("together", ()) if pk != found["id"]]
    all_of_them = [found, *(_awaited(site, place, each, options) for each in others)]
    is_late = not all(map(_is_over_batch, all_of_them))
    return Result(found, _batch_text(found), NOT_SCORED if is_late else DONE)


def _awaited(site: Site, place: Place, found: Any, options: Namespace) -> Any:
    path = _one(place, found["id"])
    return watch(site, found, path, is_over=_is_over_batch, line=_batch_line, seconds=options.wait_limit)


def _one(place: Place, pk: int, rest: str = "") -> str:
    return place.manage(f"rescoring/{pk}/{rest}")


def _is_over_batch(found: Any) -> bool:
    return found["state"] != "running" or not (found["queued"] or found["running"])


def _batch_line(found: Any) -> str:
    return say("batch_progress", finished=found["finished"], left=found["queued"] + found["running"])


def _batch_text(found: Any) -> str:
    counts = ", ".join(f"{say(f'count_{name}')} {found[name]}" for name in COUNTS if found[name])
    lines = {
        "id": found["id"],
        say("state"): state(found["state"]),
        say("reason"): found["reason"],
        say("runs"): counts,
    }
    if found.get("together"):
        lines[say("together")] = ", ".join(map(str, found["together"]))
    if order := found.get("order"):
        lines[say("order")] = ", ".join(filter(None, (state(order["state"]), order["refusal"])))
    return pairs(lines)


def preview_rescoring(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    found = _preview(site, place, options.id)
    return Result(found, _preview_text(found))


def _path(place: Place, options: Namespace, rest: str = "") -> str:
    return _one(place, options.id, rest)


def _preview(site: Site, place: Place, pk: int) -> Facts:
    return site.pages(_one(place, pk, "preview/"), "rows")


def _preview_text(found: Any) -> str:
    rows = list(each_of(found["changes"]))
    changes = [
        (e["label"], e["changed"], e["count"], *(_difference(e, name) for name in ("mean", "minimum", "maximum")))
        for e in rows
    ]
    heads = [say("metric"), say("changed"), say("runs"), say("mean"), say("minimum"), say("maximum")]
    text = table(heads, changes, right=[1, 2, 3, 4, 5])
    final = next((each for each in rows if each["score"] == FINAL), AS_STORED)
    moves = [
        (
            *(each["team"], each["before"], each["after"]),
            *(_score(final, each[name]) for name in ("score_before", "score_after")),
            ", ".join(map(str, each["crossed"])) or None,
        )
        for each in found["moves"][:SHOWN]
    ]
    heads = [say("team"), say("rank_before"), say("rank_after"), say("before"), say("after"), say("prizes")]
    text += "\n\n" + table(heads, moves, right=[1, 2, 3, 4])
    if found["items_before"] and found["items_after"] < found["items_before"]:
        text += "\n" + say("fewer_items", before=found["items_before"], after=found["items_after"])
    if found["left_out"]:
        text += f"\n{say('left_out', count=found['left_out'])}"
    return f"{text}\nseen: {found['seen']}"


def _difference(change: Any, name: str) -> str:
    return f"{change[name] * change['scale']:+.{change['decimals']}f}"


def _score(final: Any, value: float | None) -> str | None:
    """A score of a move as the board shows it."""
    return None if value is None else f"{value * final['scale']:.{final['decimals']}f}"


def apply_rescoring(site: Site, options: Namespace) -> Result:
    """Apply what a preview showed: that of ``--seen``, or those that are shown now and agreed to."""
    place = place_of(options.place)
    seen = options.seen
    if not seen:
        numbers = site.get(_path(place, options)).get("together") or [options.id]
        found = [_preview(site, place, pk) for pk in numbers]
        for pk, each in zip(numbers, found):
            note(f"#{pk}\n{_preview_text(each)}")
        confirm(options, say("confirm_apply", id=", ".join(map(str, numbers))))
        seen = ",".join(str(each["seen"]) for each in found)
    made = site.change("POST", _path(place, options, "apply/"), {"seen": seen, **_choices(options)})
    return Result(made, _batch_text(made))


def _choices(options: Namespace) -> dict[str, Any]:
    """What happens when it is applied."""
    body: dict[str, Any] = {"resets_quota": options.reset_quota, "grants_slots": options.grant}
    for name in ("title_ko", "body_ko", "title_en", "body_en"):
        if getattr(options, name):
            body[name] = getattr(options, name)
    if options.leave_other_phases:
        body["leaves_other_phases"] = True
    return body


def order_rescoring(site: Site, options: Namespace) -> Result:
    """Have it applied by itself when its runs are finished."""
    place = place_of(options.place)
    confirm(options, say("confirm_order", id=options.id))
    body = {"guarded_places": options.guard, **_choices(options)}
    made = site.change("POST", _path(place, options, "order/"), body)
    return Result(made, _batch_text(made))


def withdraw_rescoring(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    made = site.change("DELETE", _path(place, options, "order/"))
    return Result(made, _batch_text(made))


def cancel_rescoring(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    made = site.change("POST", _path(place, options, "cancel/"))
    return Result(made, _batch_text(made))
