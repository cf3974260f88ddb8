"""The forms of answers in the official format, with the years and tasks that use them: for pages and tests.

``answer_checks`` reads them. An example is one item of a predictions file; ``reference`` is shown where that of a file
of references differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from scoring.recipes import Recipe

AnswerText = Literal["text", "texts", "choice", "label", "labels", "number", "targets", "opinions", "essay"]


@dataclass(frozen=True, slots=True)
class FormOfYears:
    """How files of some ``years`` write an answer. ``tasks`` have Korean names only."""

    text: AnswerText
    years: str
    tasks: str
    example: str
    reference: str = ""


_OFFICIAL_2025: Final = '{"id": "1", "input": {…}, "output": {"answer": "…"}}'
_PLAIN: Final = '{"id": "…-000001", "input": {…}, "output": "…"}'
_SCORED: Final = '{"score": 4, "rationale": "…"}'
_TRAITS: Final = f'"content": {_SCORED}, "organization": {_SCORED}, "expression": {_SCORED}'
_ESSAY_TRAITS: Final = f'{{"id": "…", {_TRAITS}}}'
_ESSAY_JUDGE: Final = f'{{"document_id": "…", "judge": {{{_TRAITS}}}}}'
_ESSAY_OUTPUT: Final = '{"essay_id": "…", "output": "{\\"content\\": {\\"score\\": 4, \\"rationale\\": \\"…\\"}, …}"}'
_ESSAY_REFERENCE: Final = (
    '{"id": "…", "document_id": "…", "prompt_num": "…", "prompt": "…", "essay": "…",\n '
    '"score": {"content": 3.4, "organization": 3.25, "expression": 3.75, "average": 3.467}}'
)

FORMS: Final = (
    FormOfYears("text", "2025", "한국어 어문 규범 기반 생성", _OFFICIAL_2025),
    FormOfYears(
        "text",
        "2023-2025",
        "이야기 완성, 일상 대화 요약, 국회 회의록 안건별 요약, 함의분석 결과 설명문 생성",
        _PLAIN,
    ),
    FormOfYears("choice", "2025", "한국문화 질의응답", '{"id": "1", "input": {…}, "output": {"answer": "3"}}'),
    FormOfYears(
        "texts",
        "2022-2023",
        "표 기반 문장 생성, 그림(사진) 기반 문장 생성",
        '{"id": "…-000001", "input": "K0A0001", "output": "…"}',
        '{"id": "…-000001", "input": "K0A0001", "output": ["…", "…", "…"]}',
    ),
    FormOfYears(
        "label",
        "2023-2025",
        "부적절성 문장에 대한 태도 탐지, 대화 맥락 추론, 문장 연결 추론, 일상 대화 연결, 국어문법 질의응답, "
        "문장 간 논리 관계 판별",
        '{"id": "…-000001", "input": {…}, "output": "inference_2"}',
    ),
    FormOfYears("label", "2022", "혐오 표현 탐지", '{"id": "…-000001", "input": "…", "output": 1}'),
    FormOfYears(
        "labels",
        "2023",
        "감정 분석",
        '{"id": "…-000001", "input": {…}, "output": {"joy": "True", "anger": "False", …}}',
    ),
    FormOfYears("number", "2022", "자연어 추론", '{"id": "…-000001", "input": {…}, "output": "6.375"}'),
    FormOfYears(
        "targets",
        "2024-2025",
        "부적절 발언 탐지, 대화 맥락 기반 부적절 발언 탐지",
        '{"id": "…-000001", "input": {…}, "output": [{"id": "….1", "label": "…"}, …]}',
    ),
    FormOfYears(
        "opinions",
        "2022",
        "속성 기반 감성 분석",
        '{"id": "…-00001", "sentence_form": "…", "annotation": [["본품#품질", "negative"], …]}',
        '{"id": "…-00001", "sentence_form": "…", "annotation": [["본품#품질", ["기어", 16, 18], "negative"], …]}',
    ),
    FormOfYears("essay", "2026", "글쓰기 채점 능력 평가", _ESSAY_TRAITS, _ESSAY_REFERENCE),
    FormOfYears("essay", "2026", "글쓰기 채점 능력 평가(judge 안)", _ESSAY_JUDGE),
    FormOfYears("essay", "2026", "글쓰기 채점 능력 평가(모델이 낸 글 그대로)", _ESSAY_OUTPUT),
)


def text_of(recipe: Recipe, *, is_reference: bool = False) -> AnswerText:
    """What an answer of a file under ``recipe`` holds."""
    if recipe.answer_form == "labels":
        return "labels" if getattr(recipe, "is_multiple", True) else "label"
    if recipe.answer_form == "essays":
        return "essay"
    if recipe.answer_form in ("number", "targets", "opinions"):
        return recipe.answer_form
    if is_reference and recipe.takes_several_references:
        return "texts"
    return "choice" if recipe.has_choices else "text"


def forms_of(recipe: Recipe) -> tuple[FormOfYears, ...]:
    """The forms in which a file under ``recipe`` is read; none for captions, which have their own formats."""
    if recipe.answer_form == "captions":
        return ()
    texts = {text_of(recipe), text_of(recipe, is_reference=True)}
    return tuple(form for form in FORMS if form.text in texts)


def reference_forms_of(recipe: Recipe) -> tuple[FormOfYears, ...]:
    """The forms in which references under ``recipe`` are read, their ``reference`` or ``example`` as one item of them;
    none for captions. Scored essays have one form, whatever that of the predictions.
    """
    if recipe.answer_form == "captions":
        return ()
    text = text_of(recipe, is_reference=True)
    return tuple(form for form in FORMS if form.text == text and (form.reference or text != "essay"))
