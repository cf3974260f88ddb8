"""Files of a competition, fetched whole or not at all: each is checked by its sha256, and a cut one is resumed."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from malpan_client.failing import NOT_ANSWERED, NOT_FOUND, WRONG_INPUT, Failure
from malpan_client.places import place_of, submission_path, with_track
from malpan_client.sending import sha256_of
from malpan_client.showing import Bar, Result, note, size
from malpan_client.site import Patience, Site, each_of
from malpan_client.transport import CutOff, received
from malpan_client.words import reason_of, say

BLOCK = 256 * 1024
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


def download(site: Site, options: Namespace) -> Result:
    """The files of a track, all of them or those named; those that are there already are left alone."""
    place = with_track(site, place_of(options.place))
    found = list(each_of(site.get(place.path())["files"]))
    wanted = [each for each in found if not options.names or {str(each["id"]), each["file_name"]} & {*options.names}]
    unknown = {*options.names} - {name for each in wanted for name in (str(each["id"]), each["file_name"])}
    if unknown:
        raise Failure(NOT_FOUND, say("no_file", name=", ".join(sorted(unknown))))
    done = [_fetch(site, each, options) for each in wanted]
    lines = [f"{each['path']}  {size(each['size'])}  {say('new' if each['is_new'] else 'same')}" for each in done]
    return Result({"files": done}, "\n".join(lines) or say("no_files"))


def download_submission(site: Site, options: Namespace) -> Result:
    """The file of an own submission, or an organiser's: as the team sent it."""
    found = site.get(submission_path(options.id))
    facts = {"file_name": found["file_name"], "file_sha256": found["file_sha256"], "address": found["file"]}
    done = _fetch(site, facts, options)
    return Result({"files": [done]}, done["path"])


def _fetch(site: Site, file: Any, options: Namespace) -> dict[str, Any]:
    path = local_path(Path(options.to), str(file["file_name"]))
    sha256 = str(file["file_sha256"])
    told = {"path": str(path), "sha256": sha256, "is_new": False}
    if path.exists():
        if sha256_of(path) == sha256:
            return {**told, "size": path.stat().st_size}
        if not options.force:
            raise Failure(WRONG_INPUT, say("other_file_there", path=path))
    part = path.with_name(f".{path.name}.{sha256[:12]}.part")
    bar = Bar(path.name, is_shown=not options.json)
    for _time in range(2):  # what there is of before may be damaged
        if not part.exists() or sha256_of(part) != sha256:
            _fetch_rest(site, str(file["address"]), part, bar)
        if sha256_of(part) == sha256:
            os.replace(part, path)
            return {**told, "is_new": True, "size": path.stat().st_size}
        part.unlink()
        note(say("damaged", path=path))
    raise Failure(NOT_ANSWERED, say("damaged_again", path=path))


def _fetch_rest(site: Site, address: str, part: Path, bar: Bar) -> None:
    try:
        fetch(site, address, part, bar, is_resumed=True)
    except Failure as failure:
        if failure.http_status != 416:  # there is more of it here than there should be
            raise


def local_path(folder: Path, name: str) -> Path:
    """Where a file of the server's ``name`` goes: into ``folder``, whatever the name says."""
    plain = re.sub(r'[\x00-\x1f\x7f<>:"|?*]', "_", name.replace("\\", "/").rpartition("/")[2]).lstrip(".")
    if not folder.is_dir():
        raise Failure(WRONG_INPUT, say("no_folder", path=folder))
    return folder / (plain or "file")


def fetch(
    site: Site, path: str, part: Path, bar: Bar, *, method: str = "GET", is_resumed: bool = False, **options: Any
) -> None:
    """Write the answer to ``part``, which ``is_resumed`` where it ends; ``options`` as for ``Site.request``."""

    def rest() -> dict[str, str]:
        there = part.stat().st_size if is_resumed and part.exists() else 0
        return {"Range": f"bytes={there}-"} if there else {}

    def take(answer: HTTPResponse, patience: Patience) -> None:
        found = RANGE.fullmatch(answer.getheader("Content-Range", "")) if answer.status == 206 else None
        try:
            _write_from(int(found[1]) if found else 0, answer, part, patience, bar)
        except OSError as error:
            raise Failure(WRONG_INPUT, say("cannot_write", path=part, reason=reason_of(error))) from error

    site.request(method, path, take, varying=rest, is_elsewhere=True, is_patient=True, **options)


def _write_from(start: int, answer: HTTPResponse, part: Path, patience: Patience, bar: Bar) -> None:
    """Keep the first ``start`` bytes of ``part`` and append the answer. Raises ``CutOff`` where it ends too early."""
    length, done = answer.getheader("Content-Length"), 0
    with part.open("r+b" if start else "wb") as file:
        file.seek(start)
        file.truncate()
        for block in iter(lambda: received(answer, BLOCK), b""):
            file.write(block)
            done += len(block)
            patience.renew()
            if length:
                bar(start + done, start + int(length))
    if length and done < int(length):
        raise CutOff(say("short_answer"))
