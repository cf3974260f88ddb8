"""What the documents say of the code: names that exist, folders that exist, the way that a submission really takes."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.paths import ROOT

DOCUMENTS = ("README.md", "README.ko.md", "deploy/OPERATIONS.md", "scoring/EXTENDING.md")
PACKAGES = sorted(path.name for path in (ROOT / "platform/malpan").iterdir() if (path / "__init__.py").exists())
NAME = re.compile(rf"`((?:malpan|scoring|{'|'.join(PACKAGES)})(?:\.[A-Za-z_]+)+)(?:\(\))?`")
FILES = {"md", "py", "toml", "txt", "html", "css", "tsv", "json"}


def named(document: str) -> list[str]:
    """The dotted names in backticks; names of files are none."""
    found = NAME.findall((ROOT / document).read_text(encoding="utf-8"))
    return [name for name in found if name.rsplit(".", 1)[-1] not in FILES]


def resolve(name: str) -> Any:
    """What ``name`` names, from the root of ``malpan`` where it does not begin with a package of its own."""
    parts = name.split(".")
    if parts[0] not in ("malpan", "scoring"):
        parts.insert(0, "malpan")
    found: Any = import_module(parts[0])
    for position, part in enumerate(parts[1:], start=1):
        if isinstance(found, ModuleType) and not hasattr(found, part):
            import_module(".".join(parts[: position + 1]))
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_function_that_a_document_names_exists(document: str) -> None:
    for name in named(document):
        resolve(name)


@pytest.mark.parametrize("document", ["README.md", "README.ko.md"])
@pytest.mark.parametrize("root", ["platform/malpan", "scoring"])
def test_the_layout_names_every_folder_and_no_other(document: str, root: str) -> None:
    documented = documented_folders(document, root)
    there = {path.name for path in (ROOT / root).iterdir() if _is_code(path)}
    assert there <= documented
    assert all(list((ROOT / root).rglob(name)) for name in documented)


def documented_folders(document: str, root: str) -> set[str]:
    """The folders in the table of ``root``, whose head names it."""
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("| ") and f"`{root}/`" in line)
    table = takewhile(lambda line: line.startswith("|"), lines[head + 1 :])
    return set(re.findall(r"`([a-z_]+)/`", "\n".join(table)))


def _is_code(path: Path) -> bool:
    return path.is_dir() and path.name not in {"__pycache__", "locale"}


def way_of_one_submission(document: str) -> list[str]:
    """The names of the paragraph with the way of one submission, in order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    start = text.index("`submissions.intake.submit`")
    return NAME.findall(text[start : text.index("\n\n", start)])


def test_both_languages_tell_the_same_way() -> None:
    assert way_of_one_submission("README.md") == way_of_one_submission("README.ko.md")
