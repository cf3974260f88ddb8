"""Plug-ins: a metric, a recipe and a tokenizer from outside, through real entry points. The one of ``EXTENDING.md``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.scoring.texts import contest_json

EXTENDING = (ROOT / "scoring/EXTENDING.md").read_text(encoding="utf-8")
ROWS = [("1", "가나 다"), ("2", "책"), ("3", "물")]
ANSWERS = [("1", "가나 라"), ("2", "책"), ("3", "")]
EXPECTED = [2 / 4, 1.0, 0.0]


def block(name: str) -> str:
    """The code block of the document that begins with the line ``# name``."""
    found = re.search(rf"```\w+\n# {re.escape(name)}\n(.*?)```", EXTENDING, re.S)
    assert found is not None
    return found[1]


def install(folder: Path, code: str, project: str, version: str = "1.2") -> Path:
    """What a package manager would put there: the module and the metadata of the distribution."""
    described = tomllib.loads(project)["project"]
    folder.mkdir(exist_ok=True)
    (folder / "toy_metrics.py").write_text(code, encoding="utf-8")
    info = folder / f"{described['name'].replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {version}\n")
    groups = described["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def instrument(*arguments: str, site: Path | None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([*([str(site)] if site else []), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "scoring", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def score(folder: Path, site: Path | None, recipe: str = "toy@1") -> subprocess.CompletedProcess[str]:
    (folder / "R.json").write_text(contest_json(ROWS), encoding="utf-8")
    (folder / "P.json").write_text(contest_json(ANSWERS), encoding="utf-8")
    files = {"--references": "R.json", "--predictions": "P.json", "--output": "OUT.json"}
    named = [part for option, name in files.items() for part in (option, str(folder / name))]
    return instrument("score", "--recipe", recipe, *named, site=site)


def test_a_plug_in_scores_a_file_and_stands_in_its_signature(tmp_path: Path) -> None:
    site = install(tmp_path / "site", block("toy_metrics.py"), block("pyproject.toml"))
    done = score(tmp_path, site)

    assert done.returncode == 0, done.stderr
    out = json.loads((tmp_path / "OUT.json").read_text(encoding="utf-8"))
    assert out["recipe"] == "toy@1"
    assert [item["scores"]["letter_overlap"] for item in out["items"]] == EXPECTED
    assert out["final_score"] == out["scores"]["letter_overlap"] == sum(EXPECTED) / 3
    origin = {"distribution": "toy-metrics", "version": "1.2"}
    part = out["signature"]["metrics"]["letter_overlap"]
    assert out["signature"]["plugin"] == part["plugin"] == part["tokenizer"]["plugin"] == origin
    assert part["tokenizer"]["name"] == "toy-letters"
    assert "글자 겹침" in done.stdout
    assert "장난감" in instrument("recipes", site=site).stdout

    again = instrument("compare", str(tmp_path / "OUT.json"), str(tmp_path / "OUT.json"), site=site)
    assert again.returncode == 0, again.stderr
    assert "글자 겹침" in again.stdout


def test_another_version_of_a_plug_in_makes_another_signature(tmp_path: Path) -> None:
    hashes = []
    for version in ("1.2", "1.3"):
        site = install(tmp_path / version, block("toy_metrics.py"), block("pyproject.toml"), version)
        assert score(tmp_path, site).returncode == 0
        hashes.append(json.loads((tmp_path / "OUT.json").read_text(encoding="utf-8"))["signature_hash"])
    assert hashes[0] != hashes[1]


def test_without_the_plug_in_its_recipe_is_unknown(tmp_path: Path) -> None:
    assert "toy@1" in score(tmp_path, None).stderr
    assert "장난감" not in instrument("recipes", site=None).stdout


CODE, PROJECT = block("toy_metrics.py"), block("pyproject.toml")
OF_ROWS = CODE.replace("LexicalMetric", "RowMetric")
OF_ERRORS = CODE.replace("reads = Letters.name", "reads = Letters.name\n    higher_is_better = False")
TIED = CODE.replace("tie_breaks=()", "tie_breaks=(LetterOverlap.name,)")
COMPOSED = CODE.replace("tie_breaks=()", "tie_breaks=(), composite=(Component(LetterOverlap.name, 1),)").replace(
    "from scoring.errors", "from scoring.composite import Component\nfrom scoring.errors"
)
OF_WORSE_COLUMN = ("LetterOverlap.label)", "LetterOverlap.label, higher_is_better=False)")
WITHOUT_DIRECTION = ("LetterOverlap.label)", "LetterOverlap.label, has_direction=False)")
BROKEN = {
    "raises at import": ("raise RuntimeError('no licence')\n" + CODE, PROJECT, "no licence"),
    "leaves at import": ("import sys; sys.exit(7)\n" + CODE, PROJECT, "SystemExit"),
    "does not parse": ("def (", PROJECT, "SyntaxError"),
    "is not there": (CODE, PROJECT.replace("toy_metrics:TOY", "toy_metrics:MISSING"), "MISSING"),
    "takes a built-in metric's name": (
        CODE.replace('name = "letter_overlap"', 'name = "meteor"'),
        PROJECT.replace("letter_overlap =", "meteor ="),
        "meteor",
    ),
    "takes a built-in recipe's name": (
        CODE.replace('id="toy@1"', 'id="rag-qa@1"'),
        PROJECT.replace('"toy@1" =', '"rag-qa@1" ='),
        "rag-qa@1",
    ),
    "is no metric": (CODE, PROJECT.replace("toy_metrics:LetterOverlap", "toy_metrics:Letters"), "subclass"),
    "has another name": (CODE.replace('name = "letter_overlap"', 'name = "letters"'), PROJECT, "letter_overlap"),
    "has no label": (CODE.replace('label = Message("글자 겹침", "Letter overlap")', 'label = "x"'), PROJECT, "label"),
    "computes nothing": (CODE.replace("def value(", "def values("), PROJECT, "value"),
    "makes no row": (OF_ROWS, PROJECT, "row"),
    "makes no score of its rows": (OF_ROWS.replace("def value(", "def row("), PROJECT, "scores"),
    "reads an unknown tokenizer": (CODE.replace("reads = Letters.name", 'reads = "kiwi"'), PROJECT, "kiwi"),
    "needs an unknown model": (
        CODE.replace("reads = Letters.name", 'reads = Letters.name\n    model = "gpt"'),
        PROJECT,
        "gpt",
    ),
    "names an unknown metric": (CODE.replace("metrics=(LetterOverlap.name,)", 'metrics=("nope",)'), PROJECT, "nope"),
    "has no list of columns": (CODE.replace("columns=(FINAL, ", "columns=("), PROJECT, "TypeError"),
    "has another main column": (CODE.replace("columns=(FINAL, ", "columns=(FINAL, FINAL, "), PROJECT, "final_score"),
    "averages an error": (OF_ERRORS, PROJECT, "more of letter_overlap raises final_score"),
    "breaks ties by more of an error": (
        TIED.replace(*OF_WORSE_COLUMN),
        PROJECT,
        "by more of letter_overlap, and less of it is better",
    ),
    "breaks ties by what only describes": (TIED.replace(*WITHOUT_DIRECTION), PROJECT, "without a direction"),
    "composes ranks of more of an error": (COMPOSED.replace(*OF_WORSE_COLUMN), PROJECT, "by more of letter_overlap"),
    "composes ranks of what only describes": (COMPOSED.replace(*WITHOUT_DIRECTION), PROJECT, "without a direction"),
    "splits no text": (CODE.replace("def tokenize(", "def split("), PROJECT, "tokenize"),
}


@pytest.mark.parametrize(("broken", "language"), [*((name, "ko") for name in BROKEN), ("computes nothing", "en")])
def test_a_plug_in_that_cannot_be_used_is_named_without_a_traceback(tmp_path: Path, broken: str, language: str) -> None:
    code, project, detail = BROKEN[broken]
    assert (code, project) != (CODE, PROJECT)
    site = install(tmp_path / "site", code, project)

    done = instrument("recipes", "--lang", language, site=site)

    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert "toy-metrics 1.2" in done.stderr
    assert detail in done.stderr
    assert ("플러그인" in done.stderr) == (language == "ko")


def test_an_error_may_lower_the_final_score_and_be_a_part_of_a_composite(tmp_path: Path) -> None:
    """What ``EXTENDING.md`` says is to be done with an error."""
    code = OF_ERRORS.replace(
        "import Generation",
        "import Generation\n\n\nclass Lowered(Generation):\n    "
        "def final_scores(self, means):\n        return {'final_score': 1 - means['letter_overlap'], **means}",
    )
    code = code.replace("TOY = Generation(", "TOY = Lowered(").replace(
        "tie_breaks=()", "tie_breaks=(), composite=(Component(LetterOverlap.name, 1, higher_is_better=False),)"
    )
    site = install(tmp_path / "site", "from scoring.composite import Component\n" + code, PROJECT)

    done = score(tmp_path, site)

    assert done.returncode == 0, done.stderr
    out = json.loads((tmp_path / "OUT.json").read_text(encoding="utf-8"))
    assert out["final_score"] == 1 - sum(EXPECTED) / 3


def test_two_plug_ins_of_one_name_are_refused(tmp_path: Path) -> None:
    site = install(tmp_path / "site", CODE, PROJECT)
    install(site, CODE, PROJECT.replace('name = "toy-metrics"', 'name = "other-metrics"'))

    done = instrument("recipes", site=site)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "toy-metrics" in done.stderr
    assert "other-metrics" in done.stderr
