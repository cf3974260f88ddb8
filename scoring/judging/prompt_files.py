"""The prompts of a judge: versioned TOML files, in Korean and English, one for each question.

A file has ``id``, ``language``, ``task`` (``score`` or ``choice``), ``roles`` (the texts that are sent, in order),
``system`` and ``closing``; ``{fence}`` in them is the place of the item's fence. Everything that a judge reads besides
the texts is in the file, and the hash of its bytes is in the signature: another rubric is another file.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from scoring.errors import Language
from scoring.judging.errors import PromptBroken
from scoring.judging.fencing import Fenced
from scoring.judging.parsing import Task

FOLDER: Final = Path(__file__).with_name("prompts")
_ROLES_OF: Final[Mapping[Task, tuple[set[str], set[str]]]] = {  # those that a prompt needs, and those that it may have
    "score": ({"candidate"}, {"reference"}),
    "choice": ({"first", "second"}, {"reference"}),
}
_TEXTS: Final = ("id", "language", "system", "closing")
MAX_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a judge."""

    id: str
    language: str
    task: Task
    roles: tuple[str, ...]
    system: str
    closing: str
    sha256: str

    def messages(self, texts: Fenced) -> list[dict[str, str]]:
        """The chat that asks about ``texts``: the rubric, then the fenced texts and what to do with them."""
        system, closing = (part.replace("{fence}", texts.fence) for part in (self.system, self.closing))
        return [{"role": "system", "content": system}, {"role": "user", "content": f"{texts.text}\n\n{closing}"}]

    def describe(self) -> dict[str, Any]:
        return {"id": self.id, "language": self.language, "sha256": self.sha256}


def built_in(name: str, language: Language) -> Path:
    """The file of the prompt ``name`` (with its version, ``rationale-1``) in ``language``."""
    return FOLDER / f"{name}.{language}.toml"


def load_prompt(path: Path) -> Prompt:
    """The prompt in the file at ``path``, read anew if the file changed. Raises ``PromptBroken``."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise PromptBroken(where=str(path), what=f"> {MAX_BYTES} bytes")
        return _prompt(path, path.read_bytes())
    except OSError as error:
        raise PromptBroken(where=str(path), what=error.strerror or type(error).__name__) from error


@lru_cache(maxsize=32)
def _prompt(path: Path, content: bytes) -> Prompt:
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PromptBroken(where=str(path), what=str(error)) from error
    what = _defect(table)
    if what:
        raise PromptBroken(where=str(path), what=what)
    texts = {name: table[name] for name in _TEXTS}
    digest = hashlib.sha256(content).hexdigest()
    return Prompt(task=table["task"], roles=tuple(table["roles"]), sha256=digest, **texts)


def _defect(table: Mapping[str, Any]) -> str:
    """What is wrong with a prompt file; empty if nothing is."""
    if unknown := table.keys() - {*_TEXTS, "task", "roles"}:
        return f"? {', '.join(sorted(unknown))}"
    for name in _TEXTS:
        if not isinstance(table.get(name), str) or not table[name].strip():
            return name
    if table.get("task") not in ("score", "choice"):
        return "task"
    roles, (needed, others) = table.get("roles"), _ROLES_OF[table["task"]]
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        return "roles"
    if len(set(roles)) != len(roles) or not needed <= set(roles) <= needed | others:
        return "roles"
    return "" if "{fence}" in table["system"] else "system: {fence}"
