"""What can be wrong with a file as bytes and as JSON."""

from __future__ import annotations

from typing import Final

from scoring.messages.language import NOT_JSON, WRONG_SHAPE, Message

BYTES: Final[dict[str, Message]] = {
    "other_task_file": Message(
        "{task} 파일로 보입니다. 이 자리에는 {meant} 파일이 필요합니다. 대회와 과제, 파일을 바르게 골랐는지 확인해 "
        "주십시오.",
        "This looks like {task}; needed here is {meant}. See whether competition, task and file are the right ones.",
        WRONG_SHAPE,
    ),
    "empty_file": Message(
        "파일이 비어 있습니다(0바이트). 답을 저장한 파일을 다시 올려 주십시오.",
        "The file is empty (0 bytes). Upload the file that holds your answers.",
        NOT_JSON,
    ),
    "blank_file": Message(
        "파일에 공백만 있고 내용이 없습니다. 답을 저장한 파일을 다시 올려 주십시오.",
        "The file holds only white space. Upload the file that holds your answers.",
        NOT_JSON,
    ),
    "too_many_bytes": Message(
        "파일이 너무 큽니다({size:,}바이트, 최대 {limit:,}바이트). 제출에 필요한 항목만 남겨 주십시오.",
        "The file is too big ({size:,} bytes, at most {limit:,}). Keep only what a submission needs.",
    ),
    "not_a_text_file": Message(
        "{kind}로 보입니다. 압축을 풀거나 변환하여 JSON 또는 JSONL 파일을 올려 주십시오.",
        "This looks like {kind}. Unpack or convert it and upload a JSON or JSONL file.",
        NOT_JSON,
    ),
    "cp949": Message(
        "CP949로 저장된 파일로 보입니다. UTF-8로 다시 저장해 주십시오(메모장: 다른 이름으로 저장 → 인코딩 UTF-8).",
        "The file looks saved as CP949 (EUC-KR). Save it again as UTF-8.",
        NOT_JSON,
    ),
    "utf16": Message(
        "파일의 인코딩이 {encoding}입니다. UTF-8로 다시 저장해 주십시오(엑셀의 ‘유니코드 텍스트’가 UTF-16입니다).",
        "The file looks saved as {encoding}. Save it again as UTF-8.",
        NOT_JSON,
    ),
    "cut_off": Message(
        "파일이 글자 중간에서 끝났습니다({size:,}바이트). 저장이나 전송이 끊긴 것이니 다시 만들어 올려 주십시오.",
        "The file ends in the middle of a character ({size:,} bytes): it was cut off. Make it again.",
        NOT_JSON,
    ),
    "invalid_utf8": Message(
        "UTF-8이 아닌 바이트가 있습니다({byte}, 파일의 {offset:,}번째 바이트). UTF-8로 다시 저장해 주십시오.",
        "Byte {byte} is not UTF-8 (byte number {offset:,} of the file). Save the file again as UTF-8.",
        NOT_JSON,
    ),
}

