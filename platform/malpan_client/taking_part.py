"""What participants read and decide: contests, boards, limits, results, the final choice, a withdrawal, the team."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from malpan_client.failing import WRONG_USAGE, Failure
from malpan_client.keeping import forget_token, keep_token, sound_token
from malpan_client.places import Place, place_of, submission_path, with_track
from malpan_client.showing import Result, limit, moment, pairs, size, state, table
from malpan_client.site import Site, each_of
from malpan_client.words import has, say

ROWS = 20  # of a board, unless all are asked for


def confirm(options: Namespace, question: str) -> None:
    """Raises ``Failure`` unless ``--yes`` or the person at the terminal says so."""
    if options.yes:
        return
    if not sys.stdin.isatty():
        raise Failure(WRONG_USAGE, say("say_yes", question=question))
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes", "네", "예"):
        raise Failure(WRONG_USAGE, say("not_confirmed"))


# --- the token --------------------------------------------------------------------------------------------------------
def login(site: Site, options: Namespace) -> Result:
    """The token is asked for without echo, or read from the standard input: never from the command line, which other
    people of the machine see.
    """
    if sys.stdin.isatty():
        sys.stderr.write(say("make_token", address=f"{site.address}/tokens/") + "\n")
        typed = getpass.getpass(say("token_prompt"))
    else:
        typed = sys.stdin.readline()
    token = sound_token(typed)
    me = Site(site.address, token, is_insecure=options.insecure, max_wait=site.max_wait, note=site.note).get("whoami/")
    keep_token(site.address, token)
    return Result(me, say("logged_in", name=me["name"], site=site.address))


def logout(site: Site, options: Namespace) -> Result:
    was_there = forget_token(site.address)
    text = say("logged_out" if was_there else "not_logged_in", site=site.address)
    return Result({"site": site.address, "was_logged_in": was_there}, text)


def whoami(site: Site, options: Namespace) -> Result:
    me = site.get("whoami/")
    token = me["token"]
    lines = {
        say("name"): f"{me['name']} <{me['email']}>",
        say("site"): site.address,
        say("token"): f"{token['label']} ({token['prefix']}…), {', '.join(token['scopes'])}",
        say("expires"): moment(token["expires_at"]) if token["expires_at"] else say("never"),
        say("teams"): ", ".join(f"{each['competition']}: {each['team']}" for each in each_of(me["teams"])) or None,
        say("roles"): ", ".join(f"{each['competition']}: {_role(each['role'])}" for each in each_of(me["roles"]))
        or None,
    }
    return Result(me, pairs(lines))


# --- competitions and files -------------------------------------------------------------------------------------------
def competitions(site: Site, options: Namespace) -> Result:
    if options.place:
        return _competition(site, place_of(options.place))
    found = site.pages("competitions/", "past")
    rows = [
        (each["slug"], each["title"], say(when), each["organiser"])
        for when in ("running", "upcoming", "past")
        for each in each_of(found[when])
    ]
    return Result(found, table([say("competition"), say("title"), say("when"), say("organiser")], rows))


def _competition(site: Site, place: Place) -> Result:
    found = site.get(Place(place.competition).path())
    rows = [_phase_row(each) for each in each_of(found["tracks"])]
    heads = [say("track"), say("title"), say("recipe"), say("phase"), say("starts"), say("ends")]
    return Result(found, f"{found['title']}\n{found['summary']}\n\n{table(heads, rows)}")


def _phase_row(track: Any) -> tuple[str | None, ...]:
    phase = track["phase"]
    times = (
        (None, None, None) if phase is None else (phase["slug"], moment(phase["starts_at"]), moment(phase["ends_at"]))
    )
    return (track["slug"], track["title"], track["recipe"], *times)


def files(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    found = site.get(place.path())["files"]
    rows = [
        (each["id"], each["file_name"], _kind(each["kind"]), size(each["file_size"]), each["title"])
        for each in each_of(found)
    ]
    text = table(["id", say("file"), say("kind"), say("size"), say("title")], rows, right=[0, 3])
    return Result({"files": found}, text if rows else say("no_files"))


def _kind(name: str) -> str:
    """What kind of file it is, in words; one that is not known stays as it is."""
    return say(f"kind_{name}") if has(f"kind_{name}") else name


def _role(name: str) -> str:
    """Likewise a role of a team or of a competition."""
    return say(f"role_{name}") if has(f"role_{name}") else name


# --- the team and the terms -------------------------------------------------------------------------------------------
def team(site: Site, options: Namespace) -> Result:
    path = Place(place_of(options.place).competition).path("team/")
    found = site.change("POST", path, {"name": options.create}) if options.create else site.get(path)
    own = found["team"]
    if own is None:
        return Result(found, say("no_team", name=options.place))
    rows = [(each["name"], _role(each["role"]), moment(each["joined_at"])) for each in each_of(own["members"])]
    return Result(found, f"{own['name']}\n{table([say('name'), say('role'), say('joined')], rows)}")


def terms(site: Site, options: Namespace) -> Result:
    path = Place(place_of(options.place).competition).path("terms/")
    found = site.get(path)
    if not found["version"]:
        return Result(found, say("no_terms"))
    if options.accept is not None:
        found = site.change("POST", path, {"version": options.accept})
    said = say("terms_accepted", moment=moment(found["accepted_at"])) if found["accepted_at"] else say("terms_open")
    return Result(found, f"{found['text']}\n\n{say('version')} {found['version']} · {said}")


# --- limits, submissions and boards -----------------------------------------------------------------------------------
def limits(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    found = site.get(place.path("limits/"), phase=place.phase)
    return Result(found, limits_text(found))


def limits_text(found: Any) -> str:
    lines = {
        say("left_today"): f"{limit(found['left_today'])} / {limit(found['daily_limit'])}",
        say("left_total"): f"{limit(found['left_total'])} / {limit(found['total_limit'])}",
        say("next_time"): say("now") if found["can_submit"] else moment(found["next_allowed_at"]),
    }
    return pairs(lines)


def submissions(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    found = site.pages(place.path("submissions/"), "history", phase=place.phase)
    rows = [_history_row(each) for each in each_of(found["history"])]
    heads = [say("submission"), say("file"), say("submitted"), say("state"), say("score"), say("memo")]
    text = table(heads, rows, right=[4]) if rows else say("no_submissions")
    return Result(found, f"{text}\n\n{limits_text(found['quota'])}")


def _history_row(entry: Any) -> tuple[str | None, ...]:
    when = moment(entry["submitted_at"])
    if entry["kind"] == "rejection":
        return "–", entry["file_name"], when, say("rejected", count=entry["total"]), None, None
    marks = [say(name) for name in ("is_withdrawn", "is_refunded", "is_final_choice") if entry[name]]
    run = entry["run"]
    stands = state(run["state"]) if run else None
    return entry["id"], entry["file_name"], when, " · ".join([str(stands), *marks]), final_text(run), entry["memo"]


def final_text(run: Any) -> str | None:
    """The final score as the page writes it."""
    for each in (run or {}).get("shown") or []:
        if each["key"] == "final_score":
            return str(each["text"])
    return say("score_hidden") if run and run.get("is_score_hidden") else None


def submission(site: Site, options: Namespace) -> Result:
    found = site.get(submission_path(options.id))
    return Result(found, submission_text(found))


def submission_text(found: Any) -> str:
    run = found["run"] or {"state": None}
    lines = {
        say("submission"): found["id"],
        say("place"): f"{found['competition']}/{found['track']}/{found['phase']} · {found['team']}",
        say("file"): f"{found['file_name']} ({say('items', count=found['item_count'])})",
        say("submitted"): moment(found["submitted_at"]),
        say("state"): state(run["state"]) + waiting_text(found),
    }
    if run.get("error"):
        lines[say("reason")] = run["error"]["message"]
    if run.get("is_score_hidden"):
        lines[say("score")] = say("score_hidden")
    text = pairs(lines)
    if run.get("shown"):
        text += "\n\n" + table(
            [say("metric"), say("score")], [(e["label"], e["text"]) for e in run["shown"]], right=[1]
        )
    return text + (f"\n{say('demo_models')}" if run.get("is_demo_models") else "")


def waiting_text(found: Any) -> str:
    """How many are before it, and when it may be scored."""
    parts = []
    if found["waiting_before"] is not None:
        parts.append(say("waiting_before", count=found["waiting_before"]))
    if found["estimated_finish_at"]:
        parts.append(say("estimated", moment=moment(found["estimated_finish_at"])))
    return f" ({', '.join(parts)})" if parts else ""


def board(site: Site, options: Namespace) -> Result:
    place = with_track(site, place_of(options.place))
    path, phase = place.path("board/"), place.phase
    found = site.pages(path, "rows", "final.rows", phase=phase) if options.all else site.get(path, phase=phase)
    final = found["final"]
    rows = list(each_of((final or found)["rows"]))[: None if options.all else ROWS]
    if final:
        text = f"{say('final_board', moment=moment(final['published_at']))}\n{final_table(site, place, rows)}"
    elif found["is_hidden"]:
        text = say("board_hidden")
    else:
        text = _public_table(found["columns"], rows) if rows else say("board_empty")
    left = (final or found)["row_count"] - len(rows)
    return Result(found, text + (f"\n{say('more_rows', count=left)}" if rows and left > 0 else ""))


def _public_table(columns: Any, rows: Sequence[Any]) -> str:
    shown = [each for each in each_of(columns) if any(each["key"] in row["shown"] for row in rows)]
    cells = [
        [
            row["rank"],
            row["team"] + (" *" if row["is_own"] else "") + (f" [{say('program')}]" if row.get("is_program") else ""),
            *(row["shown"].get(column["key"]) for column in shown),
            row["submission_count"],
        ]
        for row in rows
    ]
    heads = [say("rank"), say("team"), *(column["label"] for column in shown), say("submission_count")]
    return table(heads, cells, right=[0, *range(2, len(heads))])


def final_table(site: Site, place: Place, rows: Sequence[Any]) -> str:
    """Rows of a final board: without texts, as the public chain has them."""
    track = site.get(place.path())
    scale, decimals = track["score_scale"], track["score_decimals"]
    cells = [
        (row["rank"], row["team"], f"{row['final_score'] * scale:.{decimals}f}", row["public_rank"]) for row in rows
    ]
    return table([say("rank"), say("team"), say("score"), say("public_rank")], cells, right=[0, 2, 3])


def final(site: Site, options: Namespace) -> Result:
    """Choose the submissions that count, or show which do."""
    place = with_track(site, place_of(options.place))
    if options.ids or options.none:
        chosen = site.change("PUT", place.path("finals/"), {"chosen": options.ids}, phase=place.phase)
    else:
        history = site.pages(place.path("submissions/"), "history", phase=place.phase)["history"]
        chosen = [each for each in each_of(history) if each["kind"] == "submission" and each["is_final_choice"]]
    rows = [(e["id"], e["file_name"], moment(e["submitted_at"]), final_text(e["run"])) for e in each_of(chosen)]
    heads = [say("submission"), say("file"), say("submitted"), say("score")]
    return Result({"chosen": chosen}, table(heads, rows, right=[3]) if rows else say("none_chosen"))


def withdraw(site: Site, options: Namespace) -> Result:
    confirm(options, say("confirm_withdraw", id=options.id))
    found = site.change("POST", submission_path(options.id, "withdraw/"))
    return Result(found, say("withdrawn", id=found["id"]))
