"""The file of a contest: what stands in it, and how a contest of the site is written as one.

JSON, or TOML where Python has a reader for it (3.11). A text may be in a file of its own beside it:
``description_ko_file = "description.md"``. TOML has no null: ``"none"`` takes its place (``daily_limit = "none"``).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from malpan_client.failing import WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.words import reason_of, say

FILE = "_file"  # at the end of the name of a text that is in a file
NONE = "none"
MAY_BE_NONE = frozenset(
    {"daily_limit", "total_limit", "frozen_at", "public_percent", "finals_limit", "score_step", "personal_data_months"}
)
MADE_BY_THE_SITE = frozenset(  # of the settings, what nobody sets in a file
    {"id", "track", "terms_version", "is_published", "final_published_at", "items", "public_items", "references"}
)


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a file; ``field`` may be empty: then it is the whole of the ``place``."""

    place: str
    field: str
    message: str


def read_contest(name: str, faults: list[Fault]) -> dict[str, Any]:
    """The contest of a file; its texts and files are looked up beside it. Raises ``Failure`` for one that cannot be
    read; what is wrong in one that can is added to ``faults``.
    """
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error
    found = _from_toml(text, path) if path.suffix.lower() == ".toml" else _from_json(text, path)
    if not isinstance(found, dict) or not isinstance(found.get("slug"), str):
        raise Failure(WRONG_INPUT, say("no_contest", path=path))
    contest = dict(_filled(found, path.parent, "", faults))
    _require_lists(contest)
    faults += _faults_of_files(contest)
    return contest


def _from_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error


def _from_toml(text: str, path: Path) -> Any:
    try:
        import tomllib
    except ImportError as error:
        raise Failure(WRONG_USAGE, say("no_toml")) from error
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error


def _filled(table: Mapping[str, Any], folder: Path, where: str, faults: list[Fault]) -> Iterator[tuple[str, Any]]:
    """The entries of a table as the API takes them: texts of files, times and ``NONE`` in the form of JSON."""
    for name, value in table.items():
        place = f"{where}.{name}" if where else name
        if name.endswith(FILE) and isinstance(value, str):
            try:
                yield name[: -len(FILE)], _text_of(folder / value)
            except Failure as failure:
                faults.append(Fault(where, name, failure.text))
        elif value == NONE and name in MAY_BE_NONE:
            yield name, None
        else:
            yield name, _value(value, folder, place, faults)


def _value(value: Any, folder: Path, place: str, faults: list[Fault]) -> Any:
    if isinstance(value, Mapping):
        return dict(_filled(value, folder, place, faults))
    if isinstance(value, list):
        return [_value(each, folder, f"{place}[{number}]", faults) for number, each in enumerate(value, start=1)]
    if isinstance(value, date):  # or a datetime: of one without a zone the site says so, as of one that is a text
        return value.isoformat()
    return value


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").rstrip()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error


def _require_lists(contest: Mapping[str, Any]) -> None:
    """Tracks, their phases, targets and files are lists of tables; all but targets have names of their own."""
    for track in tables_of(contest, "tracks", ""):
        where = f"tracks.{track.get('slug', '?')}"
        for name in ("phases", "targets"):
            tables_of(track, name, where)
        tables_of(track, "files", where)
    for tracks in (contest.get("tracks", []), *(each.get("phases", []) for each in contest.get("tracks", []))):
        names = [each.get("slug") for each in tracks]
        if None in names or len({*names}) < len(names):
            raise Failure(WRONG_INPUT, say("own_names"))


def _faults_of_files(contest: Mapping[str, Any]) -> Iterator[Fault]:
    """Those of the files for download, of which nothing is asked while a file has faults."""
    for track in contest.get("tracks", []):
        place, files = f"{track['slug']}/files", track.get("files", [])
        if not all(isinstance(each.get("path"), str) and each.get("title_ko") for each in files):
            yield Fault(place, "", say("file_needs"))
        elif len({Path(each["path"]).name for each in files}) < len(files):
            yield Fault(place, "", say("file_names"))


def tables_of(table: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Failure(WRONG_INPUT, say("no_tables", place=f"{where}.{name}" if where else name))
    return found


# --- a contest of the site as a file ----------------------------------------------------------------------------------
def as_contest(settings: Mapping[str, Any], files: Mapping[str, list[Any]]) -> dict[str, Any]:
    """What ``read_contest`` gives for a file that describes the contest. ``files``: those of each track."""
    contest = _settable(settings, "tracks")
    contest["tracks"] = [
        {
            **_settable(track, "targets", "phases"),
            "targets": [_settable(each) for each in track["targets"]],
            "files": [_file(each) for each in files[track["slug"]]],
            "phases": [_settable(phase) for phase in track["phases"]],
        }
        for track in settings["tracks"]
    ]
    return contest


def _file(found: Mapping[str, Any]) -> dict[str, Any]:
    file = {"path": found["file_name"], **{name: found[name] for name in ("kind", "title_ko", "title_en")}}
    if file["title_en"] == file["title_ko"]:
        del file["title_en"]
    return file


def _settable(found: Mapping[str, Any], *parts: str) -> dict[str, Any]:
    return {
        name: value
        for name, value in found.items()
        if name not in MADE_BY_THE_SITE and name not in parts and value is not None and value not in ("", [])
    }


def as_toml(table: Mapping[str, Any], head: str = "") -> str:
    """A contest as TOML: values first, then the tables of each list."""
    lines = [f"{name} = {_toml_value(value)}" for name, value in table.items() if not _is_tables(value)]
    for name, value in table.items():
        if _is_tables(value):
            for each in value:
                lines += ["", f"[[{head}{name}]]", as_toml(each, f"{head}{name}.")]
    return "\n".join(lines)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(each) for each in value)}]"
    text = str(value)
    if "\n" in text:
        return '"""\n' + "".join("\n" if each == "\n" else _escaped(each) for each in text) + '"""'
    return f'"{"".join(_escaped(each) for each in text)}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
        return f"\\U{ord(character):08x}"
    return character
