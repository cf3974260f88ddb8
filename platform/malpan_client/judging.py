"""Stages of a track's final: their settings, tables of scores that a second person confirms, what is published."""

from __future__ import annotations

import codecs
import csv
import io
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from malpan_client.failing import WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.parsing import settings_of
from malpan_client.places import Place, managed_phase, place_of, with_track
from malpan_client.sending import readable
from malpan_client.showing import Result, moment, note, pairs, state, table
from malpan_client.site import Site, each_of
from malpan_client.taking_part import confirm
from malpan_client.words import say

STAGE_SETTINGS = (
    *("title_ko", "title_en", "notice_ko", "notice_en", "campaign", "normalisation"),
    *("scale_min", "scale_max", "weight", "cut", "tie_rule"),
)
SPREADSHEETS = ("utf-8-sig", "cp949")  # how spreadsheets write a text, but for UTF-16


def _stage_path(options: Namespace, rest: str = "") -> str:
    return place_of(options.place).manage(f"stages/{options.id}/{rest}")


# --- settings ---------------------------------------------------------------------------------------------------------
def list_stages(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    found = [e for e in each_of(site.get(place.manage("stages/"))) if place.track in ("", e["track"])]
    rows = [
        (e["id"], e["track"], e["position"], e["title_ko"], say(f"source_{e['source']}"), e["weight"], e["cut"],
         _stage_state(e))
        for e in found
    ]  # fmt: skip
    heads = ["id", say("track"), say("position"), say("title"), say("source"), say("weight"), say("cut"), say("state")]
    return Result({"stages": found}, table(heads, rows, right=[0, 2, 5, 6]) if rows else say("no_stages"))


def _stage_state(found: Any) -> str:
    if found["is_behind"]:
        return say("stage_behind", number=found["published"])
    if found["published"]:
        return say("stage_published", number=found["published"])
    if not found["is_open"]:
        return say("stage_waits")
    return state(f"table_{found['table_state']}") if found["source"] == "table" else say("stage_open")


def show_stage(site: Site, options: Namespace) -> Result:
    return _one_stage(site.get(_stage_path(options)))


def _one_stage(found: Any) -> Result:
    lines = {
        "id": found["id"],
        say("track"): found["track"],
        say("position"): found["position"],
        say("title"): " / ".join(filter(None, (found["title_ko"], found["title_en"]))),
        say("source"): say(f"source_{found['source']}"),
        say("scale"): f"{found['scale_min']:g}–{found['scale_max']:g}",
        say("weight"): found["weight"],
        say("cut"): found["cut"],
        say("state"): _stage_state(found),
    }
    for each in each_of(found["tables"]):
        verdict = state(f"table_{each['verdict'] or 'pending'}")
        lines[say("table_version", number=each["number"])] = " · ".join(
            filter(None, (each["entered_by"], moment(each["created_at"]), verdict, each["verdict_reason"]))
        )
    for each in each_of(found["publications"]):
        parts = (moment(each["published_at"]), f"sha256 {each['sha256']}", each["note_ko"])
        lines[say("publication", number=each["number"])] = " · ".join(filter(None, parts))
    return Result(found, pairs(lines))


def create_stage(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    path = place.manage_track("stages/")
    return _one_stage(site.change("POST", path, _stage_settings(site, place, options)))


def update_stage(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    if options.phase is not None:
        place = replace(place, track=site.get(_stage_path(options))["track"])
    changes = _stage_settings(site, place, options)
    if not changes:
        raise Failure(WRONG_USAGE, say("what_to_change"))
    return _one_stage(site.change("PATCH", _stage_path(options), changes))


def _stage_settings(site: Site, place: Place, options: Namespace) -> dict[str, Any]:
    found = settings_of(options, *STAGE_SETTINGS)
    if options.phase is not None:
        found["phase"] = managed_phase(site, replace(place, phase=options.phase))["id"]
    if options.announce or options.conceal:
        found["is_announced"] = bool(options.announce)
    return found


def remove_stage(site: Site, options: Namespace) -> Result:
    confirm(options, say("confirm_stage_removal", id=options.id))
    site.change("DELETE", _stage_path(options))
    return Result({"removed": options.id}, say("stage_removed", id=options.id))


# --- tables of scores -------------------------------------------------------------------------------------------------
def list_stage_teams(site: Site, options: Namespace) -> Result:
    """Who is to be scored, in the form in which ``enter_scores`` reads them."""
    found = list(each_of(site.get(_stage_path(options, "teams/"))))
    written = io.StringIO()
    writer = csv.writer(written, delimiter="\t", lineterminator="\n")
    writer.writerow([say("team_number"), say("team"), say("score")])
    writer.writerows((e["team_number"], e["team"], _plain(e["score"])) for e in found)
    return Result({"teams": found}, written.getvalue().rstrip("\n"))


def _plain(score: Any) -> str:
    """The shortest form that reads back as the same number, without an exponent; empty where there is none."""
    text = "" if score is None else repr(float(score))
    return (f"{score:.15f}".rstrip("0") if "e" in text else text).removesuffix(".0").removesuffix(".")


def show_scores(site: Site, options: Namespace) -> Result:
    found = site.get(_stage_path(options, "table/"))
    return Result(found, _scores_text(found))


def _scores_text(found: Any) -> str:
    rows = [(e["team_number"], e["team"], _plain(e["score"])) for e in each_of(found["scores"])]
    verdict = state(f"table_{found['verdict'] or 'pending'}")
    head = f"{say('table_version', number=found['number'])} · {found['entered_by']} · {verdict}"
    text = table([say("number"), say("team"), say("score")], rows, right=[0, 2])
    return f"{head}\n{text}\nseen: {found['sha256']}"


def enter_scores(site: Site, options: Namespace) -> Result:
    """Enter a table, which counts once a second person has confirmed it; with ``--dry-run`` only say what differs."""
    text = _spreadsheet(readable(options.file))
    last = max((each["number"] for each in each_of(site.get(_stage_path(options))["tables"])), default=0)
    changes = list(each_of(site.change("POST", _stage_path(options, "table/preview/"), {"text": text})))
    shown = _changes_text([each for each in changes if each["is_changed"]])
    if options.dry_run:
        return Result({"changes": changes}, f"{shown}\n{say('nothing_done')}")
    note(shown)
    body = {"text": text, "based_on": last, "reason": options.reason}
    made = site.change("POST", _stage_path(options, "table/"), body)
    said = say("scores_entered", number=made["number"], place=options.place, id=options.id)
    return Result(made, said)


def _spreadsheet(path: Path) -> str:
    data = path.read_bytes()
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_wide else SPREADSHEETS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Failure(WRONG_INPUT, say("not_a_table", path=path))


def _changes_text(changes: Any) -> str:
    rows = [(e["team_number"], e["team"], _plain(e["before"]) or "–", _plain(e["after"]) or "–") for e in changes]
    return table([say("number"), say("team"), say("before"), say("after")], rows, right=[0, 2, 3])


def confirm_scores(site: Site, options: Namespace) -> Result:
    """Confirm the table that somebody else entered: that of ``--seen``, or the one that is shown now and agreed to."""
    found = site.get(_stage_path(options, "table/"))
    if not options.seen:
        note(_scores_text(found))
        confirm(options, say("confirm_scores", number=found["number"], entered_by=found["entered_by"]))
    made = site.change("POST", _stage_path(options, "confirm/"), _seen_table(found, options))
    return Result(made, _scores_text(made))


def reject_scores(site: Site, options: Namespace) -> Result:
    body = _seen_table(site.get(_stage_path(options, "table/")), options) | {"reason": options.reason}
    made = site.change("POST", _stage_path(options, "reject/"), body)
    return Result(made, _scores_text(made))


def _seen_table(found: Any, options: Namespace) -> dict[str, Any]:
    return {"number": found["number"], "sha256": options.seen or found["sha256"]}


# --- publication ------------------------------------------------------------------------------------------------------
def publish_stage(site: Site, options: Namespace) -> Result:
    """Show what the result of a stage would be, ask, and publish it."""
    return _published(site, options, _stage_path(options, "result/"), say("confirm_stage", id=options.id))


def publish_standing(site: Site, options: Namespace) -> Result:
    """Show what the combined standing of all stages would be, ask, and publish it."""
    place = with_track(site, place_of(options.place))
    path = place.manage_track("standing/")
    return _published(site, options, path, say("confirm_standing", track=place.name))


def _published(site: Site, options: Namespace, path: str, question: str) -> Result:
    preview = site.get(path)
    text = _result_text(list(each_of(preview["rows"])))
    if options.dry_run:
        return Result(preview, f"{text}\n{say('nothing_done')}")
    note(text)
    confirm(options, question)
    body = {"sha256": preview["sha256"], "note_ko": options.note_ko, "note_en": options.note_en}
    made = site.change("POST", path, body)
    return Result(made, say("result_published", number=made["number"], count=made["rows"], sha256=made["sha256"]))


def _result_text(rows: Any) -> str:
    """Rows of a stage or of the combined standing, as the public chain has them."""
    cells = [
        (e["rank"], e["team"], _plain(e.get("final_score", e.get("score"))), say("goes_on") if e.get("goes_on") else "")
        for e in rows
    ]
    return table([say("rank"), say("team"), say("score"), ""], cells, right=[0, 2])
