"""Frames of a reference version: checked when it is published, unpacked on the workers.

The zip archive is a private file; a worker unpacks it once, below the site's directory, into a folder named by its
sha256.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils.translation import get_language

from malpan.competitions.errors import MediaRejected, RecipeNotInstalled
from malpan.competitions.models import ReferenceVersion, Track
from malpan.competitions.references import recipe_of
from malpan.core.storage import open_private
from malpan.core.temporary import temporary_folder
from scoring import recipes
from scoring.media import MediaFault, MediaSet, check_frames, frames_of
from scoring.media.archive import INCOMING, extract, unpacked
from scoring.records import Items


def check_media(*, media: IO[bytes], references: Items) -> None:
    """Unpack the archive temporarily: every item of ``references`` must have frames, and every frame must be an image.

    Raises ``MediaRejected``, with what is wrong and where in the active language.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="check-", dir=temporary_folder()) as temporary:
            folder = Path(temporary) / "frames"
            extract(media, folder)
            frames = frames_of(folder)
            MediaSet(frames).require(answer.id for answer in references.items)
            check_frames(frames)
    except MediaFault as error:
        reason = error.message("en" if (get_language() or "ko").startswith("en") else "ko")
        raise MediaRejected(reason=reason) from None


def reads_media(track: Track) -> bool:
    """Whether a metric of the track reads frames; not if its recipe does not exist here any more."""
    try:
        recipe = recipe_of(track)
    except RecipeNotInstalled:
        return False
    return recipes.reads_media(recipe)


def media_folder(version: ReferenceVersion) -> Path | None:
    """The folder with the frames of ``version`` on this machine, or ``None`` if it has none.

    Raises the faults of ``core.storage.open_private``.
    """
    if not version.media_sha256:
        return None
    folder = media_root() / version.media_sha256
    if folder.is_dir():
        return folder
    with open_private(version.media_sha256) as archive:
        return unpacked(archive, version.media_sha256, media_root())


def half_unpacked() -> Iterator[Path]:
    """The folders in which archives are being unpacked, and those of processes that were killed at it."""
    return media_root().glob(f"{INCOMING}*")


def media_root() -> Path:
    return Path(settings.VAR_DIR) / "media"
