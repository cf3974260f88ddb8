"""Importing a competition from its archive: everything or nothing.

The files are stored first (content-addressed: a file without a row is harmless), then all rows are inserted in one
transaction. Rows are inserted unchanged, with their moments and append-only entries; only their primary keys are new.
An archive can contain neither a person's password nor a reference to a stored file that it does not include.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from malpan.accounts.addresses import who_had
from malpan.accounts.models import User
from malpan.archive import crypto
from malpan.archive.campaigns import SEALED, unseal
from malpan.archive.campaigns import require_sound as require_sound_campaigns
from malpan.archive.errors import ArchiveRefused
from malpan.archive.format import PEOPLE, TABLES, Table, open_files
from malpan.archive.published import require_sound as require_sound_published
from malpan.archive.reading import Archive, open_archive
from malpan.archive.rows import PERSON, decoded, decoded_later
from malpan.competitions.composites import require_sound
from malpan.competitions.errors import CompositeInvalid, NotAllowed, RecipeNotInstalled
from malpan.competitions.models import Competition, ReferenceVersion
from malpan.competitions.references import recipe_of
from malpan.core import audit
from malpan.core.errors import StoredFileMissing
from malpan.core.storage import open_private, store_private
from malpan.privacy.erasing import free_texts
from malpan.submissions.evaluation.runs import requeue_imported
from malpan.submissions.models import Submission
from scoring.errors import quoted

PERMISSION: Final = "competitions.add_competition"


@dataclass(frozen=True, slots=True)
class Imported:
    """The imported competition. ``missing_files``: not in the archive; ``has_references``: with answers."""

    competition: Competition
    counts: dict[str, int]
    new_people: int
    missing_files: list[str]
    has_references: bool


def import_competition(*, file: IO[bytes], actor: User | None, slug: str = "", passphrase: str = "") -> Imported:
    """Import the archive in ``file`` as a competition of this site, at ``slug`` (default: its old one).

    People are found by e-mail or made without a usable password; those whose data were erased here stay erased.
    What is encrypted needs the ``passphrase``; without it it is skipped, and a human evaluation that was not over is
    seen and cannot go on. ``actor`` is ``None`` for the operator of the machine.

    Raises ``NotAllowed`` without the permission to add competitions; ``ArchiveRefused``; the faults of the storage.
    """
    if actor is not None and not actor.has_perm(PERMISSION):
        raise NotAllowed(permission=PERMISSION)
    archive = open_archive(file)
    _refuse_twice(archive)
    address = _free_slug(archive, slug)
    key = crypto.unlocked_key(archive.locked_key, passphrase) if archive.locked_key and passphrase else None
    has_references = key is not None
    _store_files(archive, key)
    with transaction.atomic():
        reading = _Reading(archive)
        competition = reading.read(address, key)
        _refuse_unknown_recipes(competition)
        _refuse_foreign_files(archive, competition, has_references)
        require_sound_published(competition)
        with _misfit_named("tables/campaigns.jsonl"):
            require_sound_campaigns(competition)
        requeue_imported(competition)
        facts = {"slug": address, "made_at": archive.made_at, "counts": reading.counts}
        audit.record(actor=actor, action="competition.import", obj=competition, after=facts)
    return Imported(competition, reading.counts, reading.new_people, archive.missing_files, has_references)


def _free_slug(archive: Archive, wanted: str) -> str:
    """The address of the new competition. Raises ``ArchiveRefused`` if it is taken, before anything is stored."""
    row = next(archive.lines(TABLES[0].member), {})
    slug = wanted or str(row.get("slug", ""))
    try:
        validate_slug(slug)
    except ValidationError:
        raise ArchiveRefused(reason="slug_invalid") from None
    if Competition.objects.filter(slug=slug).exists():
        raise ArchiveRefused(reason="slug_taken", slug=slug)
    return slug


def _refuse_twice(archive: Archive) -> None:
    """Public ids of submissions are globally unique: the same competition cannot be imported twice."""
    table = next(table for table in TABLES if table.label == "submissions.submission")
    batch: list[Any] = []
    for line in archive.lines(table.member):
        batch.append(line.get("public_id"))
        if len(batch) == 1000:
            _refuse_present(batch, table)
            batch = []
    _refuse_present(batch, table)


def _refuse_present(public_ids: list[Any], table: Table) -> None:
    try:
        is_here = Submission.objects.filter(public_id__in=public_ids).exists()
    except (ValidationError, ValueError, TypeError):
        raise ArchiveRefused(reason="rows", table=table.member) from None
    if is_here:
        raise ArchiveRefused(reason="present")


def _store_files(archive: Archive, key: crypto.Key | None) -> None:
    """Store the files of the archive, with the ``key`` those of references too."""
    for name in archive.names("files"):
        with archive.file.open(name) as member:
            _store(member, name, sha256=name.rpartition("/")[2])
    for name in archive.names("references") if key else ():
        with archive.file.open(name) as member, crypto.decrypted(member, key) as file:
            _store(file, name, sha256=Path(name).stem)


def _store(file: Any, name: str, *, sha256: str) -> None:
    if store_private(file).sha256 != sha256:
        raise ArchiveRefused(reason="damaged", name=name)


def _refuse_unknown_recipes(competition: Competition) -> None:
    """Refuse tracks that this site could neither show nor score: of a plug-in, or of a newer version; and those that
    rank by what their recipe does not have.
    """
    for track in competition.tracks.all():
        try:
            require_sound(track.composite, recipe_of(track))
        except RecipeNotInstalled:
            raise ArchiveRefused(reason="recipe", recipe=quoted(track.recipe)) from None
        except CompositeInvalid:
            raise ArchiveRefused(reason="rows", table="tables/tracks.jsonl") from None


def _refuse_foreign_files(archive: Archive, competition: Competition, has_references: bool) -> None:
    """Refuse rows that refer to a stored file of this site that is not in the archive: it may be another's answers."""
    brought = {name.rpartition("/")[2] for name in archive.names("files")}
    if has_references:
        brought |= {Path(name).stem for name in archive.names("references")}
    versions = ReferenceVersion.objects.filter(phase__track__competition=competition)
    named = {name for row in versions.values_list(*ReferenceVersion.FILES) for name in row if name}
    named |= open_files(competition)
    if any(_is_stored(sha256) for sha256 in named - brought):
        raise ArchiveRefused(reason="foreign_file")


