"""What can be wrong with one item of a file: its id, its answer, and how the items match those of the references."""

from __future__ import annotations

from typing import Final

from scoring.messages.language import COUNT_DIFFERS, DUPLICATE_ID, ID_MISMATCH, WRONG_SHAPE, Message

ITEMS: Final[dict[str, Message]] = {
    "item_not_object": Message(
        '항목은 객체여야 하는데 {found}입니다. {{"id": ..., "output": {{"answer": ...}}}} 꼴로 적어 주십시오.',
        'An item must be an object, not {found}. Write {{"id": ..., "output": {{"answer": ...}}}}.',
        WRONG_SHAPE,
    ),
    "missing_field": Message(
        "필수 키가 없습니다. 항목에 이 키와 값을 넣어 주십시오.",
        "A required key is missing. Add the key and its value to the item.",
        WRONG_SHAPE,
    ),
    "misspelled_field": Message(
        "필수 키 «{needed}»이(가) 없고 비슷한 키 «{key}»이(가) 있습니다. 키 이름을 «{needed}»(으)로 고쳐 주십시오.",
        "The required key «{needed}» is missing; there is a similar «{key}». Rename it to «{needed}».",
        WRONG_SHAPE,
    ),
    "answer_outside_output": Message(
        '답이 output 밖에 있습니다. "output": {{"answer": ...}} 꼴로 output 안에 넣어 주십시오.',
        'The answer is outside output. Put it inside, as "output": {{"answer": ...}}.',
        WRONG_SHAPE,
    ),
    "no_answers": Message(
        "어느 항목에도 답이 없습니다. 받은 그대로의 문제 파일로 보입니다. 모든 항목에 답을 채워 주십시오.",
        "No item has an answer: this looks like the question file as handed out. Fill in the answer of every item.",
        WRONG_SHAPE,
    ),
    "no_reference_answers": Message(
        "어느 항목에도 정답이 없습니다. 정답이 하나도 없는 문제 파일로 보입니다. 정답이 든 파일을 주십시오.",
        "No item has a reference answer: this looks like a question file. Give the file that holds the answers.",
        WRONG_SHAPE,
    ),
    "wrong_type": Message(
        "값의 자료형이 다릅니다(필요: {expected}, 파일: {found}). 자료형을 바꾸어 주십시오.",
        "The value has the wrong type (needed: {expected}; in the file: {found}). Change its type.",
        WRONG_SHAPE,
    ),
    "empty_id": Message(
        "id가 비어 있습니다. 평가 데이터에 있는 id를 그대로 적어 주십시오.",
        "The id is empty. Copy the id from the test set.",
        ID_MISMATCH,
    ),
    "id_too_long": Message(
        "id가 너무 깁니다({length:,}자, 최대 {limit:,}자). 평가 데이터에 있는 id를 그대로 적어 주십시오.",
        "The id is too long ({length:,} characters, at most {limit:,}). Copy the id from the test set.",
        WRONG_SHAPE,
    ),
    "unknown_question_type": Message(
        "이 과제에 없는 문항 유형 «{value}»입니다. 다음 중 하나여야 합니다: {allowed}.",
        "«{value}» is no question type of this task. It must be one of: {allowed}.",
        WRONG_SHAPE,
    ),
    "empty_question": Message(
        "물음(input)이 비어 있습니다. 문항이 무엇을 묻는지 적어 주십시오.",
        "The question (input) is empty. Write what the item asks.",
        WRONG_SHAPE,
    ),
    "empty_reference": Message(
        "정답이 비어 있습니다. 정답 파일의 모든 항목에 정답을 적어 주십시오.",
        "The reference answer is empty. Give every item of the reference file an answer.",
        WRONG_SHAPE,
    ),
    "empty_alternative": Message(
        "정답으로 인정하는 답 가운데 빈 것이 있습니다(‘#’의 앞이나 뒤, 또는 따옴표 안). 빈 답변이 정답이 되지 않도록, "
        "남는 ‘#’을 지우거나 빠진 답을 적어 주십시오.",
        "One of the accepted answers is empty (before or after a #, or between quotation marks): a blank answer would "
        "be correct. Delete the # that is too many, or write the answer that is missing.",
        WRONG_SHAPE,
    ),
    "too_many_references": Message(
        "한 항목의 정답이 {limit}개를 넘습니다. {limit}개까지만 남겨 주십시오.",
        "An item has more than {limit} references. Keep at most {limit}.",
        WRONG_SHAPE,
    ),
    "bad_required": Message(
        "required가 낱말 목록이 아닙니다. 비어 있지 않은 낱말을 {limit}개까지 "
        '["우산", "빨간 모자#붉은 모자"] 꼴로 적어 주십시오.',
        'required is no list of words. Write at most {limit} words, none empty, such as ["umbrella", "red hat#cap"].',
        WRONG_SHAPE,
    ),
    "text_too_long": Message(
        "텍스트가 너무 깁니다({length:,}자, 최대 {limit:,}자). 반복된 출력인지 확인하고 줄여 주십시오.",
        "The text is too long ({length:,} characters, at most {limit:,}). Look for repeated output and shorten it.",
        WRONG_SHAPE,
    ),
    "too_many_marks": Message(
        "한 글자에 결합 부호가 {limit}개 넘게 붙어 있습니다. 깨진 출력인지 확인하고 지워 주십시오.",
        "More than {limit} combining marks are stacked on one character. Look for garbled output and remove them.",
        WRONG_SHAPE,
    ),
    "lone_surrogate": Message(
        "이모지가 잘려 짝이 없는 문자가 있습니다({character}, {position:,}번째 글자). 지우거나 고쳐 주십시오.",
        "Lone surrogate {character} at character {position:,}: half of a cut emoji. Remove or repair it.",
        WRONG_SHAPE,
    ),
    "control_character": Message(
        "쓸 수 없는 제어 문자가 있습니다({character}, {position:,}번째 글자). 지워 주십시오.",
        "Control character {character} at character {position:,} is not allowed. Remove it.",
        WRONG_SHAPE,
    ),
}

