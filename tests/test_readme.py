"""What the documents say of the code: names that exist, folders that exist, the way that a submission really takes."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.apps import apps

from tests.paths import ROOT

RECORDS = tuple(f"platform/malpan/{name}.md" for name in ("core/storage/RECORD", "submissions/RELEASE", "WEB_SERVER"))
DOCUMENTS = ("README.md", "README.ko.md", "deploy/OPERATIONS.md", "scoring/EXTENDING.md", *RECORDS)
PACKAGES = sorted(path.name for path in (ROOT / "platform/malpan").iterdir() if (path / "__init__.py").exists())
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(\))?`")
FILE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:py|md|html|toml|tsv|yaml))`")
FILES = {"md", "py", "toml", "txt", "html", "css", "tsv", "json", "yaml", "conf", "example", "dump", "unfinished"}
LEFT_BY_THE_SITE = {"verify_chain.py"}  # it serves them


def named(text: str) -> list[str]:
    """The dotted names in backticks; names of files are none."""
    return [name for name in NAME.findall(text) if name.rsplit(".", 1)[-1] not in FILES]


def resolve(name: str) -> Any:
    """What ``name`` names: from the root of ``malpan`` or ``scoring``, in some module of theirs that is called as it
    begins, or a column of a table. Raises ``LookupError``.
    """
    head, *rest = name.split(".")
    for root in ("", "malpan.", "scoring.") if head in (*PACKAGES, "malpan", "scoring") else _folders_of(head):
        try:
            return _attribute(f"{root}{head}", rest)
        except (ImportError, AttributeError):
            continue
    tables = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    if head not in tables or rest not in [[column.column] for column in tables[head]._meta.fields]:
        raise LookupError(name)
    return name


def _attribute(module: str, names: list[str]) -> Any:
    found: Any = import_module(module)
    for position, name in enumerate(names, start=1):
        if isinstance(found, ModuleType) and not hasattr(found, name):
            import_module(".".join([module, *names[:position]]))
        found = getattr(found, name)
    return found


def _folders_of(module: str) -> list[str]:
    """The packages, each with a final dot, that have a module or package of this name."""
    found = []
    for source, top in ((ROOT / "platform", "malpan"), (ROOT, "scoring")):
        for path in [*(source / top).rglob(f"{module}.py"), *(source / top).rglob(f"{module}/__init__.py")]:
            folder = path.parent.parent if path.name == "__init__.py" else path.parent
            found.append(".".join(folder.relative_to(source).parts) + ".")
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_function_and_file_that_a_document_names_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in named(text):
        resolve(name)
    missing = [file for file in FILE.findall(text) if not _is_there(file, ROOT / document)]
    assert [file for file in missing if file not in LEFT_BY_THE_SITE] == []


def _is_there(file: str, document: Path) -> bool:
    """Whether some file of the project ends with this path; one without a folder may lie anywhere."""
    if (document.parent / file).exists():
        return True
    roots = ("platform", "scoring", "tests", "deploy", ".")
    return any(next((ROOT / root).glob(f"**/{file}" if root != "." else file), None) for root in roots)


@pytest.mark.parametrize("name", ["quota.take_slot", "tasks.score_run", "submissions.intake.take", "accounts_user.ids"])
def test_a_name_that_does_not_exist_is_found(name: str) -> None:
    assert named(f"See `{name}()` and `{name}`.") == [name, name]
    with pytest.raises(LookupError):
        resolve(name)


@pytest.mark.parametrize("name", ["quota.services", "intake.submit", "accounts_user.id"])
def test_a_name_may_begin_in_the_middle(name: str) -> None:
    assert resolve(name)


@pytest.mark.parametrize("document", ["README.md", "README.ko.md"])
@pytest.mark.parametrize("root", ["platform/malpan", "scoring"])
def test_the_layout_names_every_folder_and_no_other(document: str, root: str) -> None:
    documented = documented_folders(document, root)
    there = {path.name for path in (ROOT / root).iterdir() if _is_code(path)}
    assert there <= documented
    assert all(list((ROOT / root).rglob(name)) for name in documented)


@pytest.mark.parametrize("document", ["README.md", "README.ko.md"])
def test_every_module_beside_the_folders_of_the_site_is_named(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    modules = {path.name for path in (ROOT / "platform/malpan").glob("*.py")} - {"__init__.py"}
    assert {name for name in modules if f"`{name}`" not in text} == set()


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
    return named(text[start : text.index("\n\n", start)])


def test_both_languages_tell_the_same_way() -> None:
    assert way_of_one_submission("README.md") == way_of_one_submission("README.ko.md")
