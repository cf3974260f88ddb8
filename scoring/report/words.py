"""The texts of a score report, in Korean and English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scoring.errors import Language

Words = Mapping[str, tuple[str, str]]

LABELS: Final[Words] = {
    "title": ("말판 채점 결과", "Malpan score report"),
    "recipe": ("채점 방식", "Recipe"),
    "demo": (
        "데모 모델 점수 — 공식 점수와 비교할 수 없습니다",
        "Demo model score — not comparable with official scores",
    ),
    "main": ("주요 지표", "Main metrics"),
    "reference": ("참고 지표", "Reference metrics"),
    "score": ("항목", "Score"),
    "value": ("값", "Value"),
    "change": ("기준 대비", "Change"),
    "baseline": ("기준선", "Baseline"),
    "percent": ("기준선 대비 변화율", "Change against the baseline"),
    "note": ("참고", "Note"),
    "unlike": ("비교 불가", "Not comparable"),
    "milestones": ("목표", "Milestones"),
    "reached": ("도달", "reached"),
    "not_reached": ("미도달", "not reached"),
    "next": ("다음 목표", "Next milestone"),
    "distance": ("{milestone} ({distance} 남음)", "{milestone} ({distance} to go)"),
    "all_reached": ("모든 목표에 도달했습니다", "every milestone is reached"),
    "coverage": ("응답 현황", "Coverage"),
    "warnings": ("주의", "Warnings"),
    "rule": ("계산 규칙", "Rule"),
    "signature": ("서명", "Signature"),
    "hash": ("서명 해시", "Signature hash"),
    "references": ("정답 파일", "References"),
    "profile": ("모델 프로필", "Model profile"),
    "none": ("없음", "none"),
    "not_comparable": (
        "기준 파일은 서명이 다릅니다(다른 정답, 모델 또는 규칙). 점수 차이는 참고만 하십시오.",
        "The baseline has another signature (other references, models or rules): the change is only a hint.",
    ),
}

COVERAGE: Final[Words] = {
    "items": ("문항 수", "Items"),
    "answered": ("답이 있는 문항", "Items with an answer"),
    "missing": ("제출 파일에 없는 문항(0점)", "Items missing from the predictions (score 0)"),
    "references": ("정답 문장 수", "Reference texts"),
    "reason_gold": ("정답에 이유가 있는 문항", "Items whose reference has a reason"),
    "reason_answered": ("그 가운데 이유를 쓴 문항", "Of these, answered with a reason"),
    "reason_coverage": ("이유 응답률", "Reason coverage"),
    "multiple_choice": ("선다형 문항", "Multiple-choice items"),
    "short_answer": ("단답형 문항", "Short-answer items"),
    "descriptive": ("서술형 문항", "Descriptive items"),
}


def word(key: str, language: Language, words: Words = LABELS) -> str:
    """The text of ``key``; ``key`` itself if there is none."""
    korean, english = words.get(key, (key, key))
    return korean if language == "ko" else english
