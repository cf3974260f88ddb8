"""The starter notebook of a track: it reads the questions, writes answers in the official format, has them checked.

It needs Python alone; what it asks of the site is the file of questions and the command ``malpan``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.competitions.data_facts import DataFacts, facts_of_files
from malpan.competitions.models import DataFile, Track
from malpan.competitions.references import recipe_of
from scoring.reading.answer_forms import text_of

ANSWERS: Final = "answers.json"
_ENDINGS: Final = (".json", ".jsonl")
_TRAIT: Final = '{"score": 3, "rationale": TEXT}'
_ESSAY: Final = f'{{"content": {_TRAIT}, "organization": {_TRAIT}, "expression": {_TRAIT}}}'
_ANSWERS: Final = {  # what an answer may be, by the form of the recipe; a list of targets is of each question's own
    "text": '{"output": {"answer": TEXT}}',
    "texts": '{"output": {"answer": TEXT}}',
    "choice": '{"output": {"answer": "1"}}',
    "label": '{"output": {"answer": "1"}}',
    "labels": '{"output": {"answer": ["1"]}}',
    "number": '{"output": {"answer": 0}}',
    "opinions": '{"output": [["본품#품질", "positive"]]}',
    "essay": _ESSAY,
    "captions": '{"caption": TEXT}',
}
_READ: Final = """\
text = QUESTIONS.read_text(encoding="utf-8-sig")
lines = (line for line in text.split("\\n") if line.strip())
items = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in lines]
print(len(items))
items[0]"""
_WRITE: Final = """\
rows = [{"id": item["id"], **answer(item)} for item in items]
ANSWERS.write_text(json.dumps(rows, ensure_ascii=False, indent=2), encoding="utf-8")
rows[0]"""
_CHECK: Final = """\
if "MALPAN_TOKEN" not in os.environ:
    os.environ["MALPAN_TOKEN"] = getpass("MALPAN_TOKEN: ")
words = [sys.executable, "malpan.py", "check", PLACE, str(ANSWERS)]
variables = {**os.environ, "MALPAN_SITE": SITE, "PYTHONUTF8": "1"}
done = subprocess.run(words, env=variables, capture_output=True, encoding="utf-8")
print(done.stdout + done.stderr)"""


def questions_of(track: Track, files: Sequence[DataFile]) -> DataFile | None:
    """The file of ``track`` that its notebook reads: the first of data in JSON whose items have an ``id``. ``None``: it
    has no notebook.
    """
    if _form(track) not in _ANSWERS:
        return None
    data = [file for file in files if file.kind == DataFile.Kind.DATA and file.file_name.lower().endswith(_ENDINGS)]
    facts = facts_of_files(data)
    return next((file for file in data if file.pk in facts and _has_ids(facts[file.pk])), None)


def _has_ids(facts: DataFacts) -> bool:
    return any(field.name == "id" for field in facts.fields)


def starter_notebook(track: Track, questions: str, addresses: dict[str, str], site: str) -> dict[str, Any]:
    """The notebook in the reader's language. ``addresses``: of the files on ``site`` that it needs, by name; among them
    ``questions``.
    """
    place = f"{track.competition.slug}/{track.slug}"
    names = [
        "import json\nimport os\nimport subprocess\nimport sys",
        "from getpass import getpass\nfrom pathlib import Path\nfrom urllib.request import urlretrieve\n",
        f"SITE = {site!r}\nPLACE = {place!r}\nQUESTIONS = Path({questions!r})\nANSWERS = Path({ANSWERS!r})\n",
        f"for name, address in {addresses!r}.items():",
        "    if not Path(name).exists():\n        urlretrieve(SITE + address, name)",
    ]
    written = _("여기에 답을 쓰세요.")
    answer = [f"TEXT = {written!r}\n\n", "def answer(item):", f"    return {_ANSWERS[_form(track)]}"]
    submit = f"python malpan.py submit {place} {ANSWERS} --wait"
    cells = [
        _text(
            f"# {track.competition.title} · {track.title}",
            _("문제 파일을 읽고, 공식 형식의 답변 파일을 쓰고, 제출하기 전에 검사합니다."),
            _("파이썬 3.9 이상이면 되고 따로 설치할 것은 없습니다."),
        ),
        _code("\n".join(names)),
        _text(_("## 문제 읽기")),
        _code(_READ),
        _text(_("## 답 쓰기"), _("`answer`를 여러분의 모델로 바꾸십시오. 지금은 모든 문항에 같은 답을 합니다.")),
        _code("\n".join(answer)),
        _code(_WRITE),
        _text(
            _("## 검사하기"),
            _("제출 횟수를 쓰지 않습니다. %(address)s에서 만든 토큰이 필요합니다.") % {"address": f"{site}/tokens/"},
        ),
        _code(_CHECK),
        _text(_("## 제출하기"), f"```\n{submit}\n```"),
    ]
    return {
        "cells": [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells, 1)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _form(track: Track) -> str:
    recipe = recipe_of(track)
    return "captions" if recipe.answer_form == "captions" else text_of(recipe)


def _text(*paragraphs: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(paragraphs).splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}
