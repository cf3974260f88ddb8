"""The text of every warning that a score can have, in Korean and English. Web pages get them through recipes."""

from __future__ import annotations

from typing import Final

from scoring.errors import Language, Message
from scoring.metrics import METRICS
from scoring.records import ScoreWarning

_SCORE_TEXTS: Final[dict[str, Message]] = {
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
    "unknown_labels": Message(
        ko="정답에 한 번도 나오지 않는 분류를 {count}번 답했습니다: {labels}. 분류 이름을 바르게 적었는지 "
        "확인하십시오.",
        en="Answers with a label that no reference has: {count} ({labels}). See whether the labels are spelt as in the "
        "task.",
    ),
    "parse_failed": Message(
        ko="답변 {count}개에서 세 영역의 점수를 읽지 못해 예측값 0으로 채점합니다({items}). 답은 "
        '{{"content": {{"score": 4, "rationale": "..."}}, "organization": ..., "expression": ...}} 꼴의 JSON이어야 '
        "합니다.",
        en="Answers in which the three scores could not be read, scored as the prediction 0: {count} ({items}). An "
        'answer is JSON such as {{"content": {{"score": 4, "rationale": "..."}}, "organization": ..., "expression": '
        "...}}.",
    ),
    "nothing_parsed": Message(
        ko="답변 {count}개 가운데 하나도 읽지 못해 모두 예측값 0으로 채점합니다({items}). 파일을 잘못 골랐거나 모델의 "
        '답을 잘못 적었을 수 있습니다. 답은 {{"content": {{"score": 4, "rationale": "..."}}, "organization": ..., '
        '"expression": ...}} 꼴의 JSON이어야 합니다.',
        en="Not one of {count} answers could be read; all are scored as the prediction 0 ({items}). The file may be "
        'the wrong one, or the model\'s answers were written wrongly. An answer is JSON such as {{"content": '
        '{{"score": 4, "rationale": "..."}}, "organization": ..., "expression": ...}}.',
    ),
    "averages_differ": Message(
        ko="정답 {count}개의 average가 세 영역의 평균과 0.05점 넘게 다릅니다. 점수는 average로 계산하므로, 정답 파일을 "
        "확인하십시오.",
        en="References whose average is more than 0.05 from the mean of the three traits: {count}. Scores are computed "
        "with the average: check the file.",
    ),
    "choices_not_numbers": Message(
        ko="선다형 답변 {count}개가 번호 하나가 아닙니다(예: «{example}»). 번호만 적은 정답과 글자까지 같아야 "
        "하므로 0점입니다.",
        en="Choices that are no number: {count} (such as «{example}»). They must equal the number in the references, "
        "and score 0.",
    ),
    "empty_alternatives": Message(
        ko="정답 {count}개에 빈 대안이 있습니다(‘#’의 앞이나 뒤). 빈 대안은 정답으로 치지 않고 채점했습니다. 고친 "
        "정답을 새 판으로 올려 주십시오.",
        en="{count} references name an empty alternative (before or after a #). It was not counted as an answer. "
        "Upload a corrected version of the references.",
    ),
    "empty_answers": Message(
        ko="비어 있는 답변이 {count}개 있습니다.",
        en="{count} answers are empty.",
    ),
    "nfc_normalized": Message(
        ko="답변 {count}개의 한글이 풀어쓴 형태(NFD 등)여서 NFC로 바꾸어 채점합니다. macOS에서 만든 파일에 흔합니다.",
        en="Answers with decomposed Hangul (NFD), scored as NFC: {count}. Files made on macOS often have it.",
    ),
    "nfc_ideographs": Message(
        ko="답변 {count}개에 호환용 한자가 있어 NFC로 바꾸어 채점합니다. 모양은 같으나 부호가 다른 글자입니다"
        "(예: {example}).",
        en="Answers with compatibility ideographs, scored as NFC: {count}. They look like the usual characters but "
        "have other codes (such as {example}).",
    ),
    "nfc_other": Message(
        ko="답변 {count}개에 NFC가 아닌 다른 글자(로마자와 결합 부호 등)가 있어 NFC로 바꾸어 채점합니다"
        "(예: {example}).",
        en="Answers with other characters that are not NFC (such as letters with combining marks), scored as NFC: "
        "{count} (for example {example}).",
    ),
    "nfc_changed_score": Message(
        ko="NFC로 바꾼 것이 {label_ko}에 영향을 준 문항이 {count}개입니다. 여기서는 {value:.7f}이고, 바꾸지 않고 "
        "비교하는 공식 채점기로는 {official:.7f}입니다.",
        en="Items where normalising to NFC changed {label_en}: {count}. It is {value:.7f} here; the official scorer, "
        "which compares the texts as they are, has {official:.7f}.",
    ),
    "texts_cut": Message(
        ko="너무 긴 답변 {count}개는 앞부분만 채점합니다: 처음 {limit:,}자까지이고, 그 안에서 띄어쓰기 없이 이어진 "
        "글은 처음 {run_limit:,}자까지입니다. 글이 같은지만 보는 지표는 전체를 봅니다. 문항(읽은 글자 수/전체): "
        "{items}",
        en="Very long answers scored by their beginning: {count}. Read are the first {limit:,} characters and, of a "
        "run without a space in them, the first {run_limit:,}; metrics that only compare texts see the whole. Items "
        "(characters read/in all): {items}",
    ),
    "references_cut": Message(
        ko="너무 긴 정답 {count}개는 앞부분만 채점에 씁니다: 처음 {limit:,}자까지이고, 그 안에서 띄어쓰기 없이 "
        "이어진 글은 처음 {run_limit:,}자까지입니다. 문항(읽은 글자 수/전체): {items}",
        en="Very long references of which only the beginning was used: {count}. Read are the first {limit:,} "
        "characters and, of a run without a space in them, the first {run_limit:,}. Items (characters read/in all): "
        "{items}",
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
    "demo_judge": Message(
        ko="데모 심사 점수: LLM 심사를 모델 프로필 '{profile}'의 시험용 심사기가 했습니다. LLM 심사 점수와 그것이 "
        "들어간 종합 점수는 실제 심사와 비교할 수 없습니다. 모델이 들지 않는 다른 지표는 그대로입니다.",
        en="Demo judge score: the LLM judge was the trial judge of profile '{profile}'. Its score, and composites that "
        "include it, cannot be compared with those of a real judge. Scores without a model are as they are.",
    ),
    "other_task": Message(
        ko="문항 유형({types})으로 보아 {recipe}의 파일입니다. {here}은(는) 유형을 가리지 않고 모든 답을 같은 규칙으로 "
        "채점하므로, 채점 방식을 바르게 골랐는지 확인하십시오.",
        en="By its question types ({types}) this is a file for {recipe}. {here} scores every answer by one rule "
        "whatever its type: check that the recipe is the one you mean.",
    ),
    "line_breaks": Message(
        ko="설명 {count}개에 줄바꿈이나 탭이 있습니다. 여기서는 공백으로 보지만 konlpy의 Okt는 형태소 하나로 세므로, "
        "konlpy와 NLTK로 직접 계산한 METEOR 등과 값이 다를 수 있습니다. 공백으로 바꾸어 계산하면 같아집니다.",
        en="Captions with a line break or tab: {count}. It is white space here, but konlpy's Okt counts it as a morph: "
        "METEOR and others computed with konlpy and NLTK may differ. With spaces in their place they are equal.",
    ),
    "captions_missing": Message(
        ko="전체 {total}개 가운데 {count}개에 설명문이 없어, 그 문항의 점수는 0입니다.",
        en="Items without a caption: {count} of {total}. They score 0.",
    ),
    "references_not_korean": Message(
        ko="정답 설명문이 한국어가 아닌 것으로 보입니다(글자 가운데 한글 {percent:.1f}%). 한국어 제출 파일은 "
        "이 정답으로 0점에 가까운 점수를 받습니다. 다른 언어의 설명문이 들어간 정답 파일인지 확인하십시오.",
        en="The references do not seem to be Korean: {percent:.1f}% of their letters are Hangul. Korean captions score "
        "next to 0 against them. Check whether the file of references holds the captions of another language.",
    ),
    "captions_not_korean": Message(
        ko="제출한 설명문이 한국어가 아닌 것으로 보입니다(글자 가운데 한글 {percent:.1f}%). 한국어 정답과 견주면 0점에 "
        "가까운 점수를 받습니다. 다른 언어의 설명문을 제출했는지 확인하십시오.",
        en="The submitted captions do not seem to be Korean: {percent:.1f}% of their letters are Hangul. Against "
        "Korean references they score next to 0. Check whether captions of another language were submitted.",
    ),
}

INTEGRITY_TEXTS: Final[dict[str, Message]] = {
    "answer_repeated": Message(
        ko="똑같은 답변 하나가 {items}개 문항 가운데 {count}개({percent:.1f}%)에 쓰였습니다. 정답에서 가장 흔한 글의 "
        "비율은 {reference_percent:.1f}%입니다. 내용과 무관한 답변도 평균 점수를 올릴 수 있으므로 몇 개를 직접 읽어 "
        "보십시오.",
        en="One and the same answer stands for {count} of {items} items ({percent:.1f}%); the commonest reference text "
        "for {reference_percent:.1f}%. An answer that ignores its item can still raise a mean score: read a few.",
    ),
    "few_unique": Message(
        ko="답변 {items}개 가운데 서로 다른 것이 {unique}개({percent:.1f}%)뿐입니다. 정답은 "
        "{reference_percent:.1f}%가 서로 다릅니다. 같은 글을 돌려쓰면 문항마다의 차이를 재지 못하므로 CIDEr-D와 함께 "
        "보십시오.",
        en="Different answers: {unique} of {items} ({percent:.1f}%); of the references {reference_percent:.1f}% "
        "differ. Where texts are reused, scores hardly measure the single item: look at CIDEr-D as well.",
    ),
    "near_constant": Message(
        ko="한 답변의 단어는 다른 답변에도 평균 {percent:.1f}%의 비율로 나옵니다(정답끼리는 {reference_percent:.1f}%). "
        "답변이 서로 거의 같다는 뜻입니다. 흔한 단어를 늘어놓은 답변은 재현율을 보는 지표(METEOR 등)에서 실제보다 높은 "
        "점수를 얻을 수 있습니다.",
        en="A word of one answer is found in another answer {percent:.1f}% of the time (among references: "
        "{reference_percent:.1f}%): the answers are nearly alike. Lists of common words can score higher than they "
        "deserve on metrics that look at recall, such as METEOR.",
    ),
    "length_ratio": Message(
        ko="답변의 글자 수가 모두 합해 정답의 {ratio:.2f}배입니다(보통 {low:g}~{high:g}배). 너무 길면 재현율을, 너무 "
        "짧으면 정밀도를 보는 지표가 실제보다 높을 수 있습니다.",
        en="All answers together have {ratio:.2f} times the characters of the references (usually {low:g} to "
        "{high:g}). Long answers can inflate metrics of recall, short ones metrics of precision.",
    ),
    "repeated_phrases": Message(
        ko="답변 {items}개 가운데 {count}개({percent:.1f}%)에서 같은 구절이 되풀이됩니다. 생성이 멈추지 못하고 맴도는 "
        "모델에서 흔하며, 되풀이된 글은 지표가 뜻하는 바를 흐립니다.",
        en="Answers that repeat a phrase over and over: {count} of {items} ({percent:.1f}%). This is common when "
        "decoding gets caught in a loop, and it blurs what the metrics mean.",
    ),
    "copied_input": Message(
        ko="긴 답변 {items}개 가운데 {count}개({percent:.1f}%)가 문항에 주어진 글을 거의 그대로 옮겼습니다. 정답은 "
        "그렇지 않습니다. 정답과 문항이 낱말을 나누는 과제에서는 옮겨 적기만 해도 겹침 점수가 오를 수 있습니다.",
        en="Long answers taken almost word for word from the text given with the item: {count} of {items} "
        "({percent:.1f}%), where the reference is not. Copying alone can raise overlap scores when reference and input "
        "share words.",
    ),
    "many_normalized": Message(
        ko="답변의 {percent:.1f}%({items}개 가운데 {count}개)가 NFC가 아닌 글자로 적혀 있었습니다. 여기서는 NFC로 "
        "바꾸어 채점했으나, 원본 파일을 다른 도구로 채점하면 점수가 크게 다를 수 있습니다.",
        en="Answers not written in NFC: {percent:.1f}% ({count} of {items}). They were scored as NFC here; another "
        "tool may give the original file very different scores.",
    ),
    "invisible_characters": Message(
        ko="답변 {items}개 가운데 {count}개에 보이지 않는 문자가 있습니다(많은 순서로 {code_points}). 눈에는 같은 "
        "글도 다른 글로 채점되거나 단어가 달리 나뉠 수 있습니다. 대개 웹에서 옮긴 글이나 변환 과정에서 생깁니다.",
        en="Answers with invisible characters: {count} of {items} (commonest first: {code_points}). Text that looks "
        "equal may not count as equal, and words may be split differently. Web pages and conversions are the usual "
        "source.",
    ),
    "looks_empty": Message(
        ko="보이지 않는 문자만 있어 빈 글로 보이는 답변이 {count}개 있습니다. 파일에는 글이 있으므로 응답한 문항으로 "
        "집계되었습니다.",
        en="Answers that look empty because they hold invisible characters only: {count}. They count as answered, "
        "since the file does hold a text.",
    ),
}

# Warnings for the organiser that a score may be better, or worse, than the answers.
INTEGRITY_CODES: Final = frozenset(INTEGRITY_TEXTS)

# Those shown only to organisers: they are about the references, would tell a cheater what is checked, or tell more of a
# score than the steps in which it is published.
ORGANISER_CODES: Final = (
    INTEGRITY_CODES
    | {"empty_alternatives", "references_cut", "nfc_changed_score", "other_task", "references_not_korean"}
    | {"averages_differ", "rationale_repeated"}
    | {"llm_judge_source_truncated", "judge_fluency_source_truncated", "judge_faithfulness_source_truncated"}
) - {
    "invisible_characters",
    "looks_empty",
    "many_normalized",
}

_OTHER_VERSION: Final = Message(
    ko="다른 판의 채점기가 남긴 알림입니다({code}).",
    en="A note left by another version of the scorer ({code}).",
)


def warning_texts() -> dict[str, Message]:
    """The texts of all warnings by code: of scores, of integrity, and of each metric."""
    of_metrics = (text for metric in METRICS.values() for text in metric.warning_texts.items())
    return {**_SCORE_TEXTS, **INTEGRITY_TEXTS, **dict(of_metrics)}


def warning_text(warning: ScoreWarning, language: Language = "ko") -> str:
    """The text of ``warning`` in ``language``.

    A stored warning may come from another version, with a code or params unknown here: then the text is its code.
    """
    try:
        return warning_texts()[warning.code].filled(language, **warning.params)
    except (KeyError, ValueError):
        return _OTHER_VERSION.filled(language, code=warning.code)
