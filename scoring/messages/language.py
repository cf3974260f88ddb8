"""What messages are made of: Korean and English, with the contest's five official messages verbatim.

A sentence says what happened and then what to do; where it happened (line, id, field) is in ``FileError``. Parameters
are filled with ``str.format``. Those named in ``TERM_PARAMS`` hold a key of ``TERMS`` and are translated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from scoring.particles import fitted

Language = Literal["ko", "en"]

COUNT_DIFFERS: Final = "제출 파일과 정답 파일의 데이터 개수가 서로 다름"
ID_MISMATCH: Final = "제출 파일과 정답 파일의 id가 일치하지 않음"
DUPLICATE_ID: Final = "정답 데이터에 중복된 id를 가지는 경우 존재"
NOT_JSON: Final = "파일 형식 오류 - json, 또는 jsonl 형식이 아님"
WRONG_SHAPE: Final = "파일 형식 오류 - 데이터 형태가 제출 기준과 다름"


@dataclass(frozen=True, slots=True)
class Message:
    """One text in both languages; ``official`` is the contest's own message for this kind of defect, if it has one."""

    ko: str
    en: str
    official: str | None = None

    def text(self, language: Language) -> str:
        return self.ko if language == "ko" else self.en

    def filled(self, language: Language, /, **params: Any) -> str:
        """The text with ``params``, Korean particles chosen by what stands before them."""
        text = self.text(language).format(**params)
        return fitted(text) if language == "ko" else text


TERMS: Final[dict[str, tuple[str, str]]] = {
    "string": ("문자열", "a string"),
    "number": ("숫자", "a number"),
    "decimal": ("소수", "a decimal number"),
    "boolean": ("true/false", "true/false"),
    "null": ("null", "null"),
    "list": ("배열 [...]", "an array [...]"),
    "object": ("객체 {...}", "an object {...}"),
    "string_or_integer": ("문자열 또는 정수", "a string or an integer"),
    "string_or_list": ("문자열 또는 문자열 배열", "a string or an array of strings"),
    "labels": (
        '문자열, 문자열 배열, 또는 {"분류": "True"} 꼴의 객체',
        'a string, an array of strings, or an object such as {"label": "True"}',
    ),
    "string_or_object": ("문자열 또는 객체 {...}", "a string or an object {...}"),
    "trait": ('객체 {"score": 4, "rationale": "..."}', 'an object {"score": 4, "rationale": "..."}'),
    "reference_score": (
        '객체 {"content": ..., "organization": ..., "expression": ..., "average": ...}',
        'an object {"content": ..., "organization": ..., "expression": ..., "average": ...}',
    ),
    "number_or_string": ("숫자 또는 숫자로 된 문자열", "a number, or a string that is one"),
    "zip": ("ZIP 압축 파일", "a ZIP archive"),
    "office": ("엑셀·워드·한글 문서", "an Excel, Word or Hangul document"),
    "archive": ("gz·7z·rar 같은 압축 파일", "a compressed file (gz, 7z, rar or the like)"),
    "pdf": ("PDF 문서", "a PDF document"),
    "image": ("그림 파일", "an image"),
    "html": ("HTML 웹 페이지", "an HTML page"),
    "xml": ("XML 문서", "an XML document"),
    "table": ("Parquet·Arrow·SQLite 데이터 파일", "a Parquet, Arrow or SQLite data file"),
    "program": ("피클·NumPy·HDF5 같은 프로그램 저장 파일", "a pickle, NumPy or HDF5 file"),
    # kinds of files: keys of ``scoring.reading.other_tasks``
    "answers_file": ("질문의 답을 적은(output)", "a file of answers to questions (output)"),
    "captions_file": ("장면이나 그림의 설명을 적은(caption)", "a file of captions"),
    "essays_file": (
        "글의 예측 점수를 적은(content, organization, expression)",
        "a file of predicted scores of essays (content, organization, expression)",
    ),
    "essay_references_file": (
        "글과 정답 점수를 적은(essay, score)",
        "a file of references of essay scoring (essay, score)",
    ),
}
TERM_PARAMS: Final = frozenset({"expected", "found", "kind", "task", "meant"})


def term(name: str, value: Any, language: Language) -> Any:
    """``value`` as a reader of ``language`` should see it; only the parameters of ``TERM_PARAMS`` are translated."""
    if name in TERM_PARAMS and isinstance(value, str) and value in TERMS:
        korean, english = TERMS[value]
        return korean if language == "ko" else english
    return value
