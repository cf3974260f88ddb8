"""The errors that judges marked, as a result of the protocol ``errors`` has them: how many a judgement marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from malpan.arena.models import Rubric
from malpan.web.presenters.arena import SEVERITIES, label_of


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A system with its figures, in the order of ``MarkedErrors.heads``."""

    name: str
    figures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MarkedErrors:
    """A table of means: a column for each severity, the penalty, a column for each kind."""

    heads: tuple[str, ...]
    lines: tuple[MarkedLine, ...]


def marked_errors(document: Mapping[str, Any], rubric: Rubric) -> MarkedErrors | None:
    """The table of a result; ``None`` for other protocols, and for results that were computed before it was."""
    rows = document["systems"]
    if not all("errors" in row for row in rows):
        return None
    labels = {one["key"]: label_of(one) for one in rubric.reasons}
    kinds = list(rows[0]["kinds"])
    heads = (*map(str, SEVERITIES.values()), _("벌점"), *(labels.get(kind, kind) for kind in kinds))
    return MarkedErrors(heads, tuple(_line(row, kinds) for row in rows))


def _line(row: Mapping[str, Any], kinds: list[str]) -> MarkedLine:
    means = [*(row["errors"][name] for name in SEVERITIES), row["penalty"], *(row["kinds"][kind] for kind in kinds)]
    return MarkedLine(row["name"], tuple(f"{mean:.2f}" for mean in means))
