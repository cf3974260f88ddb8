"""The names under which files of captions keep an id, another name of the picture, and a caption.

They are those of AI-Hub, COCO, Karpathy's splits, VATEX, MSR-VTT, ActivityNet Captions, Flickr30k and the tools around
them. A Korean caption is always taken before one of another language.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

COCO_ID_KEYS: Final = ("image_id", "video_id")  # the ``id`` of a COCO annotation is its own
PATH_KEYS: Final = ("file_path", "image_path", "image", "video")  # their folder is no part of the id
NAME_KEYS: Final = ("file_name", "filename", "video_name", "image_name", *PATH_KEYS)
ID_KEYS: Final = (*COCO_ID_KEYS, "videoID", "id", "cocoid", *NAME_KEYS)  # in this order

LABEL_KEYS: Final = ("annotation", "annotations")
LABEL_TEXT: Final = "description_kr"
KOREAN_KEYS: Final = (
    *(f"{name}_{language}" for language in ("ko", "kr") for name in ("caption", "captions", "sentence", "sentences")),
    "ko_caption",
    "ko_captions",
    "koCap",
    LABEL_TEXT,
    "description_ko",
    "ko",
    "kr",
    "korean",
)
# The keys of one caption among several: of Karpathy's sentences, of COCO annotations, of dense captions.
TEXT_KEYS: Final = (*KOREAN_KEYS, "caption", "sentence", "raw")
ENGLISH_KEY: Final = "enCap"  # of VATEX, read where nothing else is there


def first_key(value: Collection[Any], keys: tuple[str, ...]) -> str | None:
    """The first of ``keys`` that is in ``value``."""
    return next((key for key in keys if key in value), None)


def without_folder(path: str) -> str:
    r"""The name of a file at ``path``.

    >>> without_folder("val2014/1.jpg"), without_folder(r"val\1.jpg")
    ('1.jpg', '1.jpg')
    """
    return path.replace("\\", "/").rpartition("/")[2]
