"""The runner itself, on a rule of a few lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import report
from tests.mutation.mutants import Mutant, Source
from tests.mutation.rules import RULES, chosen
from tests.paths import ROOT

RULE = '''
from functools import wraps


def half(number):
    return number // 2


LIMIT = half(6)


def logged(function):
    return wraps(function)(lambda *arguments: function(*arguments))


@logged
def require(count: int = 0, is_baseline: bool = False) -> None:
    """At most so many."""
    if is_baseline:
        return
    check(count)


def check(count):
    if count >= LIMIT:
        raise ValueError("1 + 1")
'''
TESTS = """
import pytest
from toy_rule import check, require


def test_limit():
    require(2, False)
    with pytest.raises(ValueError):
        check(3)
"""
KEPT = """
from functools import cache

@cache
def double(size):
    return size * 2
"""
TESTS_OF_KEPT = """
from kept_rule import double


def test_nothing():
    double(3)


def test_something():
    assert double(3) == 6
"""
RUN = """
from pathlib import Path
from tests.mutation.__main__ import running
from tests.mutation.rules import Rule
for mutant, outcome in running.outcomes(Rule("toy_rule", Path("toy_rule.py").absolute(), ("test_toy.py",)), jobs=2):
    print(outcome, mutant, sep=": ")
