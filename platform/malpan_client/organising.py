"""What organisers do: settings from a file, references, rescoring, publishing, the archive."""

from __future__ import annotations

import getpass
import os
import sys
from argparse import Namespace
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from malpan_client.contest_bringing import Bringing, files_of
from malpan_client.contest_file import Fault, as_contest, as_toml, read_contest
from malpan_client.downloading import fetch
from malpan_client.failing import DONE, NOT_ALLOWED, NOT_FOUND, NOT_NOW, WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.places import Place, managed_phase, place_of
from malpan_client.sending import readable
from malpan_client.showing import Bar, Result, moment, moment_of, note, size, state, table
from malpan_client.site import Site, each_of, json_body
from malpan_client.taking_part import confirm, final_table
from malpan_client.uploading import form_of
from malpan_client.words import say


# --- settings ---------------------------------------------------------------------------------------------------------
def create(site: Site, options: Namespace) -> Result:
    """Make what a file describes, or bring what is there to it."""
    return _brought(site, options, may_create=True)


def update_settings(site: Site, options: Namespace) -> Result:
    """Bring a competition that is there to what a file says."""
    return _brought(site, options, may_create=False)


def _brought(site: Site, options: Namespace, *, may_create: bool) -> Result:
    faults: list[Fault] = []
    contest, folder = read_contest(options.file, faults), Path(options.file).parent
    is_dry = options.dry_run
    bringing = Bringing(
        site, contest, folder, is_dry=is_dry, may_create=may_create, shows_bars=not options.json, faults=faults
    )
    try:
        steps = bringing.bring()
    except Failure as failure:
        for each in [] if is_dry else bringing.steps:
            note(each.as_text())
        if failure.status not in (NOT_ALLOWED, NOT_FOUND):
            failure.hint = failure.hint or say("bring_again")
        raise
    data = {"competition": contest["slug"], "is_dry_run": is_dry, "steps": [asdict(each) for each in steps]}
    lines = [each.as_text() for each in steps] or [say("nothing_differs")]
    return Result(data, "\n".join([*lines, say("nothing_done")] if is_dry and steps else lines))


def get_settings(site: Site, options: Namespace) -> Result:
    """The contest as a file that ``create`` reads; references never leave the site."""
    place = Place(place_of(options.place).competition)
    settings = site.get(place.manage("settings/"))
    files = {each["slug"]: files_of(site, Place(place.competition, each["slug"])) for each in settings["tracks"]}
    contest = as_contest(settings, files)
    return Result(contest, as_toml(contest))


