"""What can be wrong with a file of scored essays alone."""

from __future__ import annotations

from typing import Final

from scoring.messages.language import ID_MISMATCH, WRONG_SHAPE, Message

ESSAYS: Final[dict[str, Message]] = {
    "essay_not_object": Message(
        '항목은 객체여야 하는데 {found}입니다. {{"id": "...", "content": {{"score": 4, "rationale": "..."}}, '
        '"organization": ..., "expression": ...}} 꼴로 적어 주십시오.',
        'An item must be an object, not {found}. Write {{"id": "...", "content": {{"score": 4, "rationale": "..."}}, '
        '"organization": ..., "expression": ...}}.',
        WRONG_SHAPE,
    ),
    "reference_essay_not_object": Message(
        '항목은 객체여야 하는데 {found}입니다. {{"id": "...", "essay": "...", "score": {{"content": 3.4, '
        '"organization": 3.25, "expression": 3.75, "average": 3.467}}}} 꼴로 적어 주십시오.',
        'An item must be an object, not {found}. Write {{"id": "...", "essay": "...", "score": {{"content": 3.4, '
        '"organization": 3.25, "expression": 3.75, "average": 3.467}}}}.',
        WRONG_SHAPE,
    ),
    "missing_essay": Message(
        "평가 데이터에 있는 이 글의 예측이 파일에 없습니다. 세 영역의 점수를 적어 주십시오. 모델이 답하지 못한 글이면 "
        '"output": ""로 적으며, 예측값 0으로 채점합니다.',
        "The file holds no prediction for this essay of the test set. Add the scores of its three traits. Where the "
        'model gave no answer write "output": "", which is scored as the prediction 0.',
        ID_MISMATCH,
    ),
    "no_trait_scores_at_all": Message(
        "어느 글에도 예측 점수가 없습니다. 받은 그대로의 평가 데이터로 보입니다. 글마다 content, organization, "
        'expression을 {{"score": 4, "rationale": "..."}} 꼴로 적어 주십시오.',
        "No essay has predicted scores: this looks like the test set as handed out. Add content, organization and "
        'expression to every essay, each as {{"score": 4, "rationale": "..."}}.',
        WRONG_SHAPE,
    ),
    "no_reference_scores": Message(
        "어느 글에도 점수(score)가 없습니다. 글쓰기 채점의 정답 파일은 글마다 essay와 score를 담은 JSON 배열 또는 "
        'JSONL이며, score는 {{"content": 3.4, "organization": 3.25, "expression": 3.75, "average": 3.467}} 꼴입니다. '
        "사람이 매긴 점수가 든 파일을 주십시오.",
        "No essay has a score. References of essay scoring are a JSON array or JSONL of essays, each with essay and "
        'score, such as {{"content": 3.4, "organization": 3.25, "expression": 3.75, "average": 3.467}}. Give the file '
        "that holds the scores of people.",
        WRONG_SHAPE,
    ),
    "ambiguous_id": Message(
        "«{name}»이(가) 어느 글인지 알 수 없습니다. 평가 데이터에서 여러 글의 document_id이거나, 한 글의 id이면서 다른 "
        "글의 document_id입니다. 평가 데이터의 id를 id 키에 적어 주십시오.",
        "Which essay «{name}» is cannot be told: in the test set it is the document_id of several, or the id of one "
        "and the document_id of another. Write the id of the test set under id.",
        ID_MISMATCH,
    ),
    "ids_disagree": Message(
        "한 항목의 {names}이(가) 평가 데이터에서 서로 다른 글을 가리킵니다. 하나만 남기거나 고쳐 주십시오.",
        "In the test set the {names} of this item name different essays. Keep one of them, or correct it.",
        ID_MISMATCH,
    ),
    "no_trait_scores": Message(
        '점수가 없습니다. content, organization, expression을 각각 {{"score": 4, "rationale": "..."}} 꼴로 항목에 바로 '
        "또는 judge 안에 적거나, 모델이 낸 글을 그대로 output에 적어 주십시오. 모델이 답하지 못한 글은 output에 빈 "
        "문자열을 적으면 예측값 0으로 채점합니다.",
        'There are no scores. Write content, organization and expression, each as {{"score": 4, "rationale": "..."}}, '
        "in the item or under judge, or the text of a model as it is under output. An empty string under output is "
        "scored as the prediction 0.",
        WRONG_SHAPE,
    ),
    "several_answers": Message(
        "점수가 여러 곳에 있어 어느 것을 채점할지 알 수 없습니다({places}). 한 곳만 남겨 주십시오.",
        "There are scores at several places ({places}), and which to take is not clear. Keep one.",
        WRONG_SHAPE,
    ),
    "agreement_output": Message(
        "judge-agreement가 쓴 일치도 파일입니다. 그것을 계산할 때 쓴 사람 점수 파일"
        '(문항마다 {{"id": ..., "score": 1~5}}, HUMAN.json)을 주십시오.',
        "This is the agreement that judge-agreement wrote. Give the file of the people's scores that it was computed "
        'from ({{"id": ..., "score": 1-5}} for each item, HUMAN.json).',
        WRONG_SHAPE,
    ),
    "score_out_of_range": Message(
        "점수가 {low}점에서 {high}점 사이가 아닙니다. {low}~{high}의 숫자로 고쳐 주십시오.",
        "The score is not between {low} and {high}. Correct it.",
        WRONG_SHAPE,
    ),
}
