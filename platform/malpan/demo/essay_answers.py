"""The files that teams of the essay scoring demo upload: scores, rationales, and raw outputs as models write them.

As in ``answers`` nothing is random: deviations and the choice of words follow from SHA-256 of the team's key and the
essay's id.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from malpan.demo.answers import chosen
from malpan.demo.essays import TRAITS, Essay
from malpan.demo.habits import DemoTeam, EssayHabit, Frame, Grain, Packing, Rationale, Upload

REMARKS: Final[Mapping[str, Any]] = tomllib.loads((Path(__file__).parent / "essay_remarks.toml").read_text("utf-8"))
LOWEST, HIGHEST = 1, 5
_LOW, _HIGH = 2.5, 3.5  # where a team's words change from low to middling, and to high
_LETTERS: Final = (230, 60)  # who counts letters gives 1 at 230 letters and another point for every 60
_QUOTED: Final = (8, 45)  # letters of a sentence that teams quote
_QUOTABLE: Final = ("다.", "요.")  # so that the particles of the remarks fit
_DAMAGES: Final = ("cut", "prose", "python", "no trait", "brace")

Judgement = dict[str, dict[str, Any]]  # {trait: {"score", "rationale"}}


def essay_file(team: DemoTeam, upload: Upload, items: Sequence[Essay]) -> bytes:
    """The file ``team`` uploads for ``items``: the same bytes at every call, on every machine."""
    if not isinstance(upload.habit, EssayHabit):
        raise TypeError(f"{upload.file_name} does not go to the essay scoring track")
    rows = rows_of(team.key, upload.habit, items)
    if upload.packing is Packing.BROKEN:
        rows = _broken(rows)
    if upload.packing is Packing.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    return (json.dumps(rows, ensure_ascii=False, indent=2) + "\n").encode()


def rows_of(team_key: str, habit: EssayHabit, items: Sequence[Essay]) -> list[dict[str, Any]]:
    """The rows of the file, in the order of ``items``."""
    unreadable = chosen(team_key, "unreadable", [essay.id for essay in items], habit.unreadable)
    damages = {essay_id: _DAMAGES[place % len(_DAMAGES)] for place, essay_id in enumerate(sorted(unreadable))}
    return [_row(team_key, habit, essay, damages.get(essay.id, "")) for essay in items]


def judgement_of(team_key: str, habit: EssayHabit, essay: Essay) -> Judgement:
    """Score and rationale of every trait."""
    scores = {trait: _score(team_key, habit, essay, trait) for trait in TRAITS}
    return {
        trait: {"score": score, "rationale": _rationale(team_key, habit, essay, trait, score)}
        for trait, score in scores.items()
    }


def _row(team_key: str, habit: EssayHabit, essay: Essay, damage: str) -> dict[str, Any]:
    names = {habit.id_name: essay.document_id if habit.id_name == "document_id" else essay.id}
    judgement = judgement_of(team_key, habit, essay)
    if habit.frame is Frame.TOP:
        return {**names, **judgement}
    if habit.frame is Frame.JUDGE:
        return {**names, "judge": judgement}
    return {**names, "output": _damaged(judgement, damage) if damage else _raw(judgement, habit.frame)}


def _score(team_key: str, habit: EssayHabit, essay: Essay, trait: str) -> float:
    if habit.constant:
        return habit.constant
    shortest, step = _LETTERS
    aim = LOWEST + (len(essay.text) - shortest) / step if habit.counts_letters else essay.score[trait]
    value = aim + habit.bias + habit.error * _deviation(team_key, essay.id, trait)
    return _grained(min(HIGHEST, max(LOWEST, value)), habit.grain)


def _grained(value: float, grain: Grain) -> float:
    if grain is Grain.INTEGER:
        return math.floor(value + 0.5)
    if grain is Grain.HALF:
        return math.floor(2 * value + 0.5) / 2
    return math.floor(100 * value + 0.5) / 100


def _deviation(*parts: str) -> float:
    """A number of mean 0 and standard deviation 1, within -3 and 3: twice the sum of three uniform ones."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    uniform = (int.from_bytes(digest[start : start + 4], "big") / 2**32 - 0.5 for start in (0, 4, 8))
    return 2 * math.fsum(uniform)


def _rationale(team_key: str, habit: EssayHabit, essay: Essay, trait: str, score: float) -> str:
    if habit.rationale is Rationale.SAME:
        return str(REMARKS["same"])
    if habit.rationale is Rationale.OBSERVATION:
        return _observation(team_key, essay, trait)
    level = "low" if score < _LOW else "high" if score >= _HIGH else "middling"
    said = _one_of(REMARKS[habit.rationale][trait][level], team_key, essay.id, trait)
    return said.format(quote=_quote(team_key, essay, trait), gist=essay.gist_en)


def _observation(team_key: str, essay: Essay, trait: str) -> str:
    """The note on this trait, every second time with a sentence of the essay."""
    note = essay.notes[trait]
    if _digest(team_key, essay.id, trait, "quotes") % 2:
        return note
    evidence = _one_of(REMARKS["evidence"], team_key, essay.id, trait, "evidence")
    return f"{note} {evidence.format(quote=_quote(team_key, essay, trait))}"


def _quote(team_key: str, essay: Essay, trait: str) -> str:
    """A sentence of the essay without its full stop; another one for each trait where there are enough."""
    shortest, longest = _QUOTED
    sentences = [s[:-1] for s in essay.sentences if s.endswith(_QUOTABLE) and shortest <= len(s) <= longest]
    start = _digest(team_key, essay.id, "quote")
    return sentences[(start + TRAITS.index(trait)) % len(sentences)]


def _raw(judgement: Judgement, frame: Frame) -> str:
    """The text of a model that answers with the object alone, or with a sentence and the object in code fences."""
    if frame is Frame.RAW:
        return json.dumps(judgement, ensure_ascii=False)
    return f"{REMARKS['introduction']}\n\n```json\n{json.dumps(judgement, ensure_ascii=False, indent=2)}\n```"


def _damaged(judgement: Judgement, damage: str) -> str:
    """A raw output that the rule cannot read: each is how a model fails."""
    text = json.dumps(judgement, ensure_ascii=False)
    if damage == "cut":
        return text[: len(text) * 2 // 3]  # the limit of tokens was reached
    if damage == "prose":
        return str(REMARKS["refusal"])
    if damage == "python":
        return str(judgement)  # quotation marks of Python
    if damage == "no trait":
        return json.dumps({trait: judgement[trait] for trait in TRAITS[:2]}, ensure_ascii=False)
    return text.replace('"rationale": "', '"rationale": "결론 } ', 1)  # braces within texts are counted too


def _broken(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """``rows`` with errors of a careless script: a score beyond 5, a truth value, and the fourth row twice."""
    broken = [dict(row) for row in rows]
    broken[1]["content"] = {**rows[1]["content"], "score": 7}
    broken[2]["expression"] = {**rows[2]["expression"], "score": True}
    broken[4] = rows[3]
    return broken


def _one_of(choices: Sequence[str], *parts: str) -> str:
    return choices[_digest(*parts) % len(choices)]


def _digest(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8], "big")
