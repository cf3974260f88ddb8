"""What can be wrong with a file of captions alone."""

from __future__ import annotations

from typing import Final

from scoring.messages.language import ID_MISMATCH, NOT_JSON, WRONG_SHAPE, Message

CAPTIONS: Final[dict[str, Message]] = {
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
    "same_without_ending": Message(
        "«{first}»({first_line:,}번째 줄)와 «{second}»은(는) 확장자를 떼면 같은 id(«{id}»)가 됩니다. "
        "서로 다른 항목이면 id를 다르게 짓고, 같은 항목이면 id를 똑같이 적어 주십시오.",
        "«{first}» (line {first_line:,}) and «{second}» become one id («{id}») without their endings. "
        "Name them apart if they are two items; write the id the same way if they are one.",
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