SYNTAX: Final[dict[str, Message]] = {
    "not_json": Message(
        "JSON은 [ 또는 {{ 기호로 시작해야 합니다{near}. 예시 파일의 형식에 맞추어 저장해 주십시오.",
        "JSON starts with [ or {{, and this does not{near}. Save the file in the format of the sample.",
        NOT_JSON,
    ),
    "json_syntax": Message(
        "{column}번째 글자에서 JSON 문법에 어긋납니다{near}. 이 자리를 예시 파일의 형식에 맞게 고쳐 주십시오.",
        "Not valid JSON at character {column}{near}. Mend this place after the sample file.",
        NOT_JSON,
    ),
    "truncated_json": Message(
        "JSON이 중간에서 끊겼습니다{near}. 닫는 괄호나 따옴표가 빠졌는지, 파일이 끝까지 저장되었는지 확인해 주십시오.",
        "The JSON stops midway{near}. Look for a missing bracket or quote, or a file not saved to its end.",
        NOT_JSON,
    ),
    "trailing_comma": Message(
        "마지막 값 뒤에 쉼표가 남아 있습니다({column}번째 글자){near}. 닫는 괄호 앞의 쉼표를 지워 주십시오.",
        "A comma is left after the last value (character {column}){near}. Delete the comma before the bracket.",
        NOT_JSON,
    ),
    "trailing_text": Message(
        "JSON 값이 끝난 뒤에 다른 내용이 더 있습니다({column}번째 글자){near}. "
        "항목 전체를 배열 [...] 하나로 묶거나, 한 줄에 항목 하나씩(JSONL) 적어 주십시오.",
        "More text follows the end of the JSON value (character {column}){near}. "
        "Put all items into one array [...], or write one item a line (JSONL).",
        NOT_JSON,
    ),
    "line_comma": Message(
        "JSONL의 줄 끝에 쉼표가 있습니다. 쉼표를 지우거나, 항목 전체를 [ ] 로 묶어 JSON 배열로 만들어 주십시오.",
        "A line of JSONL ends in a comma. Delete it, or put all items between [ and ] as a JSON array.",
        NOT_JSON,
    ),
    "python_notation": Message(
        "JSON이 아니라 파이썬 표기입니다({column}번째 글자){near}. "
        "작은따옴표·True·None 대신 json.dump로 저장해 주십시오(큰따옴표·true·null).",
        "This is Python notation, not JSON (character {column}){near}. "
        "Save with json.dump (double quotes, true, null) instead of str() or print().",
        NOT_JSON,
    ),
    "missing_comma": Message(
        "{column}번째 글자에 쉼표가 필요합니다{near}. "
        '앞 값 뒤에 쉼표를 넣거나, 문자열 안의 큰따옴표를 \\" 로 적어 주십시오.',
        "A comma is expected at character {column}{near}. "
        'Put one after the value before, or write a double quote inside a string as \\".',
        NOT_JSON,
    ),
    "missing_colon": Message(
        "{column}번째 글자에 쌍점(:)이 필요합니다{near}. 키와 값 사이에 쌍점을 넣어 주십시오.",
        "A colon is expected at character {column}{near}. Put one between the key and its value.",
        NOT_JSON,
    ),
    "raw_control": Message(
        "문자열 안에 줄바꿈이나 탭 같은 제어 문자가 그대로 들어 있습니다({column}번째 글자){near}. "
        "닫는 따옴표가 빠졌는지 보고, 줄바꿈은 \\n, 탭은 \\t 로 적어 주십시오.",
        "A string holds a raw line break, tab or other control character (character {column}){near}. "
        "Look for a missing closing quote; write a line break as \\n and a tab as \\t.",
        NOT_JSON,
    ),
    "bad_escape": Message(
        "문자열의 역슬래시(\\) 표기가 잘못되었습니다({column}번째 글자){near}. 역슬래시 자체는 \\\\ 로 적어 주십시오.",
        "A backslash escape in a string is wrong (character {column}){near}. Write a backslash itself as \\\\.",
        NOT_JSON,
    ),
    "curly_quotes": Message(
        '문서 편집기의 둥근따옴표입니다({column}번째 글자){near}. 곧은 큰따옴표(")로 바꾸어 주십시오.',
        'These are the curly quotes of a word processor (character {column}){near}. Write straight double quotes (").',
        NOT_JSON,
    ),
    "comment": Message(
        "JSON에는 주석을 쓸 수 없습니다({column}번째 글자){near}. 주석을 지워 주십시오.",
        "JSON has no comments (character {column}){near}. Delete the comment.",
        NOT_JSON,
    ),
    "not_a_number": Message(
        "NaN과 Infinity는 JSON 값이 아닙니다({literal}). 문자열이나 유한한 숫자로 바꾸어 주십시오.",
        "{literal} is not a JSON value. Write a string or a finite number.",
        NOT_JSON,
    ),
    "number_too_large": Message(
        "숫자가 너무 큽니다({length:,}글자). 문자열로 적거나 값을 확인해 주십시오.",
        "A number is too large ({length:,} characters). Write it as a string or check the value.",
        WRONG_SHAPE,
    ),
    "duplicate_key": Message(
        "한 객체 안에 같은 키가 두 번 나옵니다(«{key}»). 하나만 남겨 주십시오.",
        "The key «{key}» is twice in one object. Keep one.",
        WRONG_SHAPE,
    ),
    "too_deep": Message(
        "괄호가 {limit}겹보다 깊이 겹쳐 있습니다. 예시 파일의 구조에 맞추어 주십시오.",
        "Brackets are nested more than {limit} deep. Follow the structure of the sample file.",
        WRONG_SHAPE,
    ),
    "too_many_values": Message(
        "파일에 든 값이 너무 많습니다(최대 약 {limit:,}개). 제출에 필요한 키만 남겨 주십시오.",
        "The file holds too many values (at most about {limit:,}). Keep only the keys a submission needs.",
        WRONG_SHAPE,
    ),
    "check_too_long": Message(
        "파일을 {seconds}초 안에 검사하지 못해 멈추었습니다. 파일의 구조와 크기를 예시 파일에 맞추어 주십시오.",
        "The file could not be checked within {seconds} seconds. Follow the structure and size of the sample file.",
        WRONG_SHAPE,
    ),
    "check_too_much_memory": Message(
        "파일을 검사하는 데 메모리가 너무 많이 들어 멈추었습니다. 파일의 구조와 크기를 예시 파일에 맞추어 주십시오.",
        "Checking the file took too much memory. Follow the structure and size of the sample file.",
        WRONG_SHAPE,
    ),
    "too_many_items": Message(
        "항목이 {limit:,}개를 넘습니다. 한 파일에 {limit:,}개까지만 담아 주십시오. 이 줄부터는 검사하지 않았습니다.",
        "There are more than {limit:,} items. Keep at most so many in a file; from this line on nothing was checked.",
        WRONG_SHAPE,
    ),
    "top_level_type": Message(
        "파일 전체가 {found} 하나입니다. 항목 객체의 배열이어야 합니다. 예시 파일을 확인해 주십시오.",
        "The whole file is {found}; it must be an array of item objects. See the sample file.",
        WRONG_SHAPE,
    ),
    "no_item_list": Message(
        '최상위 객체에 항목 배열이 없습니다. [{{"id": ..., "output": {{"answer": ...}}}}, ...] 꼴로 저장해 주십시오.',
        'The top object holds no list of items. Save as [{{"id": ..., "output": {{"answer": ...}}}}, ...].',
        WRONG_SHAPE,
    ),
    "several_lists": Message(
        "최상위 객체에 배열이 둘 이상입니다(«{key}»). 항목 배열 하나만 남겨 주십시오.",
        "The top object holds more than one array («{key}»). Keep only the list of items.",
        WRONG_SHAPE,
    ),
    "no_items": Message(
        "배열에 항목이 하나도 없습니다. 모든 문항을 답과 함께 적어 주십시오.",
        "The list has no items. Write every item with its answer.",
        WRONG_SHAPE,
    ),
}
