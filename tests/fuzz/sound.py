"""Sound items and files of every recipe whose files are sent, from which the others are made."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.scoring.caption_samples import CANARY as CAPTIONS_CANARY
from tests.scoring.caption_samples import KNOWN, dumped

CANARY: Final = "비밀카나리아정답"
CANARIES: Final = (CANARY, CAPTIONS_CANARY)  # of every reference: no error of a predictions file may hold them
IDS: Final = ("q1", "q2", "q3")
# for each recipe of the official format: the answers of a reference file and of a sound one
ANSWERS: Final[dict[str, tuple[Any, Any]]] = {
    "rag-qa@1": (f"{CANARY}가 옳다. 까닭이 있다.", "‘맞히다’가 옳다. 뜻이 다르다."),
    "dialogue-summary@1": ([f"{CANARY} 요약", "다른 요약"], "두 사람이 만나기로 했다."),
    "classification@1": (CANARY, "긍정"),
    "multi-label@1": ([CANARY, "기쁨"], ["기쁨", "슬픔"]),
    "regression@1": (3.5, "-2.25"),
    "target-accuracy@1": (
        [{"id": "t.1", "label": CANARY}, {"id": "t.2", "label": "없음"}],
        [{"id": "t.2", "label": "부적절"}, {"id": "t.1", "label": ""}],
    ),
    "aspect-sentiment@1": (
        [["본품#품질", [CANARY, 3, 8], "positive"]],
        [["본품#품질", "negative"], ["가격#일반", "neutral"]],
    ),
}
CULTURE: Final = "culture-qa@1"
CULTURE_ANSWERS: Final[tuple[tuple[str, tuple[Any, Any]], ...]] = (  # by type of question
    ("선다형", ("3", 3)),
    ("단답형", (f"{CANARY}#다른 답", "떡국")),
    ("서술형", (f"{CANARY}에 모여 먹는다.", "설날에 모여 먹는 국이다.")),
)
CAPTIONS: Final = "captioning-lexical@1"
RICH: Final = "captioning-rich@1"
REQUIRED: Final = (f"{CAPTIONS_CANARY}#파도", "모래")  # words that a caption must hold
ESSAYS: Final = "essay-scoring@1"
OFFICIAL: Final = (*ANSWERS, CULTURE)
RECIPES: Final = (*OFFICIAL, ESSAYS, CAPTIONS, RICH)

Row = dict[str, Any]


def items(recipe: str, *, is_reference: bool) -> list[Row]:
    """Sound items of the official format."""
    typed = CULTURE_ANSWERS if recipe == CULTURE else (("선택형", ANSWERS[recipe]),) * len(IDS)
    return [
        {
            "id": item_id,
            "input": {"question_type": kind, "question": "알맞은 것을 고르시오."},
            "output": {"answer": answers[0 if is_reference else 1]},
        }
        for item_id, (kind, answers) in zip(IDS, typed, strict=True)
    ]


def scored_essays() -> list[Row]:
    """Sound references of essays: what was written, and people's scores of it."""
    return [
        {
            "id": item_id,
            "document_id": f"doc-{number}",
            "prompt_num": f"Q{number % 2}",
            "prompt": f"{CANARY}를 어떻게 볼 것인가?",
            "essay": f"{CANARY}는 있어야 한다. 까닭은 둘이다.",
            "score": {"content": 3.4, "organization": 3.25, "expression": number, "average": (6.65 + number) / 3},
        }
        for number, item_id in enumerate(IDS, start=1)
    ]


def trait_scores(*scores: Any) -> Row:
    """What a model says of an essay: a score and a reason for each trait."""
    names = ("content", "organization", "expression")
    return {name: {"score": score, "rationale": "까닭"} for name, score in zip(names, scores, strict=True)}


def demanding_captions() -> list[Row]:
    """Sound references of captions that demand words."""
    return [{"id": item_id, "captions": texts, "required": [*REQUIRED]} for item_id, texts in KNOWN.items()]


def unmarked(rows: list[Row]) -> list[Row]:
    """``rows`` of references without the marks of these: what a participant sends may be quoted to them."""
    text = dumped(rows)
    for canary in CANARIES:
        text = text.replace(canary, "표시")
    found: list[Row] = json.loads(text)
    return found


def sound_file(recipe: str, *, is_reference: bool) -> bytes:
    """A file that is accepted."""
    return dumped(_sound(recipe, is_reference=is_reference)).encode()


def _sound(recipe: str, *, is_reference: bool) -> Any:
    if recipe == ESSAYS:
        answered = [{"id": item_id, **trait_scores(4, 3.5, 1)} for item_id in IDS]
        return scored_essays() if is_reference else answered
    if recipe in (CAPTIONS, RICH):
        known = demanding_captions() if recipe == RICH else KNOWN
        return known if is_reference else dict.fromkeys(KNOWN, "한 줄 설명")
    return items(recipe, is_reference=is_reference)
