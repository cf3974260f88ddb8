"""The words of every warning that a score can carry, in Korean and English. Web pages reach them through recipes."""

from __future__ import annotations

from typing import Final

from scoring.errors import Language, Message
from scoring.records import ScoreWarning

WARNING_TEXTS: Final[dict[str, Message]] = {
    "reasons_missing": Message(
        ko="이유가 있어야 하는 문항 {gold}개 가운데 {missing}개에 이유가 없습니다. 이유 점수는 이유를 쓴 문항만으로 "
        "평균을 냈으므로, 응답률 {percent:.1f}%와 함께 보아야 합니다.",
        en="{missing} of the {gold} items that call for a reason have none. The reason scores are means over the "
        "answered items only, so read them together with the coverage of {percent:.1f}%.",
    ),
    "reasons_missing_zero": Message(
        ko="이유가 있어야 하는 문항 {gold}개 가운데 {missing}개에 이유가 없어 이유 점수를 0으로 계산했습니다.",
        en="{missing} of the {gold} items that call for a reason have none; their reason scores count as 0.",
    ),
    "no_verdict": Message(
        ko="답변 {count}개에 '가 옳다' 또는 '이 옳다'가 없어, 답변 전체를 답으로 보고 이유는 없는 것으로 처리했습니다.",
        en="{count} answers hold neither '가 옳다' nor '이 옳다': each was taken whole as an answer without reason.",
    ),
    "empty_answers": Message(
        ko="비어 있는 답변이 {count}개 있습니다.",
        en="{count} answers are empty.",
    ),
    "nfc_normalized": Message(
        ko="답변 {count}개의 한글이 풀어쓴 형태(NFD 등)여서 NFC로 바꾸어 채점했습니다. macOS에서 만든 파일에 흔합니다.",
        en="{count} answers held decomposed text (such as NFD Hangul, common on macOS) and were scored as NFC.",
    ),
    "padded_choices": Message(
        ko="선다형 답 {count}개의 앞뒤에 공백이 있습니다. 선다형은 공백까지 같아야 정답입니다.",
        en="{count} multiple-choice answers have white space around them; a choice must equal the answer exactly.",
    ),
    "demo_models": Message(
        ko="데모 모델 점수: 모델 프로필 '{profile}'의 작은 시험용 모델로 계산했습니다. BERTScore와 BLEURT, 그리고 "
        "이들이 들어간 점수는 공식 점수와 비교할 수 없습니다.",
        en="Demo model score: computed with the small trial models of profile '{profile}'. BERTScore, BLEURT and every "
        "score that includes them cannot be compared with official scores.",
    ),
}


def warning_text(warning: ScoreWarning, language: Language = "ko") -> str:
    """What ``warning`` says, in ``language``."""
    return WARNING_TEXTS[warning.code].text(language).format(**warning.params)
