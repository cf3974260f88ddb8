"""The command as one file for whoever has Python and nothing else: the modules of this package, one after the other.

Joined when it is asked for, so that there is no second copy to keep equal. The order is that of the imports; a module
may use only names that are defined once in the whole package, and imports them by name, at its top.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

PACKAGE: Final = "malpan_client"
FOLDER: Final = Path(__file__).parent
LAST: Final = "command"  # runs the command


class CannotBeJoined(Exception):
    """The package has something that one file could not have."""


@cache
def single_file() -> bytes:
    """The text of the file. Raises ``CannotBeJoined``."""
    modules = _in_order()
    head = (FOLDER / "__init__.py").read_text(encoding="utf-8")
    parts = [f"# --- {name} {'-' * (113 - len(name))}\n{_body(source)}" for name, source in modules.items()]
    imports = _imports_of_python([head, *modules.values()])
    docstring = ast.get_docstring(ast.parse(head), clean=False)
    _require_names_once([head, *modules.values()])
    text = "\n".join(
        [
            "#!/usr/bin/env python3",
            f'"""{docstring}"""',
            "",
            *imports,
            "",
            _definitions(head),
            *parts,
        ]
    )
    return text.encode()


def sha256() -> str:
    return hashlib.sha256(single_file()).hexdigest()


def _in_order() -> dict[str, str]:
    """The source of each module, after all those that it imports."""
    found: dict[str, str] = {}

    def visit(name: str) -> None:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        for each in _imports_of_package(source):
            if each and each not in found:
                visit(each)
        found[name] = source

    visit(LAST)
    return found


def _imports_of_package(source: str) -> list[str]:
    """The modules of this package that ``source`` imports names from; empty: its ``__init__``."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(each.name.partition(".")[0] == PACKAGE for each in node.names):
            raise CannotBeJoined(f"imported as a module: {ast.unparse(node)}")
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE:
            if node.col_offset or any(each.asname for each in node.names):
                raise CannotBeJoined(f"not at the top, or under another name: {ast.unparse(node)}")
            found.append((node.module or "").partition(".")[2])
    return found


def _is_of_package(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE


def _imports_of_python(sources: list[str]) -> list[str]:
    """What all of them import, each module once; ``__future__`` first, which is so by the alphabet."""
    whole: set[str] = set()
    names: dict[str, set[str]] = {}
    for node in [each for source in sources for each in ast.parse(source).body]:
        if isinstance(node, ast.Import):
            whole.add(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and not _is_of_package(node):
            names.setdefault(node.module or "", set()).update(ast.unparse(each) for each in node.names)
    parts = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items())]
    return [parts[0], "", *sorted(whole), *parts[1:]]


def _body(source: str) -> str:
    """The definitions of a module after its docstring as a comment."""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return "".join(f"# {line}".rstrip() + "\n" for line in docstring.splitlines()) + "\n" + _definitions(source)


def _definitions(source: str) -> str:
    """What follows the docstring and the imports."""
    beginning = (ast.Expr, ast.Import, ast.ImportFrom)
    node = next(each for each in ast.parse(source).body if not isinstance(each, beginning))
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return "".join(source.splitlines(keepends=True)[first - 1 :])


def _require_names_once(sources: list[str]) -> None:
    names: list[str] = []
    for source in sources:
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.append(node.name)
            elif isinstance(node, ast.Assign):
                names += [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.append(node.target.id)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CannotBeJoined(f"defined twice: {', '.join(twice)}")
