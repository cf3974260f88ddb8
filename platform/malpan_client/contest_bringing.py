"""Brings a competition of the site to what its file says, and says what differed.

Nothing is removed that the file does not name, and nothing done twice: what is as the file has it is left alone, so the
same file may be brought again at any time. What a file must not contain says the server's own document (OpenAPI).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from malpan_client.contest_file import MAY_BE_NONE, Fault, tables_of
from malpan_client.contest_rehearsing import Asked, rehearse
from malpan_client.failing import NOT_FOUND, WRONG_INPUT, Failure
from malpan_client.places import Place
from malpan_client.sending import sha256_of
from malpan_client.showing import Bar, moment_of
from malpan_client.site import Site, each_of
from malpan_client.uploading import form_of
from malpan_client.words import LANGUAGES, say

PARTS = frozenset(
    {"tracks", "phases", "targets", "files", "references", "frames", "synonyms", "erratum_ko", "erratum_en"}
)
SUMS = {"file": "file_sha256", "frames": "media_sha256", "synonyms": "synonyms_sha256"}  # of what is uploaded together
SECRET = ("references", "frames", "synonyms")  # the files of a phase
WITH_TERMS = "renews_terms"  # says how new terms are meant; is no setting of its own


@dataclass
class Step:
    """Something that differed: ``kind`` is created, updated, uploaded, drafted, removed or kept; ``fields`` has the
    value before and the one that the file has.
    """

    kind: str
    place: str
    fields: dict[str, list[Any]] = field(default_factory=dict)
    note: str = ""

    def as_text(self) -> str:
        lines = [f"{say(f'step_{self.kind}')}  {self.place}" + (f": {self.note}" if self.note else "")]
        for name, (before, after) in self.fields.items():
            lines.append(f"    {name}: {_short(before)} → {_short(after)}")
        return "\n".join(lines)


class Bringing:
    """One file and one site. ``is_dry``: only says what differs. ``may_create``: else the competition must be there."""

    def __init__(
        self,
        site: Site,
        contest: Mapping[str, Any],
        folder: Path,
        *,
        is_dry: bool,
        may_create: bool,
        shows_bars: bool = False,
        faults: Sequence[Fault] = (),
    ) -> None:
        self.site = site
        self.contest = contest
        self.folder = folder
        self.is_dry = is_dry
        self.may_create = may_create
        self.shows_bars = shows_bars
        self.place = Place(str(contest["slug"]))
        self.steps: list[Step] = []
        self.asked: list[Asked] = []  # of a dry run
        self.faults = [*faults]  # of the file, which a dry run tells with what the site would refuse
        self._schemas = site.get("openapi.json")["components"]["schemas"]

    def bring(self) -> list[Step]:
        """What differed. Raises ``Failure``: of a file that the site would refuse nothing is begun."""
        if self.is_dry:
            self._look_through()
        else:
            replaced = Bringing(
                self.site, self.contest, self.folder, is_dry=True, may_create=self.may_create, faults=self.faults
            )
            replaced.bring()
        there = self._competition()
        for track in tables_of(self.contest, "tracks", ""):
            self._track(track, _named(there["tracks"], track["slug"]) if there else None)
        for track in there["tracks"] if there and "tracks" in self.contest else []:
            if not _named(self.contest["tracks"], track["slug"]):
                self.steps.append(Step("kept", track["slug"], note=say("only_on_site")))
        if self.is_dry:
            rehearse(self.site, self.place, self.asked, self.faults)
        return self.steps

    # --- what is wrong with the file itself ---------------------------------------------------------------------------
    def _look_through(self) -> None:
        """Add what is misspelled, and files that are not there or would tell the answers, to the faults; go on without
        them, to hear what else the site would refuse.
        """
        contest = self._known(self.contest, "Texts", str(self.contest["slug"]))
        tracks = tables_of(self.contest, "tracks", "")
        secret = {sha256_of(path) for track in tracks for path in self._secret_files(track)}
        if "tracks" in contest:
            contest["tracks"] = [self._known_track(track, secret) for track in tracks]
        self.contest = contest

    def _known_track(self, track: Mapping[str, Any], secret: Collection[str]) -> dict[str, Any]:
        name = str(track["slug"])
        found = self._known(track, "NewTrack", name)
        for part, schema in (("phases", "NewPhase"), ("targets", "Target")):
            if part in track:
                found[part] = [
                    self._known(each, schema, f"{name}/{each['slug'] if part == 'phases' else part}")
                    for each in track[part]
                ]
        for phase in found.get("phases", []):
            gone = [key for key in SECRET if key in phase and not self._is_there(phase, key, f"{name}/{phase['slug']}")]
            for key in gone and [key for key in SECRET if key in phase]:
                del phase[key]
        if "files" in track:
            found["files"] = [each for each in track["files"] if self._may_be_public(each, f"{name}/files", secret)]
        return found

    def _known(self, table: Mapping[str, Any], schema: str, place: str) -> dict[str, Any]:
        """``table`` without what is misspelled in it."""
        known = self._schemas[schema]["properties"]
        wrong = [name for name in table if name not in known and name not in PARTS]
        if wrong:
            text = say("unknown_names", names=", ".join(wrong), known=", ".join(known))
            self.faults.append(Fault(place, "", text))
        return {name: value for name, value in table.items() if name not in wrong}

    def _is_there(self, table: Mapping[str, Any], key: str, place: str) -> bool:
        try:
            self._file(table, key)
        except Failure as failure:
            self.faults.append(Fault(place, key, failure.text))
            return False
        return True

    def _secret_files(self, track: Mapping[str, Any]) -> Iterator[Path]:
        for phase in tables_of(track, "phases", str(track["slug"])):
            for key in SECRET:
                path = self.folder / str(phase.get(key, ""))
                if key in phase and path.is_file():
                    yield path

    def _may_be_public(self, file: Mapping[str, Any], place: str, secret: Collection[str]) -> bool:
        if "path" not in file or not self._is_there(file, "path", place):
            return False
        path = self._file(file, "path")
        if sha256_of(path) in secret:
            self.faults.append(Fault(place, "path", say("would_leak", path=path)))
            return False
        return True

    # --- the competition and its tracks -------------------------------------------------------------------------------
    def _competition(self) -> Any:
        """Its settings as the site has them now; ``None`` where there is none and nothing is done."""
        wanted = {name: value for name, value in self.contest.items() if name not in PARTS}
        try:
            there = self.site.get(self.place.manage("settings/"))
        except Failure as failure:
            if failure.status != NOT_FOUND or not self.may_create:
                raise
            first: dict[str, Any] = {name: wanted[name] for name in ("slug", "title_ko", "title_en") if name in wanted}
            there = self._created(self.place.name, "competitions/", first, Asked("createCompetition"))
            if there is None:
                rest = {name: value for name, value in wanted.items() if name not in first and value is not None}
                self.asked += [Asked("updateSettings", values=rest)] if rest else []
                return None
        return self._updated(self.place.name, self.place.manage("settings/"), wanted, there, Asked("updateSettings"))

    def _track(self, track: Mapping[str, Any], there: Any) -> None:
        wanted = {name: value for name, value in track.items() if name not in PARTS}
        name, path = str(track["slug"]), self.place.manage(f"tracks/{track['slug']}/")
        if there is None:
            there = self._created(name, self.place.manage("tracks/"), wanted, Asked("createTrack", name))
        else:
            there = self._updated(name, path, wanted, there, Asked("updateTrack", name))
        if "targets" in track:
            self._targets(track, there, f"{path}targets/")
        for phase in tables_of(track, "phases", name):
            found = _named(there["phases"], phase["slug"]) if there else None
            self._phase(name, phase, found)
        for each in there["phases"] if there and "phases" in track else []:
            if not _named(track["phases"], each["slug"]):
                self.steps.append(Step("kept", f"{name}/{each['slug']}", note=say("only_on_site")))
        if "files" in track:
            self._files(name, tables_of(track, "files", name), is_there=there is not None)

    def _targets(self, track: Mapping[str, Any], there: Any, path: str) -> None:
        wanted, now = list(track["targets"]), list(there["targets"]) if there else []
        if len(wanted) == len(now) and not any(_differing(each, other) for each, other in zip(wanted, now)):
            return
        if self.is_dry:
            self.asked.append(Asked("setTargets", str(track["slug"]), values={"targets": wanted}))
        else:
            self.site.change("PUT", path, {"targets": wanted})
        self.steps.append(Step("updated", f"{track['slug']}/targets", {"targets": [now, wanted]}))

    def _phase(self, track: str, phase: Mapping[str, Any], there: Any) -> None:
        wanted = {name: value for name, value in phase.items() if name not in PARTS}
        name = f"{track}/{phase['slug']}"
        if there is None:
            asked = Asked("createPhase", track, str(phase["slug"]))
            there = self._created(name, self.place.manage(f"tracks/{track}/phases/"), wanted, asked)
        else:
            asked = Asked("updatePhase", track, str(phase["slug"]))
            there = self._updated(name, self.place.manage(f"phases/{there['id']}/"), wanted, there, asked)
        if "references" in phase:
            self._references(name, phase, there)

    # --- references ---------------------------------------------------------------------------------------------------
    def _references(self, name: str, phase: Mapping[str, Any], there: Any) -> None:
        """Uploaded where they are other ones than the current version; as a draft where submissions count by that."""
        files = {"file": self._file(phase, "references")}
        files |= {key: self._file(phase, key) for key in ("frames", "synonyms") if key in phase}
        states = self._versions_of(files, there["id"]) if there else {}
        if "current" in states:
            return
        step = Step("uploaded", f"{name}/references", note=files["file"].name)
        if "draft" in states:
            step.kind, step.note = "kept", say("draft_there", id=states["draft"])
        elif not self.is_dry:
            self._upload_references(step, phase, there, files)
        self.steps.append(step)

    def _versions_of(self, files: Mapping[str, Path], phase: int) -> dict[str, int]:
        """The versions that the site has of these files, by their state."""
        sums = {SUMS[name]: sha256_of(path) for name, path in files.items()}
        rows = each_of(self.site.get(self.place.manage("references/")))
        return {
            each["state"]: each["id"]
            for each in rows
            if each["phase"] == phase and all(each[name] == value for name, value in sums.items())
        }

    def _upload_references(self, step: Step, phase: Mapping[str, Any], there: Any, files: Mapping[str, Path]) -> None:
        path = self.place.manage(f"phases/{there['id']}/references/")
        try:
            self._upload(path, {}, files)
        except Failure as failure:
            if failure.code != "references_in_use":
                raise
            texts = {key: str(phase[key]) for key in ("erratum_ko", "erratum_en") if key in phase}
            made = self._upload(f"{path}drafts/", texts, files)
            place = f"{self.place.name}/{there['track']}/{there['slug']}"
            step.kind, step.note = "drafted", say("draft_made", id=made["id"], place=place)

    def _file(self, table: Mapping[str, Any], key: str) -> Path:
        path = self.folder / str(table[key])
        if not path.is_file():
            raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=say("no_such_file")))
        return path

    def _upload(self, path: str, texts: Mapping[str, str], files: Mapping[str, Path]) -> Any:
        return self.site.ask("POST", path, **form_of(texts, files, Bar(files["file"].name, is_shown=self.shows_bars)))

    # --- files for download -------------------------------------------------------------------------------------------
    def _files(self, track: str, wanted: Sequence[Mapping[str, Any]], *, is_there: bool) -> None:
        """By their names: another content replaces the file, another title is written into it."""
        rows = files_of(self.site, Place(self.place.competition, track)) if is_there else []
        paths = [self._file(each, "path") for each in wanted]
        for each, path in zip(wanted, paths):
            self._one_file(track, each, path, [row for row in rows if row["file_name"] == path.name])
        for name in (row["file_name"] for row in rows):
            if name not in {path.name for path in paths}:
                self.steps.append(Step("kept", f"{track}/files/{name}", note=say("only_on_site")))

    def _one_file(self, track: str, wanted: Mapping[str, Any], path: Path, there: Sequence[Mapping[str, Any]]) -> None:
        """``there``: the files of its name, of which other contents are removed once this one is on the site."""
        name, digest = f"{track}/files/{path.name}", sha256_of(path)
        facts = {key: str(wanted[key]) for key in ("kind", "title_ko", "title_en") if wanted.get(key)}
        same = next((row for row in there if row["file_sha256"] == digest), None)
        if same:
            self._updated(name, self.place.manage(f"files/{same['id']}/"), facts, same)
        else:
            if not self.is_dry:
                self._upload(self.place.manage(f"tracks/{track}/files/"), facts, {"file": path})
            self.steps.append(Step("uploaded", name))
        for row in there:
            if row is not same:
                if not self.is_dry:
                    self.site.change("DELETE", self.place.manage(f"files/{row['id']}/"))
                self.steps.append(Step("removed", name))

    # --- steps --------------------------------------------------------------------------------------------------------
    def _created(self, name: str, path: str, wanted: Mapping[str, Any], asked: Asked) -> Any:
        """What was made; ``None`` in a dry run, which keeps what would be ``asked``."""
        body = {key: value for key, value in wanted.items() if value is not None}
        made = None if self.is_dry else self.site.change("POST", path, body)
        if self.is_dry:
            self.asked.append(replace(asked, values=body))
        self.steps.append(Step("created", name))
        return made

    def _updated(self, name: str, path: str, wanted: Mapping[str, Any], there: Any, asked: Asked | None = None) -> Any:
        """The state after writing what differs, if anything does. ``asked``: what a dry run keeps."""
        differing = _differing(wanted, there)
        if not differing:
            return there
        body = {key: wanted[key] for key in differing}
        if WITH_TERMS in wanted and {"terms_ko", "terms_en"} & {*differing}:
            body[WITH_TERMS] = wanted[WITH_TERMS]
        made = there if self.is_dry else self.site.change("PATCH", path, body)
        if self.is_dry and asked:
            self.asked.append(replace(asked, values=body))
        self.steps.append(Step("updated", name, {key: [there.get(key), wanted[key]] for key in differing}))
        return made


def files_of(site: Site, place: Place) -> list[dict[str, Any]]:
    """The files for download of a track with their titles; the English one is the Korean one where there is none."""
    korean, english = (site.get(place.path(), in_language=name)["files"] for name in LANGUAGES)
    titles = {each["id"]: each["title"] for each in each_of(english)}
    return [{**each, "title_ko": each["title"], "title_en": titles.get(each["id"])} for each in each_of(korean)]


def _named(rows: Any, slug: str) -> Any:
    return next((each for each in rows if each["slug"] == slug), None)


def _differing(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    return [name for name, value in wanted.items() if name != WITH_TERMS and not _is_same(name, value, there.get(name))]


def _is_same(name: str, wanted: Any, there: Any) -> bool:
    if name.endswith("_at") and isinstance(wanted, str) and isinstance(there, str):
        try:
            return moment_of(wanted) == moment_of(there)
        except (ValueError, TypeError):
            return False
    if wanted is None:
        return there is None or name not in MAY_BE_NONE
    if name == "prize_places" and isinstance(wanted, list) and isinstance(there, list):
        return {*wanted} == {*there}
    return bool(wanted == there)


def _short(value: Any) -> str:
    text = "–" if value is None else str(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}…"