"""


def test_mutants_are_killed_and_survivors_named(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS)

    assert sorted(line for line in done.stdout.splitlines() if "  [" in line) == [
        "killed: 25: if count >= LIMIT:  [>= → <]",
        "killed: 25: if count >= LIMIT:  [>= → >]",
        'killed: 26: raise ValueError("1 + 1")  [left out]',
        "killed: 6: return number // 2  [// → *]",
        "killed: 6: return number // 2  [2 → 3]",
        "survived: 17: def require(count: int = 0, is_baseline: bool = False) -> None:  [0 → 1]",
        "survived: 17: def require(count: int = 0, is_baseline: bool = False) -> None:  [False → True]",
        "survived: 19: if is_baseline:  [condition negated]",
        "survived: 20: return  [left out]",
        "survived: 21: check(count)  [left out]",
        "survived: 9: LIMIT = half(6)  [6 → 7]",  # 7 // 2 is 3 as well
    ], done.stderr


def test_tests_that_fail_on_the_original_are_named(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS + "\n\ndef test_more():\n    require(3)\n")

    assert done.returncode == 1
    assert "toy_rule as it is: test_toy.py::test_more failed, toy_rule.py:" in done.stderr


def test_tests_that_reach_nothing_are_no_tests_of_a_rule(tmp_path: Path) -> None:
    """Every mutant would survive them, and the table would say 0 % of a rule that other tests hold."""
    done = run(tmp_path, "import toy_rule\n\n\ndef test_other():\n    assert toy_rule\n")

    assert done.returncode != 0
    assert "toy_rule: no test reaches it, of test_toy.py" in done.stderr


def test_what_is_made_once_a_process_is_tried_by_every_test_that_needs_it(tmp_path: Path) -> None:
    """The first test fills the cache and does not look; the second one does."""
    (tmp_path / "kept_rule.py").write_text(KEPT, encoding="utf-8")
    (tmp_path / "test_kept.py").write_text(TESTS_OF_KEPT, encoding="utf-8")

    done = started(tmp_path, RUN.replace("toy", "kept"))

    assert {line for line in done.stdout.splitlines() if "return size" in line} == {
        "killed: 6: return size * 2  [* → /]",
        "killed: 6: return size * 2  [2 → 3]",
    }, done.stderr


def run(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    (folder / "toy_rule.py").write_text(RULE, encoding="utf-8")
    (folder / "test_toy.py").write_text(tests, encoding="utf-8")
    return started(folder, RUN)


def started(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}:{ROOT / 'platform'}"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_mutant_differs_in_one_place_and_the_source_stays(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text("def low(a, b):\n    return min(a, b + 1) < 3 and not a\n", encoding="utf-8")
    source = Source(path)

    def value(code, *arguments):
        names: dict = {}
        exec(code, names)
        return names["low"](*arguments)

    answers = {mutant.change: value(source.mutated(mutant), 0, 5) for mutant in source.mutants}

    assert value(source.original, 0, 5) is True
    assert answers == {
        "and → or": True, "< → <=": True, "< → >=": False, "min → max": False, "+ → -": True, "1 → 2": True,
        "3 → 4": True, "without not": 0,
    }  # fmt: skip


def test_the_digest_of_a_module_is_that_of_what_runs(tmp_path: Path) -> None:
    texts = {
        "first": 'def low(a: int) -> int:\n    """The lower."""\n    return min(a, 3)  # or three\n',
        "said": 'def low(a: int) -> int:\n    """One of two."""\n    return min(\n        a,\n        3,\n    )\n',
        "other": 'def low(a: int) -> int:\n    """The lower."""\n    return min(a, 4)  # or three\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    first, said, other = (Source(tmp_path / name).digest for name in texts)

    assert first == said != other
    assert len(first) == 8


def test_table_of_equivalents_takes_survivors_alone(tmp_path: Path) -> None:
    table = tmp_path / "equivalent.toml"
    rows = "".join(f'[["rule"]]\nline = "x = {n}"\nchange = "{n} → {n + 1}"\nreason = "why"\n' for n in (1, 2, 3))
    table.write_text(rows, encoding="utf-8")
    found = [(Mutant(n, f"x = {n}", f"{n} → {n + 1}", "", range(n, n + 1)), what) for n, what in OUTCOMES]

    result = report.result_of("rule", found, 3.0, table=table)

    assert (result.noticed, result.counted, result.count(report.EQUIVALENT)) == (2, 3, 1)
    assert list(result.stale) == ["x = 2  [2 → 3]", "x = 3  [3 → 4]"]
    assert f"{report.score([result]):.1f}" == "66.7"
    assert "    rule:9: x = 9  [9 → 10]" in report.text_of([result])


def test_the_rows_of_a_table_are_read_back() -> None:
    again = [(Mutant(3, "if a: b()", "condition negated", "", range(3, 4)), "timed out")]
    results = [report.result_of(*each) for each in (("a.rule", TRIED, 6.0, "0123abcd"), ("another", again, 6.0))]
    text = report.text_of(results)

    read = report.read(text)

    assert report.text_of(list(read.values())) == text
    assert read["a.rule"].found["survived"] == ["9: x = 9  [9 → 10]"]
    assert (read["another"].noticed, read["another"].seconds) == (1, 6.0)
    assert (read["a.rule"].code, read["another"].code) == ("0123abcd", "")


def test_an_entry_that_fits_no_survivor_is_read_back_as_none(tmp_path: Path) -> None:
    table = tmp_path / "equivalent.toml"
    table.write_text('[["a.rule"]]\nline = "x = 5"\nchange = "5 → 6"\nreason = "why"\n', encoding="utf-8")
    text = report.text_of([report.result_of("a.rule", TRIED, 6.0, table=table)])
    assert "no survivor" in text
    assert report.read(text)["a.rule"].unnoticed == {"x = 9  [9 → 10]"}


def test_survivors_tried_again_take_the_place_of_those_of_before(tmp_path: Path) -> None:
    table = tmp_path / "equivalent.toml"
    table.write_text('[["a.rule"]]\nline = "x = 5"\nchange = "5 → 6"\nreason = "why"\n', encoding="utf-8")
    earlier = [*TRIED, (Mutant(5, "x = 5", "5 → 6", "", range(5, 6)), "survived")]
    before = report.read(report.text_of([report.result_of("a.rule", earlier, 6.0, "0123abcd", table)]))["a.rule"]
    assert before.unnoticed == {TRIED[1][0].name} == {"x = 9  [9 → 10]"}

    lower = Mutant(12, "x = 9", "9 → 10", "", range(12, 13))  # other lines are before it by now
    again = report.result_of("a.rule", [(lower, "killed")], 2.0, table=table)
    now = report.merged(before, again)

    assert (now.noticed, now.count("survived"), now.count(report.EQUIVALENT)) == (2, 0, 1)
    assert (now.stale, now.seconds) == ([], 8.0)


TRIED = [
    (Mutant(n, f"x = {n}", f"{n} → {n + 1}", "", range(n, n + 1)), what) for n, what in ((2, "killed"), (9, "survived"))
]
OUTCOMES = [(1, "survived"), (2, "killed"), (5, "timed out"), (9, "survived")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.module)
def test_rules_and_their_tests_are_there(rule) -> None:
    assert Source(rule.path).mutants
    assert all((ROOT / path.partition("::")[0]).exists() for path in rule.tests)


def test_a_rule_is_chosen_by_the_end_of_its_name_or_by_its_folder() -> None:
    assert [rule.module for rule in chosen("ranking")] == ["malpan.leaderboard.ranking"]
    assert [rule.module for rule in chosen("quota.services")] == ["malpan.submissions.quota.services"]
    assert {rule.module.rpartition(".")[0] for rule in chosen("recipes")} == {"scoring.recipes"}
    assert chosen("rank") == []