# --- references -------------------------------------------------------------------------------------------------------
def list_references(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    phases = {each["id"]: f"{each['track']}/{each['slug']}" for each in each_of(site.get(place.manage("phases/")))}
    found = list(each_of(site.get(place.manage("references/"))))
    rows = [
        (e["id"], phases.get(e["phase"], e["phase"]), e["number"], state(e["state"]), e["item_count"],
         moment(e["published_at"] or e["created_at"]), e["note"])
        for e in found
    ]  # fmt: skip
    heads = ["id", say("phase"), say("version"), say("state"), say("item_count"), say("when"), say("note")]
    return Result({"references": found}, table(heads, rows, right=[0, 2, 4]))


def upload_references(site: Site, options: Namespace) -> Result:
    """As a draft, which changes nothing; or with ``--publish`` at once, where nothing was submitted yet."""
    place = place_of(options.place)
    phase = managed_phase(site, place)
    file = readable(options.file)
    more = {"frames": options.frames, "synonyms": options.synonyms}
    parts = {"file": file, **{name: readable(path) for name, path in more.items() if path}}
    texts = {"note": options.note, "erratum_ko": options.erratum_ko, "erratum_en": options.erratum_en}
    texts |= {"built_in_synonyms": "true"} if options.built_in_synonyms else {}
    form = form_of({k: v for k, v in texts.items() if v}, parts, Bar(file.name, is_shown=not options.json))
    path = place.manage(f"phases/{phase['id']}/references/")
    made = site.ask("POST", path if options.publish else f"{path}drafts/", **form)
    lines = [say("references_in" if options.publish else "draft_in", id=made["id"], count=made["item_count"])]
    return Result(made, "\n".join([*lines, *(f"- {each}" for each in made["warnings"])]))


def publish_references(site: Site, options: Namespace) -> Result:
    made = site.change("POST", place_of(options.place).manage(f"references/{options.id}/publish/"))
    return Result(made, say("references_in", id=made["id"], count=made["item_count"]))


def discard_references(site: Site, options: Namespace) -> Result:
    site.change("DELETE", place_of(options.place).manage(f"references/{options.id}/"))
    return Result({"discarded": options.id}, say("draft_gone", id=options.id))


def diff_references(site: Site, options: Namespace) -> Result:
    found = site.get(place_of(options.place).manage(f"references/{options.id}/diff/"))
    lines = [
        f"{mark} {each['id']}: {' | '.join(each['old']) or '–'} → {' | '.join(each['new']) or '–'}"
        for mark, name in (("~", "changed"), ("+", "added"), ("-", "removed"))
        for each in each_of(found[name])
    ]
    return Result(found, "\n".join([*lines, say("unchanged", count=found["unchanged_count"])]))


# --- publishing -------------------------------------------------------------------------------------------------------
def publish_contest(site: Site, options: Namespace) -> Result:
    """Show the competition to everybody; what is missing is listed."""
    place = place_of(options.place)
    try:
        made = site.change("POST", place.manage("publish/"), {"accepts_gaps": options.accept_gaps})
    except Failure as failure:
        if failure.code == "competition_not_ready":
            listed = site.get(place.manage("checklist/"))
            gaps = [str(each["text"]) for each in each_of(listed["items"]) if each["state"] == "missing"]
            failure.text = "\n".join([failure.text, *(f"- {each}" for each in gaps)])
            failure.problem["gaps"] = gaps
            failure.hint = say("accept_gaps")
        raise
    return Result(
        made, say("contest_open", name=made["title_ko"], address=f"{site.address}/competitions/{made['slug']}/")
    )


def publish_board(site: Site, options: Namespace) -> Result:
    """Show what the final board would be, ask, and publish it."""
    place = place_of(options.place)
    phase = managed_phase(site, place)
    path = place.manage(f"phases/{phase['id']}/final-board/")
    preview = site.get(path)
    rows = list(each_of(preview["rows"]))
    text = final_table(site, Place(place.competition, phase["track"]), rows)
    if options.dry_run:
        reason = _why_not_yet(phase, preview)
        said = "\n".join(filter(None, (text, reason, say("nothing_done"))))
        return Result(preview, said, NOT_NOW if reason else DONE)
    note(text)
    confirm(options, say("confirm_board", phase=phase["slug"], count=len(rows)))
    body = {"confirm": phase["slug"], "note_ko": options.note_ko, "note_en": options.note_en}
    made = site.change("POST", path, body)
    return Result(made, say("board_published", number=made["snapshot"], count=made["rows"], sha256=made["sha256"]))


def _why_not_yet(phase: Any, preview: Any) -> str:
    """Why the board could not be published now; empty where it could."""
    if moment_of(phase["ends_at"]) > datetime.now(timezone.utc):
        return say("not_over", moment=moment(phase["ends_at"]))
    return say("not_scored", count=preview["unfinished"]) if preview["unfinished"] else ""


def close(site: Site, options: Namespace) -> Result:
    place = place_of(options.place)
    phase = managed_phase(site, place)
    confirm(options, say("confirm_close", phase=phase["slug"]))
    made = site.change("POST", place.manage(f"phases/{phase['id']}/close/"))
    return Result(made, say("closed_now", phase=made["slug"], moment=moment(made["ends_at"])))


def export(site: Site, options: Namespace) -> Result:
    """The archive of the competition; with ``--encrypt`` its references as well, under a passphrase."""
    place = place_of(options.place)
    target = Path(options.to or f"{place.competition}.zip")
    if target.exists() and not options.force:
        raise Failure(WRONG_INPUT, say("other_file_there", path=target))
    body = {"passphrase": _passphrase() if options.encrypt else ""}
    part = target.with_name(f".{target.name}.part")
    bar = Bar(target.name, is_shown=not options.json)
    try:
        fetch(site, place.manage("export/"), part, bar, method="POST", **json_body(body))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)  # each archive is made anew: there is nothing to resume
        raise
    data = {"path": str(target), "size": target.stat().st_size, "has_references": options.encrypt}
    return Result(data, f"{target}  {size(data['size'])}")


def _passphrase() -> str:
    """Of the environment or asked for: on the command line other people of the machine would see it."""
    found = os.environ.get("MALPAN_PASSPHRASE", "")
    if not found and sys.stdin.isatty():
        found = getpass.getpass(say("passphrase_prompt"))
    if not found:
        raise Failure(WRONG_USAGE, say("no_passphrase"))
    return found
