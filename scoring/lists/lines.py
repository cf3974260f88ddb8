"""A signature in one line, as papers print it (sacrebleu's form): ``key:value`` parts with ``|`` between them.

    meteor_ko|rule:meteor-ko@1|refs:1-3|norm:NFC|tok:okt,konlpy-0.6.0|…|sig:0d1c93a2be01|malpan:0.1.0

It names what a reader compares; ``sig`` is the beginning of the hash of the metric's whole signature, so that two lines
are equal only if everything is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scoring import __version__
from scoring.signature import json_sha256

HASH_CHARS: Final = 12
_LIBRARIES: Final = ("torch", "transformers")
_NAMED: Final = frozenset({"metric", "rule", "input", "normalizer", "tokenizer", "libraries", "model", "revision"})
_HASHED: Final = frozenset({"weights_sha256", "tokenizer_sha256"})  # in ``sig``


def metric_line(name: str, signature: Mapping[str, Any], references: tuple[int, int]) -> str:
    """The line of one metric. ``references`` are the fewest and the most of an item."""
    parts = [f"rule:{signature['rule']}", f"refs:{_span(references)}", f"norm:{signature['normalizer']}"]
    parts += _tokenizer(signature.get("tokenizer", {}))
    parts += _model(signature)
    settings = {key: value for key, value in signature.items() if key not in _NAMED | _HASHED}
    parts += [f"{key}:{value}" for key, value in _plain(settings)]
    return "|".join([name, *parts, f"sig:{json_sha256(signature)[:HASH_CHARS]}", f"malpan:{__version__}"])


def _span(references: tuple[int, int]) -> str:
    fewest, most = references
    return str(most) if fewest == most else f"{fewest}-{most}"


def _tokenizer(tokenizer: Mapping[str, Any]) -> Iterator[str]:
    if "function" in tokenizer:
        yield f"tok:{tokenizer['function']}()"
    elif tokenizer:
        engine = str(tokenizer.get("engine", "")).replace(" ", "-")
        yield f"tok:{tokenizer['name']}" + (f",{engine}" if engine else "")


def _model(signature: Mapping[str, Any]) -> Iterator[str]:
    if "model" in signature:
        revision = signature["revision"][:HASH_CHARS]
        yield f"model:{signature['model']}" + (f"@{revision}" if revision else "")
        libraries = signature.get("libraries", {})
        yield from (f"{name}:{libraries[name]}" for name in _LIBRARIES if name in libraries)


def _plain(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Settings that are one value, or a list of such; what is nested is in the hash."""
    for key, value in settings.items():
        if isinstance(value, bool):
            yield key, "yes" if value else "no"
        elif isinstance(value, (str, int, float)):
            yield key, str(value)
        elif isinstance(value, list) and all(isinstance(each, (str, int)) for each in value):
            yield key, ",".join(map(str, value))
