"""Frames that the organiser supplies for each item: a folder, or a zip archive of one, as ``{item id: image files}``.

``<id>.jpg`` (``.jpeg``, ``.png``, ``.webp``) is the one frame of an item, a folder ``<id>/`` holds several. Ids are
NFC; a film's ``.mp4`` or a label's ``.json`` at the end of an id is dropped, as in the ids of captions. Archives are
unpacked by ``scoring.media.archive``.

Nothing here imports torch or numpy; Pillow is imported when an image is opened.
"""

from __future__ import annotations

import hashlib
import struct
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from scoring.errors import Message, ScoringFault, WordedError, quoted
from scoring.reading.caption_checks import without_ending

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".webp")
MAX_PIXELS: Final = (
    40_000_000  # 8K video has 33 million; a broken image of 900 bytes is given four bytes for each of its
)
SHOWN_IDS: Final = 5
_FORMATS: Final = ("JPEG", "PNG", "WEBP")

Frames = Mapping[str, tuple[Path, ...]]


class MediaFault(WordedError, ScoringFault):
    """The frames cannot be used, which the organiser must fix. The text names the file or the ids."""


class MediaNotFound(MediaFault):
    code: ClassVar[str] = "media_not_found"
    words: ClassVar[Message] = Message(
        "프레임 폴더나 zip 파일이 없습니다: {path}. 경로를 확인하십시오.",
        "There is no folder or zip archive of frames at {path}. Check the path.",
    )


class FramesAmbiguous(MediaFault):
    code: ClassVar[str] = "frames_ambiguous"
    words: ClassVar[Message] = Message(
        "id '{id}'의 프레임이 두 곳에 있습니다: {one}, {other}. 하나만 두십시오.",
        "The frames of id '{id}' stand in two places: {one} and {other}. Keep one of them.",
    )


class FramesMissing(MediaFault):
    code: ClassVar[str] = "frames_missing"
    words: ClassVar[Message] = Message(
        "문항 {total}개 가운데 {count}개의 프레임이 없습니다(id {ids}). <id>.jpg 또는 <id>/ 폴더로 넣어 주십시오.",
        "{count} of {total} items have no frames (id {ids}). Supply each as <id>.jpg or as a folder <id>/.",
    )


class FrameBroken(MediaFault):
    code: ClassVar[str] = "frame_broken"
    words: ClassVar[Message] = Message(
        "id '{id}'의 프레임 '{file}'을(를) 이미지로 읽을 수 없습니다. 파일을 확인하고 다시 만들어 주십시오.",
        "The frame '{file}' of id '{id}' cannot be read as an image. Check the file and make it again.",
    )


@dataclass(frozen=True)
class MediaSet:
    """The frames of a set of items, with the SHA-256 of every file; it is computed at the first request."""

    frames: Frames

    @cached_property
    def digests(self) -> Mapping[Path, str]:
        """The SHA-256 of each file."""
        return {path: file_sha256(path) for paths in self.frames.values() for path in paths}

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over (id, SHA-256 of a file) of all frames, sorted: names and places of files change nothing."""
        lines = sorted(f"{item}\t{self.digests[path]}" for item, paths in self.frames.items() for path in paths)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def of(self, item: str) -> tuple[Path, ...]:
        """The frames of ``item``, with or without an ending in its id; empty if it has none."""
        return self.frames.get(item) or self.frames.get(item_id(item), ())

    def require(self, ids: Iterable[str]) -> None:
        """Raise ``FramesMissing`` unless every one of ``ids`` has a frame."""
        wanted = list(ids)
        missing = [item for item in wanted if not self.of(item)]
        if missing:
            named = ", ".join(quoted(item) for item in missing[:SHOWN_IDS])
            shown = f"{named}, …" if len(missing) > SHOWN_IDS else named
            raise FramesMissing(count=len(missing), total=len(wanted), ids=shown)


def frames_of(folder: Path) -> dict[str, tuple[Path, ...]]:
    """The image files of each item under ``folder``, sorted by name; ids in order.

    Hidden files and files that are no images are skipped: an item with only such files is missing
    (``MediaSet.require``). Raises ``MediaNotFound``, ``FramesAmbiguous``.
    """
    if not folder.is_dir():
        raise MediaNotFound(path=str(folder))
    found: dict[str, tuple[Path, ...]] = {}
    origin: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        frames = _frames_at(path)
        if not frames:
            continue
        item = item_id(path.name)
        if item in found:
            raise FramesAmbiguous(id=quoted(item), one=quoted(origin[item]), other=quoted(path.name))
        found[item], origin[item] = frames, path.name
    return dict(sorted(found.items()))


def _frames_at(path: Path) -> tuple[Path, ...]:
    if is_hidden(path.name):
        return ()
    if path.is_dir():
        return tuple(sorted(each for each in path.iterdir() if is_image_name(each.name) and each.is_file()))
    return (path,) if is_image_name(path.name) and path.is_file() else ()


def item_id(name: str) -> str:
    """The id in a file or folder name: NFC, without the endings that are also dropped from ids of captions.

    >>> item_id("clip7.mp4.webp")
    'clip7'
    """
    return without_ending(unicodedata.normalize("NFC", name))


def is_image_name(name: str) -> bool:
    """Whether a file of this name counts as a frame."""
    return not is_hidden(name) and name.lower().endswith(IMAGE_SUFFIXES)


def is_hidden(name: str) -> bool:
    """Whether ``name`` is a file that macOS or Windows adds to a folder."""
    return name.startswith(".") or name in ("__MACOSX", "Thumbs.db", "desktop.ini")


def open_frame(path: Path, item: str) -> Image:
    """The image, decoded, upright as its EXIF data say, in RGB: what ``transformers.image_utils.load_image`` gives.

    For an animation the first picture. Raises ``FrameBroken``, which names ``item``.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise FrameBroken(id=quoted(item), file=quoted(path.name))
            upright: Image.Image = ImageOps.exif_transpose(image)
            return upright.convert("RGB")
    except (OSError, SyntaxError, ValueError, struct.error, Image.DecompressionBombError) as error:
        raise FrameBroken(id=quoted(item), file=quoted(path.name)) from error


def check_frames(frames: Frames) -> None:
    """Decode every image once. Raises ``FrameBroken`` at the first that cannot be decoded."""
    for item, paths in frames.items():
        for path in paths:
            open_frame(path, item)


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
