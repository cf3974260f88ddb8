"""The table of synonyms of a reference version: checked when it is uploaded, a file on the workers.

A version without one is scored with the table of the instrument. A change of it is a change of the references: by a
draft and a rescoring where submissions count; the signature of the scores names the table.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils.translation import gettext

from malpan.competitions.errors import RecipeNotInstalled, SynonymsRejected
from malpan.competitions.models import ReferenceVersion, Track
from malpan.competitions.references import recipe_of
from malpan.core.language import reader_language
from malpan.core.storage import read_private
from scoring import recipes
from scoring.reading import InvalidSynonyms, parse_synonyms

BUILT_IN: Final = b""  # uploaded in the place of a table: that of the instrument again


def chosen(data: bytes | None, *, built_in: bool) -> bytes | None:
    """What was asked for: a table, ``BUILT_IN``, or ``None`` for the one in use. ``data``: an uploaded file.

    Raises ``SynonymsRejected`` where both are asked for, and for an empty file, which is no table.
    """
    if built_in and data is not None:
        raise SynonymsRejected(reason=gettext("표를 올리거나 기본 표로 되돌리거나, 둘 중 하나만 고르십시오."))
    if data == b"":
        raise SynonymsRejected(reason=gettext("올린 파일이 비어 있습니다."))
    return BUILT_IN if built_in else data


def check_synonyms(track: Track, data: bytes) -> None:
    """Raises ``SynonymsRejected`` where a table is given that is not valid, or that no metric of the track reads."""
    if data == BUILT_IN:
        return
    if not reads_synonyms(track):
        raise SynonymsRejected(reason=gettext("이 트랙의 채점 방식은 유의어 표를 쓰지 않습니다."))
    try:
        parse_synonyms(data, gettext("올린 파일"))
    except InvalidSynonyms as error:
        raise SynonymsRejected(reason=error.message(reader_language())) from None


def reads_synonyms(track: Track) -> bool:
    """Whether a metric of the track looks words up; not if its recipe does not exist here any more."""
    try:
        recipe = recipe_of(track)
    except RecipeNotInstalled:
        return False
    return recipes.reads_synonyms(recipe)


def versions_with_synonyms(tracks: Iterable[Track]) -> list[ReferenceVersion]:
    """The current versions of ``tracks`` that have a table of their own; asks for none where no recipe reads one."""
    reading = [track for track in tracks if reads_synonyms(track)]
    if not reading:
        return []
    rows = ReferenceVersion.objects.filter(phase__track__in=reading, is_current=True).exclude(synonyms_sha256="")
    return list(rows.select_related("phase__track").order_by("phase"))


def synonyms_file(version: ReferenceVersion) -> Path | None:
    """The table of ``version`` on this machine, or ``None`` if it has none.

    Raises the faults of ``core.storage.read_private``.
    """
    if not version.synonyms_sha256:
        return None
    folder = Path(settings.VAR_DIR) / "synonyms"
    file = folder / f"{version.synonyms_sha256}.tsv"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        table = read_private(version.synonyms_sha256)
        handle, unfinished = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as writing:
            writing.write(table)
        Path(unfinished).replace(file)  # whole or not there, whoever else writes it
    return file
