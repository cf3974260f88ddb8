"""The scenes of the captioning demo, read from ``captions/scenes-*.json``, and the files that its teams upload.

All of it was written for Malpan. There are no pictures: a *card* lists what a scene contains, in words and never in a
sentence, as the input of a system. Each scene has one to three reference captions by different writers, and captions as
plausible systems would write them.

As in ``answers`` nothing is random: how a team describes each scene follows from SHA-256 of its key and the ids.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from malpan.demo.answers import chosen
from malpan.demo.habits import CaptionHabit, DemoTeam, Packing, Upload

FOLDER: Final = Path(__file__).parent / "captions"
SAMPLE_CAPTION: Final = "여기에 이 장면을 설명하는 문장을 쓰세요."

Rows = Sequence[tuple[str, str]]  # (scene id, caption) in the order of the file


@dataclass(frozen=True, slots=True)
class Card:
    """What a scene contains, in single words: the whole input of a system."""

    place: str
    time: str
    weather: str
    subjects: tuple[str, ...]
    action: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One scene. ``good`` says the same as a reference in other words, ``plain`` only the minimum, ``detailed`` more.

    ``wrong`` is a caption for a picture of this kind, but with another object or another action.
    """

    id: str
    card: Card
    references: tuple[str, ...]
    good: str
    plain: str
    detailed: str
    wrong: str


@cache
def scenes() -> tuple[Scene, ...]:
    """All scenes, by id."""
    rows = [row for path in sorted(FOLDER.glob("scenes-*.json")) for row in json.loads(path.read_text("utf-8"))]
    return tuple(sorted(map(_scene, rows), key=lambda scene: scene.id))


def references_file(items: Sequence[Scene]) -> bytes:
    """``{id: [captions]}``: only for ``publish_reference_version``."""
    return _json({scene.id: list(scene.references) for scene in items})


def cards_file(items: Sequence[Scene]) -> bytes:
    """The cards alone, without any caption."""
    cards = ((scene.id, scene.card) for scene in items)
    return _json(
        [
            {
                "id": scene_id,
                "place": card.place,
                "time": card.time,
                "weather": card.weather,
                "subjects": list(card.subjects),
                "action": card.action,
            }
            for scene_id, card in cards
        ]
    )


def sample_file(items: Sequence[Scene]) -> bytes:
    """A valid submission with the same caption for every scene."""
    return _json({scene.id: SAMPLE_CAPTION for scene in items})


def caption_file(team: DemoTeam, upload: Upload, items: Sequence[Scene]) -> bytes:
    """The file ``team`` uploads for ``items``: the same bytes at every call, on every machine."""
    if not isinstance(upload.habit, CaptionHabit):
        raise TypeError(f"{upload.file_name} does not go to the captioning track")
    return _packed(captions_of(team.key, upload.habit, items), upload.packing)


def captions_of(team_key: str, habit: CaptionHabit, items: Sequence[Scene]) -> list[tuple[str, str]]:
    """(id, caption) of every scene the team describes, in the order of the scenes."""
    ids = [scene.id for scene in items]
    missing = chosen(team_key, "missing", ids, habit.missing)
    # Each set includes the previous one, so that a caption is of the first kind whose set has its scene.
    wrong = chosen(team_key, "caption", ids, habit.wrong)
    plain = chosen(team_key, "caption", ids, habit.wrong + habit.plain)
    detailed = chosen(team_key, "caption", ids, habit.wrong + habit.plain + habit.detailed)

    def caption(scene: Scene) -> str:
        if habit.constant:
            return habit.constant
        if scene.id in wrong:
            return scene.wrong
        if scene.id in plain:
            return scene.plain
        return scene.detailed if scene.id in detailed else scene.good

    return [(scene.id, caption(scene)) for scene in items if scene.id not in missing]


def _packed(rows: Rows, packing: Packing) -> bytes:
    """``rows`` in one of the formats of the track; ``{id: caption}`` unless ``packing`` is another."""
    if packing is Packing.TSV:
        return "".join(f"{scene_id}\t{caption}\n" for scene_id, caption in rows).encode()
    if packing is Packing.JSONL:
        objects = ({"video_id": f"{scene_id}.mp4", "caption": caption} for scene_id, caption in rows)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in objects).encode()
    if packing is Packing.IMAGES:
        return _json([{"image_id": f"{scene_id}.jpg", "caption": caption} for scene_id, caption in rows])
    if packing is Packing.BROKEN:
        return _json([{"id": scene_id, "caption": caption} for scene_id, caption in _broken(rows)])
    data = _json(dict(rows))
    return unicodedata.normalize("NFD", data.decode()).encode() if packing is Packing.JSON_NFD else data


def _broken(rows: Rows) -> list[tuple[str, str]]:
    """``rows`` numbered carelessly: the third has the second's id, the last is of a scene that does not exist."""
    broken = list(rows)
    broken[2] = (rows[1][0], rows[2][1])
    broken[-1] = (f"scene-{len(rows) + 1:03}", rows[-1][1])
    return broken


def _scene(row: Mapping[str, Any]) -> Scene:
    card = Card(**{**row["card"], "subjects": tuple(row["card"]["subjects"])})
    return Scene(**{**row, "card": card, "references": tuple(row["references"])})


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
