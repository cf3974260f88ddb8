"""What each team answers, and the bytes it uploads: the same bytes at every call, on every machine.

Nothing is random. Which items of a team are wrong follows from SHA-256 of the team's key and the item's id; the items
with the smallest digests come first, so a share is exact, and the items of a smaller share are among those of a larger
one.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any, Final

from malpan.demo.content import CHOICE, DESCRIPTIVE, ContestItem, CultureItem, Item, verdict
from malpan.demo.habits import DemoTeam, Habit, Packing, Prose, Upload

GENERIC_REASON: Final = "한글 맞춤법과 표준어 규정에 따라 이렇게 쓰는 것이 바른 표현이기 때문이다."
GENERIC_TERM: Final = "한국의 전통문화"
GENERIC_DESCRIPTION: Final = "우리 조상의 지혜가 담긴 소중한 전통문화로, 오늘날까지 이어지고 있다."
_FILLERS: Final = (
    "이 문제는 많은 사람이 자주 헷갈리는 부분이므로 꼼꼼히 살펴볼 필요가 있다.",
    "일상생활에서도 널리 쓰이는 만큼 이번 기회에 확실히 기억해 두면 큰 도움이 될 것이다.",
    "물론 상황에 따라서는 다르게 생각할 수도 있겠지만, 일반적으로는 이렇게 이해하는 것이 좋다.",
    "앞에서 설명한 내용을 종합하여 보면 위와 같은 결론에 이르게 된다는 점을 알 수 있다.",
)
_FILLERS_PER_ANSWER: Final = 3
_CHOICE_BY_FIRST: Final = re.compile(r"\{([^{}/]*)/[^{}]*\}")


def answer_file(team: DemoTeam, upload: Upload, items: Sequence[Item]) -> bytes:
    """The file ``team`` uploads for ``items``, in the official format."""
    if not isinstance(upload.habit, Habit):
        raise TypeError(f"{upload.file_name} does not go to a track of questions")
    answers = _answers(team.key, upload.habit, items)
    rows = [{"id": item.id, "input": item.input, "output": {"answer": answers[item.id]}} for item in items]
    if upload.packing is Packing.BROKEN:
        rows = _broken(rows)
    return _packed(rows, upload.packing)


def chosen(team_key: str, purpose: str, item_ids: Collection[str], share: float) -> frozenset[str]:
    """``share`` (0-1) of ``item_ids``, rounded to whole items; a smaller share is a subset of a larger one."""
    ordered = sorted(item_ids, key=lambda item_id: _digest(team_key, purpose, item_id))
    return frozenset(ordered[: round(share * len(ordered))])


def _answers(team_key: str, habit: Habit, items: Sequence[Item]) -> dict[str, str]:
    """Answer by item id. Shares are taken of each question type separately, so that every type is affected."""
    answers: dict[str, str] = {}
    for kind in sorted({item.question_type for item in items}):
        of_kind = [item for item in items if item.question_type == kind]
        ids = [item.id for item in of_kind]
        wrong = chosen(team_key, "wrong", ids, habit.wrong)
        silent = chosen(team_key, "silent", ids, habit.silent)
        thin = chosen(team_key, "thin", ids, habit.thin)
        for item in of_kind:
            prose = Prose.SHORT if item.id in thin else habit.prose
            answers[item.id] = _answer(item, habit, prose, is_wrong=item.id in wrong, is_silent=item.id in silent)
    return answers


def _answer(item: Item, habit: Habit, prose: Prose, *, is_wrong: bool, is_silent: bool) -> str:
    if isinstance(item, ContestItem):
        return _contest_answer(item, habit, prose, is_wrong=is_wrong, is_silent=is_silent)
    return _culture_answer(item, habit, prose, is_wrong=is_wrong, is_silent=is_silent)


def _contest_answer(item: ContestItem, habit: Habit, prose: Prose, *, is_wrong: bool, is_silent: bool) -> str:
    form = item.wrong if is_wrong else item.right
    if habit.guesses:
        form = first_form(item)
    if item.is_bare:
        return form
    chosen_form = verdict(form, habit.quote)
    if is_silent:
        return chosen_form
    return f"{chosen_form} {_contest_reason(item, prose, is_wrong=is_wrong)}"


def first_form(item: ContestItem) -> str:
    """The answer of a team that takes the first form of ``{되/돼}`` and does not correct a sentence."""
    filled = _CHOICE_BY_FIRST.sub(r"\1", item.question)
    return item.right if item.right in filled else item.wrong


def _contest_reason(item: ContestItem, prose: Prose, *, is_wrong: bool) -> str:
    if prose is Prose.GENERIC:
        return GENERIC_REASON
    if is_wrong:
        return item.flawed
    if prose is Prose.SHORT:
        return item.short
    return _with_filler(item) if prose is Prose.RAMBLING else item.paraphrase


def _culture_answer(item: CultureItem, habit: Habit, prose: Prose, *, is_wrong: bool, is_silent: bool) -> str:
    if item.question_type == DESCRIPTIVE:
        return "" if is_silent else _description(item, prose, is_wrong=is_wrong)
    if habit.guesses:
        return "1" if item.question_type == CHOICE else GENERIC_TERM
    return item.wrong if is_wrong else item.answer.split("#")[0]


def _description(item: CultureItem, prose: Prose, *, is_wrong: bool) -> str:
    if prose is Prose.GENERIC:
        return GENERIC_DESCRIPTION
    if is_wrong:
        return item.wrong
    if prose is Prose.SHORT:
        return item.partial
    return _with_filler(item) if prose is Prose.RAMBLING else item.paraphrase


def _with_filler(item: Item) -> str:
    """The paraphrase and three empty phrases, in an order that depends on the item."""
    ordered = sorted(_FILLERS, key=lambda filler: _digest(item.id, "filler", filler))
    return " ".join((item.paraphrase, *ordered[:_FILLERS_PER_ANSWER]))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _broken(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """``rows`` with errors as from merging two shards: the third row has the second's id, the fifth has no answer."""
    broken = list(rows)
    broken[2] = {**rows[2], "id": rows[1]["id"]}
    broken[4] = {**rows[4], "output": {}}
    return broken


def _packed(rows: Sequence[dict[str, Any]], packing: Packing) -> bytes:
    if packing is Packing.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    return (unicodedata.normalize("NFD", text) if packing is Packing.JSON_NFD else text).encode()
