"""What ``scoring.score`` returns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scoring.errors import Language
from scoring.lists.errors import NoPandas, SeveralScores
from scoring.recipes import warning_text
from scoring.records import ItemScores, ScoreWarning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by name in ``scores``, as the metrics give them (0-1; CIDEr-D 0-10).

    ``items`` are the values of each item in the order of the lists; a metric that adds up counts over the corpus (BLEU,
    chrF) gives items no value. ``signature`` is what can change a number, as JSON; ``signature_hash`` its hash, and
    ``metric_signatures`` those by metric, which are a site's for the same metric on the same texts. ``signature_lines``
    are for papers. ``print`` shows scores, warnings and lines.
    """

    scores: Mapping[str, float]
    items: tuple[ItemScores, ...]
    warnings: tuple[ScoreWarning, ...]
    signature: Mapping[str, Any]
    signature_hash: str
    metric_signatures: Mapping[str, str]
    signature_lines: Mapping[str, str]

    @property
    def score(self) -> float:
        """The only score. Raises ``SeveralScores``."""
        if len(self.scores) != 1:
            raise SeveralScores(names=", ".join(self.scores))
        return next(iter(self.scores.values()))

    def messages(self, language: Language = "ko") -> list[str]:
        """The warnings in words."""
        return [warning_text(warning, language) for warning in self.warnings]

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON; warnings as in ``OUT.json`` of the command line, without their texts."""
        return {
            "scores": dict(self.scores),
            "warnings": [{"code": warning.code, **warning.params} for warning in self.warnings],
            "items": [{"id": item.id, "scores": dict(item.scores)} for item in self.items],
            "signature": dict(self.signature),
            "signature_hash": self.signature_hash,
            "signature_lines": dict(self.signature_lines),
        }

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each item, in the order of the lists, and a column for each of their scores; that of a
        metric that gives items no value (chrF) is NaN throughout.

        Raises ``NoPandas``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise NoPandas from error
        index = pd.Index([item.id for item in self.items], name="id", dtype="str")
        found = pd.DataFrame([dict(item.scores) for item in self.items], index=index)
        without = [name for name in self.metric_signatures if name in self.scores and name not in found.columns]
        return found.reindex(columns=[*found.columns, *without])

    def __str__(self) -> str:
        width = max(map(len, self.scores), default=0)
        rows = [f"{name:<{width}}  {value:.6f}" for name, value in self.scores.items()]
        return "\n".join([*rows, *(f"! {text}" for text in self.messages()), *self.signature_lines.values()])
