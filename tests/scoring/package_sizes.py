"""``python -m tests.scoring.package_sizes``: what the base of the package and each extra take on disk with all that
they need, as installed here. Read of the records of the distributions; nothing is fetched.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.paths import ROOT

PROJECT: Final = tomllib.loads((ROOT / "scoring/pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN: Final = "malpan-scoring"
MB: Final = 1_000_000


def needed(requirements: Sequence[str]) -> set[str]:
    """The distributions that are installed for ``requirements``, with what those need in turn."""
    found: set[str] = set()
    waiting = list(requirements)
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name == OWN:
            waiting += [each for extra in requirement.extras for each in PROJECT["optional-dependencies"][extra]]
            continue
        if name in found:
            continue
        found.add(name)
        waiting += _needs(name, requirement.extras)
    return found


def _needs(name: str, extras: set[str]) -> Iterator[str]:
    for line in _requires(name):
        marker = Requirement(line).marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield line


def _requires(name: str) -> list[str]:
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


def megabytes(names: set[str]) -> float:
    """Of the files of the distributions, by their records."""
    total = 0
    for name in names:
        try:
            total += sum(each.size or 0 for each in distribution(name).files or ())
        except PackageNotFoundError:
            continue
    return total / MB


def table() -> list[tuple[str, int, float]]:
    """Each extra with how many distributions it comes to, those of the base too, and their size in MB."""
    base = PROJECT["dependencies"]
    rows = [("–", needed(base))]
    rows += [(name, needed([*base, *lines])) for name, lines in PROJECT["optional-dependencies"].items()]
    return [(name, len(found), megabytes(found)) for name, found in rows]


if __name__ == "__main__":
    for name, count, size in table():
        print(f"| {name} | {count} | {size:,.0f} MB |")
