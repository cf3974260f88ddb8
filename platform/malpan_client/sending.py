"""Sending a file so that it counts once, whatever happens to the connection; checking one; waiting for a score.

Each upload has a key (``Idempotency-Key``), under which the server accepts it once. The key is made of what is sent, to
where, and how often the team has submitted these very bytes: two processes, or a machine that forgot all, make the same
one. It is also written down before the first byte leaves, and struck out when the server has answered; until then the
same command sends under the same key, also with ``--again``, after which the count would be another one.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from argparse import Namespace
from pathlib import Path
from typing import Any

from malpan_client.failing import DONE, NOT_ANSWERED, NOT_NOW, NOT_SCORED, WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.keeping import begin_upload, end_upload, key_of
from malpan_client.places import Place, place_of, submission_path, with_track
from malpan_client.showing import Bar, Result, moment, note, pairs, state
from malpan_client.site import Site, each_of
from malpan_client.taking_part import limits_text, submission_text, waiting_text
from malpan_client.transport import Body
from malpan_client.watching import watch
from malpan_client.words import language, reason_of, say


def check(site: Site | None, options: Namespace) -> Result:
    """By the server, which knows the ids of the items; with ``--local`` by the package ``scoring`` of this machine,
    which needs no network and knows the form of the file alone, unless it is given the references.
    """
    file = readable(options.file)
    if options.local:
        return _check_here(file, options)
    if site is None or not options.place:
        raise Failure(WRONG_USAGE, say("check_where"))
    return _check_there(site, with_track(site, place_of(options.place)), file, options)


def _check_there(site: Site, place: Place, file: Path, options: Namespace) -> Result:
    if place.phase:
        _current_phase(site, place)
    query = {"file_name": file.name}
    found = site.ask("POST", place.path("check/"), **_upload(file, options), query=query, is_again=True)
    lines = {
        say("file"): f"{found['file_name']}: {say('sound')}",
        say("form"): found["format"],
        say("item_count"): found["item_count"],
        say("normalized"): found["normalized_count"] or None,
        say("warnings"): ", ".join(str(each["code"]) for each in each_of(found["warnings"])) or None,
        say("same_as"): found["same_as"],
    }
    return Result(found, pairs({name: value for name, value in lines.items() if value is not None}))


def _check_here(file: Path, options: Namespace) -> Result:
    try:
        from scoring.cli import main as instrument
    except ImportError as error:
        raise Failure(WRONG_USAGE, say("no_scoring"), hint=say("install_scoring")) from error
    if not options.recipe:
        raise Failure(WRONG_USAGE, say("which_recipe"))
    words = ["check", "--recipe", options.recipe, "--predictions", str(file), "--lang", language()]
    words += ["--references", options.references] if options.references else []
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = instrument(words)
    return Result({"is_sound": status == DONE, "report": said.getvalue()}, said.getvalue().rstrip(), status)


def readable(name: str) -> Path:
    """The file of this name. Raises ``Failure`` where there is none that can be sent."""
    path = Path(name)
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error
    if is_empty:
        raise Failure(WRONG_INPUT, say("empty_file", path=path))
    return path


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _upload(file: Path, options: Namespace) -> dict[str, Any]:
    """The options of a request whose body is ``file``."""
    bar = Bar(file.name, is_shown=not options.json)
    return {
        "body": Body(file, progress=bar),
        "headers": {"Content-Type": "application/octet-stream"},
        "is_patient": True,
    }


# --- submitting -------------------------------------------------------------------------------------------------------
def submit(site: Site, options: Namespace) -> Result:
    """Submit a file, unless the team submitted these very bytes before: then say so, and spend nothing."""
    file, place = readable(options.file), with_track(site, place_of(options.place))
    if options.dry_run:
        return _with_room(site, place, _check_there(site, place, file, options))
    digest = sha256_of(file)
    found, is_new = _submitted(site, place, file, digest, options)
    note(say("accepted" if is_new else "there_already", id=found["id"], moment=moment(found["submitted_at"])))
    if found["file_sha256"] != digest:
        note(say("file_changed"))
    if options.wait:
        found = _wait(site, found, options)
    return Result({"submission": found, "is_new": is_new}, submission_text(found), _status_of(found, options))


def _with_room(site: Site, place: Place, sound: Result) -> Result:
    """What a dry run says of a sound file: also that it could not be submitted now."""
    quota = site.get(place.path("limits/"), phase=place.phase)
    data = {**sound.data, "quota": quota}
    if quota["can_submit"]:
        return Result(data, sound.text)
    return Result(data, f"{sound.text}\n\n{_no_room(quota)}\n{limits_text(quota)}", NOT_NOW)


def _no_room(quota: Any) -> str:
    """Why nothing can be submitted now: no slot is left, or the interval between two is not over."""
    if 0 in (quota["left_today"], quota["left_total"]) or not quota.get("min_interval_seconds"):
        return say("no_slot")
    return say("too_soon", seconds=quota["min_interval_seconds"])


def _submitted(site: Site, place: Place, file: Path, digest: str, options: Namespace) -> tuple[Any, bool]:
    """The submission of the file, and whether it was made now."""
    upload = f"{site.address}/{place.path()}#{digest}"
    begun = key_of(upload)
    if begun:
        note(say("going_on"))
        return _sent(site, place, file, upload, begun, options)
    phase, history = _current_phase(site, place), site.pages(place.path("submissions/"), "history")
    before = [each for each in each_of(history["history"]) if each.get("file_sha256") == digest]
    standing = next((each for each in before if not (each["is_withdrawn"] or each["is_refunded"])), None)
    if standing and not options.again:
        return site.get(submission_path(standing["id"])), False
    _require_room(phase, history)
    made_of = f"{place.path()}{phase['slug']}#{digest}#{len(before)}"
    return _sent(site, place, file, upload, hashlib.sha256(made_of.encode()).hexdigest()[:32], options)


def _current_phase(site: Site, place: Place) -> Any:
    """The phase of the track that files go to. Raises ``Failure`` where another one is named, or one that is not."""
    phase = site.get(place.path())["phase"]
    now = "–" if phase is None else str(phase["slug"])
    if place.phase not in ("", now):
        site.get(place.path("limits/"), phase=place.phase)  # which is refused where there is no such phase
        raise Failure(NOT_NOW, say("other_phase", phase=place.phase, now=now))
    return phase


def _require_room(phase: Any, history: Any) -> None:
    """Raises ``Failure`` before a byte is sent that the server would refuse."""
    if phase is None or not phase["is_open"]:
        times = say("no_phase_now") if phase is None else f"{moment(phase['starts_at'])} – {moment(phase['ends_at'])}"
        raise Failure(NOT_NOW, say("closed", times=times), problem={"code": "phase_not_open"})
    quota = history["quota"]
    if not quota["can_submit"]:
        problem = {"code": "quota_exceeded", "next_allowed_at": quota["next_allowed_at"]}
        raise Failure(NOT_NOW, f"{_no_room(quota)}\n{limits_text(quota)}", problem=problem)


def _sent(site: Site, place: Place, file: Path, upload: str, key: str, options: Namespace) -> tuple[Any, bool]:
    """The submission, and whether this request made it. The key stays written down while nobody knows."""
    request = _upload(file, options)
    request["headers"]["Idempotency-Key"] = key
    try:
        begin_upload(upload, key)
    except Failure as failure:  # a container without a home: the next one makes the same key
        note(failure.text)
    try:
        query = {"file_name": file.name, "memo": options.memo}
        found = site.ask("POST", place.path("submissions/"), **request, query=query, is_again=True)
    except Failure as failure:
        if failure.code == "duplicate_upload":
            end_upload(upload)
            return site.get(submission_path(str(failure.problem["submission"]))), False
        if failure.status == NOT_ANSWERED:
            failure.hint = say("maybe_accepted")
        else:
            end_upload(upload)
        raise
    except KeyboardInterrupt:
        note(say("maybe_accepted"))
        raise
    end_upload(upload)
    return found, True


def _wait(site: Site, found: Any, options: Namespace) -> Any:
    """The submission when it is scored or has failed, or as it is after ``--wait-limit``."""
    return watch(
        site,
        found,
        submission_path(found["id"]),
        is_over=_is_over,
        line=_progress_line,
        seconds=options.wait_limit,
        hint=say("follow", id=found["id"]),
    )


def _is_over(found: Any) -> bool:
    return found["run"] is not None and found["run"]["state"] in ("finished", "failed")


def _progress_line(found: Any) -> str:
    run = found["run"] or {"state": "queued"}
    return state(run["state"]) + waiting_text(found)


def _status_of(found: Any, options: Namespace) -> int:
    if found["run"] and found["run"]["state"] == "failed":
        return NOT_ANSWERED
    return NOT_SCORED if options.wait and not _is_over(found) else DONE
