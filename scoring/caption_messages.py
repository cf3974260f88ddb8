"""The words of the errors that only captions, labels and numbers have; the rest stand in ``scoring.messages``."""

from __future__ import annotations

from typing import Final

from scoring.messages import ID_MISMATCH, NOT_JSON, WRONG_SHAPE, Message

_FILES: Final[dict[str, Message]] = {
    "no_caption_format": Message(
        "설명문 파일의 형식을 알 수 없습니다{near}. "
        '{{"아이디": "설명문"}} 꼴의 JSON, JSONL, 또는 아이디와 설명문을 탭으로 나눈 TSV로 저장해 주십시오.',
        "This is no format of captions{near}. "
        'Save as JSON such as {{"id": "caption"}}, as JSONL, or as TSV with a tab between id and caption.',
        NOT_JSON,
    ),
    "several_caption_lists": Message(
        "설명문 목록이 어느 것인지 알 수 없습니다(«{key}»). captions 또는 results 하나에만 담아 주십시오.",
        "Which list holds the captions is not clear («{key}»). Keep one of them, under captions or results.",
        WRONG_SHAPE,
    ),
    "row_not_object": Message(
        '항목은 객체여야 하는데 {found}입니다. {{"id": ..., "caption": ...}} 꼴로 적어 주십시오.',
        'A row must be an object, not {found}. Write {{"id": ..., "caption": ...}}.',
        WRONG_SHAPE,
    ),
    "no_known_id": Message(
        "평가 데이터에 있는 id가 파일에 하나도 없습니다(평가 데이터의 id 예: «{example}»). id를 확인해 주십시오.",
        "None of the ids in the file is in the test set (one of its ids: «{example}»). Check the ids.",
        ID_MISMATCH,
    ),
    "too_many_references": Message(
        "한 항목의 정답 설명문이 {limit}개를 넘습니다. {limit}개까지만 남겨 주십시오.",
        "An item has more than {limit} reference captions. Keep at most {limit}.",
        WRONG_SHAPE,
    ),
    "tsv_no_tab": Message(
        "TSV의 줄에 탭이 없습니다. 아이디와 설명문 사이에 탭을 하나 넣어 주십시오"
        "(설명문 안에서는 줄을 바꿀 수 없습니다).",
        "A line of TSV has no tab. Put one between id and caption; a caption cannot hold a line break.",
        WRONG_SHAPE,
    ),
    "tsv_extra_tabs": Message(
        "TSV의 줄이 {found}칸입니다. 아이디와 설명문 두 칸만 남기고, 설명문 안의 탭은 공백으로 바꾸어 주십시오.",
        "A line of TSV has {found} columns. Keep id and caption, and write a space for a tab inside a caption.",
        WRONG_SHAPE,
    ),
    "tsv_header": Message(
        "TSV의 머리줄이 다릅니다. 첫 줄은 id와 caption을 탭으로 나누어 적거나 지워 주십시오.",
        "The header of the TSV is not right. Write id and caption with a tab between them, or delete the line.",
        WRONG_SHAPE,
    ),
    "tsv_quoted": Message(
        "TSV의 칸이 큰따옴표로 묶여 있습니다. 큰따옴표는 글자로 읽히므로, 묶지 말고 저장해 주십시오"
        "(파이썬 csv: quoting=csv.QUOTE_NONE).",
        "A field of the TSV is wrapped in double quotes, which count as text here. "
        "Save without them (Python csv: quoting=csv.QUOTE_NONE).",
        WRONG_SHAPE,
    ),
}

# The codes are those of ``scoring.text.answers.UnreadableAnswer``.
_ANSWERS: Final[dict[str, Message]] = {
    "bad_label_list": Message(
        '분류 목록을 읽을 수 없습니다. ["분류", "분류"] 꼴의 문자열 배열로 적어 주십시오.',
        'The list of labels cannot be read. Write an array of strings, such as ["label", "label"].',
        WRONG_SHAPE,
    ),
    "too_many_labels": Message(
        "한 항목의 분류가 {limit}개를 넘습니다. 반복된 출력인지 확인하고 줄여 주십시오.",
        "An item has more than {limit} labels. Look for repeated output and shorten the list.",
        WRONG_SHAPE,
    ),
    "not_decimal": Message(
        "숫자가 아닙니다. 3.5처럼 유한한 십진수 하나만 적어 주십시오.",
        "This is not a number. Write one finite decimal number, such as 3.5.",
        WRONG_SHAPE,
    ),
    "number_out_of_range": Message(
        "숫자의 크기가 {limit}을(를) 넘습니다. 값을 확인해 주십시오.",
        "The number is beyond {limit} in size. Check the value.",
        WRONG_SHAPE,
    ),
}

CAPTION_MESSAGES: Final[dict[str, Message]] = {**_FILES, **_ANSWERS}
