"""Human evaluation as organisers run it: campaigns, what is judged, who judges, and what is published.

Judges judge on pages alone; who they are, the site never tells a program.
"""

from __future__ import annotations

import hashlib
import json
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from malpan_client.failing import NOT_ANSWERED, NOT_FOUND, WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.parsing import settings_of
from malpan_client.places import managed_phase, place_of, with_track
from malpan_client.showing import Result, moment, note, pairs, state, table
from malpan_client.site import Site, each_of
from malpan_client.taking_part import confirm
from malpan_client.transport import received
from malpan_client.words import reason_of, say

CAMPAIGN_SETTINGS = (
    *("title_ko", "title_en", "notice_ko", "notice_en", "starts_at", "ends_at", "protocol", "rubric", "part"),
    *("item_count", "units_per_item", "judges_per_unit", "calibration_count", "min_seconds"),
)


def _campaign_path(options: Namespace, rest: str = "") -> str:
    return place_of(options.place).manage(f"arena/{options.id}/{rest}")


# --- campaigns --------------------------------------------------------------------------------------------------------
def list_campaigns(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    found = [e for e in each_of(site.get(place.manage("arena/"))) if place.track in ("", e["track"])]
    rows = [(e["id"], e["track"], e["number"], e["title_ko"], e["protocol"], _done(e), _standing(e)) for e in found]
    heads = ["id", say("track"), say("number"), say("title"), say("protocol"), say("judged"), say("state")]
    return Result({"campaigns": found}, table(heads, rows, right=[0, 2]) if rows else say("no_campaigns"))


def _done(found: Any) -> str:
    return f"{found['progress']['done']}/{found['progress']['total']}"


def _standing(found: Any) -> str:
    return state(f"campaign_{found['state']}")


def show_campaign(site: Site, options: Namespace) -> Result:
    return _one_campaign(site.get(_campaign_path(options)))


def _one_campaign(found: Any) -> Result:
    progress = found["progress"]
    lines = {
        "id": found["id"],
        say("track"): found["track"],
        say("title"): " / ".join(filter(None, (found["title_ko"], found["title_en"]))),
        say("protocol"): found["protocol"],
        say("state"): _standing(found),
        say("systems"): progress["systems"],
        say("judges"): say("judges_there", accepted=progress["accepted"], waiting=progress["waiting"]),
        say("judged"): _done(found),
        say("starts"): moment(found["starts_at"]),
        say("ends"): moment(found["ends_at"]),
    }
    for each in each_of(found["publications"]):
        lines[say("publication", number=each["number"])] = f"{moment(each['published_at'])} · {each['result_sha256']}"
    return Result(found, pairs(lines))


def list_rubrics(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    found = list(each_of(site.get(place.manage(f"arena/rubrics/{place.track}/"))))
    rows = [(e["id"], e["track"], e["number"], e["title_ko"]) for e in found]
    heads = ["id", say("track"), say("version"), say("title")]
    return Result({"rubrics": found}, table(heads, rows, right=[0, 2]) if rows else say("no_rubrics"))


def create_rubric(site: Site, options: Namespace) -> Result:
    """A version of a track's rubric, of a JSON file as ``list_rubrics`` has it."""
    place = with_track(site, place_of(options.place))
    made = site.change("POST", place.manage(f"arena/rubrics/{place.track}/"), _json_file(options.file))
    return Result(made, say("rubric_made", id=made["id"], number=made["number"]))


def _json_file(name: str) -> dict[str, Any]:
    path = Path(name)
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error
    if not isinstance(found, dict):
        raise Failure(WRONG_INPUT, say("no_object", path=path))
    return found


def create_campaign(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    body = settings_of(options, *CAMPAIGN_SETTINGS) | {"phase": managed_phase(site, place)["id"]}
    return _one_campaign(site.change("POST", place.manage_track("campaigns/"), body))


def update_campaign(site: Site, options: Namespace) -> Result:
    changes = settings_of(options, *CAMPAIGN_SETTINGS)
    if not changes:
        raise Failure(WRONG_USAGE, say("what_to_change"))
    return _one_campaign(site.change("PATCH", _campaign_path(options), changes))


def remove_campaign(site: Site, options: Namespace) -> Result:
    confirm(options, say("confirm_campaign_removal", id=options.id))
    site.change("DELETE", _campaign_path(options))
    return Result({"removed": options.id}, say("campaign_removed", id=options.id))


# --- what is judged, and by whom --------------------------------------------------------------------------------------
def campaign_systems(site: Site, options: Namespace) -> Result:
    """What is evaluated; or choose it: the first of the board by ``--top``, or submissions by their ids."""
    path = _campaign_path(options, "systems/")
    if options.top is not None and options.ids:
        raise Failure(WRONG_USAGE, say("top_or_ids"))
    if options.top is not None:
        found = site.change("POST", f"{path}top/", {"count": options.top, "with_baselines": options.with_baselines})
    elif options.ids:
        found = site.change("PUT", path, {"submissions": options.ids})
    else:
        found = site.get(path)
    chosen = list(each_of(found))
    rows = [(e["team_number"], e["team"], e["submission"], e["label"], e["unfit"] or None) for e in chosen]
    heads = [say("number"), say("team"), say("submission"), say("label"), say("state")]
    return Result({"systems": chosen}, table(heads, rows, right=[0]) if rows else say("no_systems"))


def list_judges(site: Site, options: Namespace) -> Result:
    found = list(site.pages(_campaign_path(options, "judges/"), "items")["items"])
    rows = [
        (e["id"], state(f"judge_{e['state']}"), f"{e['done']}/{e['total']}", moment(e["invited_at"])) for e in found
    ]
    heads = ["id", say("state"), say("judged"), say("invited")]
    return Result({"judges": found}, table(heads, rows, right=[0]) if rows else say("no_judges"))


def invite_judges(site: Site, options: Namespace) -> Result:
    """Each of them by a mail of their own. The ids are told here alone, beside the addresses."""
    body = {"institution": options.institution}
    made = [site.change("POST", _campaign_path(options, "judges/"), {"email": each, **body}) for each in options.emails]
    told = [{"email": email, **each} for email, each in zip(options.emails, made)]
    rows = [(e["id"], e["email"], state(f"judge_{e['state']}")) for e in told]
    return Result({"judges": told}, table(["id", say("email"), say("state")], rows, right=[0]))


def remind_judges(site: Site, options: Namespace) -> Result:
    found = site.change("POST", _campaign_path(options, "judges/remind/"))
    return Result(found, say("judges_reminded", told=found["told"], told_before=found["told_before"]))


# --- its course -------------------------------------------------------------------------------------------------------
def open_campaign(site: Site, options: Namespace) -> Result:
    """Show the design that opening now would give, ask, and open it: nothing of it can be changed afterwards."""
    path = _campaign_path(options, "opening/")
    design = site.get(path)
    names = ("systems", "items", "judges", "assignments", "per_judge_least", "per_judge_most")
    text = pairs({say(f"design_{name}"): design[name] for name in names})
    if options.dry_run:
        return Result(design, f"{text}\n{say('nothing_done')}")
    note(text)
    confirm(options, say("confirm_campaign_opening", id=options.id))
    return _one_campaign(site.change("POST", path))


def close_campaign(site: Site, options: Namespace) -> Result:
    confirm(options, say("confirm_campaign_closing", id=options.id))
    return _one_campaign(
        site.change("POST", _campaign_path(options, "closing/"), {"accepts_open": options.accept_open})
    )


def publish_campaign(site: Site, options: Namespace) -> Result:
    """Show the strengths of the result, ask, and publish it with the judgements under labels."""
    path = _campaign_path(options, "publishing/")
    found = _when_computed(site, path)
    text = _result_of(found)
    if options.dry_run:
        return Result(found, f"{text}\n{say('nothing_done')}")
    note(text)
    confirm(options, say("confirm_campaign_result", id=options.id))
    body = {"result_sha256": found["result_sha256"], "note_ko": options.note_ko, "note_en": options.note_en}
    made = site.change("POST", path, body)
    return Result(made, say("campaign_published", number=made["number"], sha256=made["result_sha256"]))


def _result_of(found: Any) -> str:
    lines = {"result_sha256": found["result_sha256"], "votes_sha256": found["votes_sha256"]}
    lines |= {say(name): ", ".join(found[name]) for name in ("gone", "back") if found[name]}
    return pairs(lines)


def _when_computed(site: Site, path: str) -> Any:
    """What a worker computes: asked for until it is there, as long as the command waits at all."""
    seconds = 0.0
    while True:
        try:
            return site.get(path)
        except Failure as failure:
            if failure.code != "still_computing" or seconds >= site.max_wait:
                raise
        pause = min(1.0 + seconds / 4, 15.0)
        note(say("computing"))
        time.sleep(pause)
        seconds += pause


def fetch_votes(site: Site, options: Namespace) -> Result:
    """The published judgements, under the labels of the systems, as the file whose sha256 was published."""
    target = Path(options.to or f"votes-{options.id}.json")
    if target.exists() and not options.force:
        raise Failure(WRONG_INPUT, say("other_file_there", path=target))
    published = list(each_of(site.get(_campaign_path(options))["publications"]))
    wanted = [each for each in published if options.snapshot in (None, each["number"])]
    if not wanted:
        raise Failure(NOT_FOUND, say("no_result", id=options.id))
    newest = max(wanted, key=lambda each: int(each["number"]))
    query = {"snapshot": newest["number"]}
    data = site.request(
        "GET", _campaign_path(options, "votes/"), lambda answer, _patience: received(answer), query=query
    )
    if hashlib.sha256(data).hexdigest() != newest["votes_sha256"]:
        raise Failure(NOT_ANSWERED, say("damaged_again", path=target))
    target.write_bytes(data)
    told = {"path": str(target), "number": newest["number"], "sha256": newest["votes_sha256"]}
    return Result(told, f"{target}  sha256 {newest['votes_sha256']}")
