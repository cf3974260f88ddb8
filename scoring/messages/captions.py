"""What can be wrong with a file of captions alone."""

from __future__ import annotations

from typing import Final

from scoring.messages.language import ID_MISMATCH, NOT_JSON, WRONG_SHAPE, Message

CAPTIONS: Final[dict[str, Message]] = {
    "no_caption_format": Message(
        "설명문 파일의 형식을 알 수 없습니다{near}. "
        '{{"아이디": "설명문"}} 꼴의 JSON, JSONL, 아이디와 설명문을 탭으로 나눈 TSV, '
        "또는 머리줄(image_id,caption)이 있는 CSV로 저장해 주십시오.",
        "This is no format of captions{near}. "
        'Save as JSON such as {{"id": "caption"}}, as JSONL, as TSV with a tab between id and caption, '
        "or as CSV with a header line (image_id,caption).",
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
        "평가 데이터에 있는 id가 파일에 하나도 없습니다(평가 데이터의 id 예: «{example}»). 다른 대회나 과제의 파일이 "
        "아닌지, id를 바꾸어 적지 않았는지 확인해 주십시오.",
        "None of the ids in the file is in the test set (one of its ids: «{example}»). See whether the file is one of "
        "another competition or task, and whether its ids are those handed out.",
        ID_MISMATCH,
    ),
    "same_without_ending": Message(
        "«{first}»({first_line:,}번째 줄)와 «{second}»은(는) 폴더와 확장자를 떼면 같은 id(«{id}»)가 됩니다. "
        "서로 다른 항목이면 id를 다르게 짓고, 같은 항목이면 id를 똑같이 적어 주십시오.",
        "«{first}» (line {first_line:,}) and «{second}» become one id («{id}») without folders and endings. "
        "Name them apart if they are two items; write the id the same way if they are one.",
    ),
    "several_captions": Message(
        "한 항목에 설명문이 {count:,}개 있습니다. 제출 파일은 항목마다 설명문 하나를 채점하므로 하나만 남겨 주십시오.",
        "One item has {count:,} captions. A submitted file has one for each item, which is scored: keep one.",
        WRONG_SHAPE,
    ),
    "ambiguous_name": Message(
        "«{name}»이(가) 어느 항목인지 알 수 없습니다. 평가 데이터에서 여러 항목의 파일 이름이거나, 한 항목의 id이면서 "
        "다른 항목의 파일 이름입니다. id는 image_id 키에, 파일 이름은 file_name 키에 적어 주십시오.",
        "Which item «{name}» is cannot be told: in the test set it is the file name of several items, or the id of one "
        "and the file name of another. Write an id under image_id, a file name under file_name.",
        ID_MISMATCH,
    ),
    "table_columns": Message(
        "줄이 {found:,}칸인데 머리줄은 {expected:,}칸입니다. 칸 수를 맞추고, CSV라면 쉼표가 든 설명문을 큰따옴표로 "
        "묶어 주십시오.",
        "The row has {found:,} columns, the header line {expected:,}. Make them equal; in CSV, put a caption that "
        "holds a comma between double quotes.",
        WRONG_SHAPE,
    ),
    "csv_header": Message(
        "CSV의 머리줄에 id 열이나 설명문 열이 없습니다. id 열(image_id, file_name, image 등)과 설명문 열(caption, "
        "comment, sentence 등)의 이름을 모두 적어 주십시오.",
        "The header line of the CSV lacks a column. Name one of ids (image_id, file_name, image or the like) and one "
        "of captions (caption, comment, sentence or the like).",
        WRONG_SHAPE,
    ),
    "csv_quotes": Message(
        "이 줄에서 시작하는 CSV 행의 큰따옴표가 짝이 맞지 않거나 한 칸이 너무 깁니다. 칸 안의 큰따옴표는 두 번 적어 "
        "주십시오.",
        "In the CSV row that begins in this line double quotes do not match, or a field is too long. Write a double "
        "quote inside a field twice.",
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
        "TSV의 머리줄이 다릅니다. 첫 줄에 id 열과 caption 열을 탭으로 나누어 적거나, 첫 줄을 지워 주십시오.",
        "The header of the TSV is not right. Name a column id and one caption, with a tab between, or delete the line.",
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
