"""What a score was made with: enough to decide whether two scores may be ranked together.

A signature is plain JSON::

    {"recipe": "rag-qa@1",
     "instrument": "0.1.0",
     "references": {"items": 498, "sha256": …},
     "normalizer": "NFC",
     "metrics": {"rouge1_mecab": {"input": …, "normalizer": …, "metric": …, "tokenizer": {…}},
                 "bleurt": {…model, revision, weight hash, library versions, dtype, device class…}, …},
     "about": {"references_file_sha256": …, "profile": …, "is_demo": …, "processor": …, "threads": …, "kernel": …}}

Everything outside ``about`` can change numbers, and ``signature_hash`` is the SHA-256 of it as canonical JSON. Two
scores are ranked together only if their hashes are equal.

* ``references.sha256`` is of the *content*: the items' (id, text, question type, further references, required words)
  sorted by id. Reformatting the reference file or shuffling its items changes no score, so it does not change the
  hash. The hash of the file's bytes is in ``about``, to find the file. Where a judge is shown the ``input`` of the
  items, ``references.input_sha256`` is of those.
* Models are named whether or not a submission needed them: one without any reason loads no model and must still be
  ranked with the others.
* A metric's own signature does not include recipe and references. Stored item values belong to a submission, a
  reference version and a metric signature, so they stay valid when another metric's rule changes.
* A metric, tokenizer or recipe of a plug-in names its distribution and version (``plugin``).
* Processor, number of threads and kernel of a computation are in ``about``: values differ by about 1e-6 for a pair, and
  ranking treats scores as equal that agree to 8 decimals.
* Unicode normalisation is stable across Unicode versions for assigned characters: only the form is named.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from scoring import __version__
from scoring.recipes import RECIPES, Recipe, parts_of
from scoring.records import Items

Json = Mapping[str, Any]

NORMALIZER: Final = "NFC"
ABOUT: Final = "about"


def canonical_json(value: Any) -> bytes:
    """``value`` as UTF-8 JSON with sorted keys and no white space: equal values give equal text. Refuses NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def json_sha256(value: Any) -> str:
    """SHA-256 of ``canonical_json(value)``, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def references_sha256(references: Items) -> str:
    """SHA-256 of the content of the reference file, independent of layout and order."""
    content = sorted(
        [
            *(answer.id, answer.text, answer.question_type or "", *answer.others),
            *([{"required": answer.required}] if answer.required else []),
        ]
        for answer in references.items
    )
    return json_sha256(content)


def metric_signature(recipe: Recipe, metric: str, implementation: Json) -> dict[str, Any]:
    """What can change the values of ``metric``: its own ``implementation`` and the rule for its texts."""
    return {"input": recipe.input_rule(metric), "normalizer": NORMALIZER, **implementation}


def build_signature(
    recipe: Recipe, references: Items, implementations: Mapping[str, Json], about: Json
) -> dict[str, Any]:
    """The signature of a score.

    ``implementations`` maps each metric that runs to ``scoring.metrics.implementation_of``. ``about`` is for the reader
    and does not enter the hash; the file hash of the references is added to it.
    """
    return {
        "recipe": recipe.id,
        "instrument": __version__,
        **RECIPES.origin(parts_of(recipe.id)[0]),
        "references": _references(recipe, references),
        "normalizer": NORMALIZER,
        "metrics": {name: metric_signature(recipe, name, implementations[name]) for name in implementations},
        ABOUT: {"references_file_sha256": references.sha256, **about},
    }


def _references(recipe: Recipe, references: Items) -> dict[str, Any]:
    known = {"items": len(references.items), "sha256": references_sha256(references)}
    if not recipe.reads_input:
        return known
    return {**known, "input_sha256": json_sha256(sorted([item.id, item.input] for item in references.items))}


def signature_hash(signature: Json) -> str:
    """SHA-256 of everything in ``signature`` that can change numbers."""
    return json_sha256({key: value for key, value in signature.items() if key != ABOUT})


def metric_signatures(signature: Json) -> dict[str, str]:
    """The hash of each metric's signature, by metric name."""
    return {name: json_sha256(part) for name, part in signature["metrics"].items()}


@cache
def processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def is_demo(signature: Json) -> bool:
    """Whether the score was made with the demo models, whose numbers mean nothing outside this machine."""
    return bool(signature.get(ABOUT, {}).get("is_demo", False))