def _is_stored(sha256: str) -> bool:
    try:
        open_private(sha256).close()
    except StoredFileMissing:
        return False
    return True


@dataclass
class _Reading:
    archive: Archive
    counts: dict[str, int] = field(default_factory=dict)
    new_people: int = 0
    numbers: dict[str, dict[int, int]] = field(default_factory=dict)
    later: list[tuple[Table, int, dict[str, Any]]] = field(default_factory=list)
    erased: list[tuple[User, list[str]]] = field(default_factory=list)  # with what the archive calls them

    def read(self, slug: str, key: crypto.Key | None) -> Competition:
        self.numbers[PERSON] = dict(self._people())
        for table in TABLES:
            self._read_table(table, slug)
        for table, pk, line in self.later:
            with _misfit_named(table.member):
                table.model._default_manager.filter(pk=pk).update(**decoded_later(table, line, self.renumber))
        if key and SEALED in self.archive.sizes:
            with self.archive.file.open(SEALED) as member, crypto.decrypted(member, key) as file:
                unseal(file, self.numbers)
        for user, words in self.erased:
            free_texts(user, words)
        (pk,) = self.numbers["competitions.competition"].values()
        return Competition.objects.get(pk=pk)

    def renumber(self, label: str, number: int) -> int:
        """This site's primary key of a row of the archive. Raises ``KeyError`` if there is none (yet)."""
        return self.numbers[label][number]

    def _people(self) -> Iterator[tuple[int, int]]:
        made_at = _made_at(self.archive)
        for line in self.archive.lines(PEOPLE):
            with _misfit_named(PEOPLE):
                user = who_had(line["email"], made_at) if line["email"] != "" else None
                if user is None:
                    user = _stranger(**line)
                    self.new_people += 1
                elif user.erased_at is not None:
                    self.erased.append((user, [line["email"], line["name"]]))
            yield line["id"], user.pk

    def _read_table(self, table: Table, slug: str) -> None:
        numbers = self.numbers[table.label] = {}
        for line in self.archive.lines(table.member):
            with _misfit_named(table.member):
                row = table.model(**decoded(table, line, self.renumber) | self._own_columns(table, slug))
                row.save_base(raw=True, force_insert=True)  # raw: moments are not changed
            numbers[line["id"]] = row.pk
            if any(line.get(name) for name in table.later):
                self.later.append((table, row.pk, line))
        self.counts[table.name] = len(numbers)
        if table.label == "competitions.competition" and len(numbers) != 1:
            raise ArchiveRefused(reason="rows", table=table.member)

    def _own_columns(self, table: Table, slug: str) -> dict[str, Any]:
        """The columns of a row that come from this site, not from the archive."""
        if table.label == "competitions.competition":
            return {"slug": slug}
        if table.label == "core.auditentry":
            return {"competition_pk": self.renumber("competitions.competition", 1)}
        if table.label == "arena.campaignjudge":  # a token that nobody has
            moment = timezone.now()
            return {"token_sha256": secrets.token_hex(32), "invited_at": moment, "expires_at": moment}
        return {}


def _made_at(archive: Archive) -> datetime:
    """When the archive was made; if it does not say so, before everything."""
    try:
        made_at = parse_datetime(archive.made_at)
    except ValueError:
        made_at = None
    return made_at if made_at and made_at.tzinfo else datetime.min.replace(tzinfo=UTC)


def _stranger(*, email: Any, name: Any, **_id: Any) -> User:
    """A new account that nobody can log in to; without an address a pseudonym, as the person was where it came from."""
    user = User(email=email, name=name)
    if email == "":
        user.name, user.is_active, user.erased_at = "", False, timezone.now()
    user.set_unusable_password()
    user.full_clean(exclude=["password", *(("email", "name") if user.erased_at else ())])
    user.save()
    return user


@contextmanager
def _misfit_named(member: str) -> Iterator[None]:
    """Turn errors of inconsistent or invalid rows into ``ArchiveRefused``."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, ValidationError, DatabaseError):
        raise ArchiveRefused(reason="rows", table=member) from None