MATCHING: Final[dict[str, Message]] = {
    "count_differs": Message(
        "항목이 제출 파일에는 {found:,}개, 평가 데이터에는 {expected:,}개입니다. 빠지거나 더한 항목을 확인해 주십시오.",
        "The file holds {found:,} items, the test set {expected:,}. Look for missing or added items.",
        COUNT_DIFFERS,
    ),
    "unknown_id": Message(
        "평가 데이터에 없는 id입니다. id를 고치거나 이 항목을 지워 주십시오.",
        "The test set has no such id. Correct the id or delete the item.",
        ID_MISMATCH,
    ),
    "padded_id": Message(
        "평가 데이터의 id는 «{known}»입니다. id 앞뒤의 공백을 지워 주십시오.",
        "The id in the test set is «{known}». Delete the white space around the id.",
        ID_MISMATCH,
    ),
    "missing_id": Message(
        "평가 데이터에 있는 이 id의 답이 파일에 없습니다. 답을 적어 주십시오(모르면 빈 문자열).",
        "The file holds no answer for this id of the test set. Add one (an empty string if you have none).",
        ID_MISMATCH,
    ),
    "missing_number": Message(
        "평가 데이터에 있는 이 id의 답이 파일에 없습니다. 숫자를 적어 주십시오(모르면 짐작한 값).",
        "The file holds no answer for this id of the test set. Add a number (a guess if you have none).",
        ID_MISMATCH,
    ),
    "missing_labels": Message(
        "평가 데이터에 있는 이 id의 답이 파일에 없습니다. 대상마다 분류를 적어 주십시오.",
        "The file holds no answer for this id of the test set. Add a label for each of its targets.",
        ID_MISMATCH,
    ),
    "missing_opinions": Message(
        "평가 데이터에 있는 이 id의 답이 파일에 없습니다. 의견의 배열을 적어 주십시오(모르면 빈 배열 []).",
        "The file holds no answer for this id of the test set. Add its opinions (an empty array [] if you have none).",
        ID_MISMATCH,
    ),
    "unmatched_id": Message(
        "평가 데이터에 있는 이 id의 항목을 찾지 못했습니다. "
        "id가 없거나 읽을 수 없는 항목 가운데 이 id의 것이 있으면 id를 적고, 없으면 답을 더해 주십시오.",
        "No item has this id of the test set. If one of the items whose id is absent or cannot be read is meant, "
        "give it the id; if not, add the answer.",
        ID_MISMATCH,
    ),
    # The contest's own words speak of the reference answers, so that only a file of references leads with them.
    "duplicate_id": Message(
        "제출 파일에 같은 id가 두 번 이상 있습니다(이미 {first_line:,}번째 줄에 있음). 항목마다 한 번만 적어 주십시오.",
        "The submitted file holds this id more than once (already in line {first_line:,}). Write each item once.",
    ),
    "duplicate_reference_id": Message(
        "같은 id가 이미 {first_line:,}번째 줄에 있습니다. 항목마다 한 번만 적어 주십시오.",
        "The same id is already in line {first_line:,}. Write each item once.",
        DUPLICATE_ID,
    ),
}

# The codes are those of ``scoring.text.answers.UnreadableAnswer``.
ANSWERS: Final[dict[str, Message]] = {
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
    "bad_truth_value": Message(
        '분류의 값이 "True"도 "False"도 아닙니다. 둘 가운데 하나로 적어 주십시오.',
        'The value of a label is neither "True" nor "False". Write one of the two.',
        WRONG_SHAPE,
    ),
    "duplicate_target": Message(
        "한 항목에 같은 대상 «{target}»이(가) 두 번 있습니다. 대상마다 한 번만 적어 주십시오.",
        "The item has the target «{target}» twice. Write each target once.",
        WRONG_SHAPE,
    ),
    "missing_target": Message(
        "평가 데이터에 있는 대상 {count:,}개의 답이 없습니다(«{targets}» 등). 대상마다 분류를 적어 주십시오.",
        "{count:,} targets of the test set have no label (such as «{targets}»). Add one for each.",
        ID_MISMATCH,
    ),
    "unknown_target": Message(
        "평가 데이터에 없는 대상이 {count:,}개 있습니다(«{targets}» 등). 대상의 id를 고치거나 지워 주십시오.",
        "{count:,} targets are not in the test set (such as «{targets}»). Correct their ids or delete them.",
        ID_MISMATCH,
    ),
    "bad_opinion": Message(
        '의견이 ["속성 범주", "극성"] 꼴이 아닙니다. 그 꼴로 적어 주십시오. 정답처럼 그 사이에 ["표현", 시작, 끝]이 '
        "있어도 됩니다.",
        'The opinion is not ["category", "polarity"]. Write it so; ["words", begin, end] between them, as in '
        "references, may stay.",
        WRONG_SHAPE,
    ),
    "too_many_parts": Message(
        "한 항목의 목록이 {limit:,}개를 넘습니다. 반복된 출력인지 확인하고 줄여 주십시오.",
        "The list of an item has more than {limit:,} elements. Look for repeated output and shorten it.",
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
