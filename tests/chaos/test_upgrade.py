"""The drill of a rolling upgrade: from which code there is one. ``make chaos`` and its options run the drills."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos import upgrade
from tests.chaos.upgrade import CannotUpgrade, code_of

MIGRATION = "platform/malpan/teams/migrations/0001_initial.py"
PROGRAM = "platform/malpan/program.py"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With one commit of a migration and a program."""
    root = tmp_path / "new"
    for name in (MIGRATION, PROGRAM):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("old\n")
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "old"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(upgrade, "ROOT", root)
    return root


def test_the_old_code_is_that_of_the_commit(repository: Path, tmp_path: Path) -> None:
    (repository / PROGRAM).write_text("new\n")
    assert (code_of("HEAD", tmp_path) / PROGRAM).read_text() == "old\n"


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("new\n")], ids=["gone", "edited"])
def test_code_with_other_tables_is_refused_by_name(
    repository: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    change(repository / MIGRATION)
    with pytest.raises(CannotUpgrade, match=f"tables of HEAD are others.*{MIGRATION}"):
        code_of("HEAD", tmp_path)


def test_tables_may_have_been_added_to(repository: Path, tmp_path: Path) -> None:
    added = repository / MIGRATION.replace("0001_initial", "0002_more")
    added.write_text("new\n")
    subprocess.run(["git", "-C", str(repository), "add", "--intent-to-add", str(added)], check=True)
    assert not (code_of("HEAD", tmp_path) / added.relative_to(repository)).exists()


def test_an_unknown_commit_is_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotUpgrade, match="nonsense"):
        code_of("nonsense", tmp_path)
