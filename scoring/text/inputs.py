"""What an item asks, its ``input``, as one text for a judge to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def written_out(value: Mapping[str, Any]) -> str:
    """The ``input`` of an item as text: a text alone as it is, else each key with its value, others than texts as JSON.

    >>> written_out({"question": "어느 쪽이 옳은가?", "options": ["가", "나"]})
    'question: 어느 쪽이 옳은가?\\noptions: ["가", "나"]'
    """
    texts = [part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in value.values()]
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{key}: {text}" for key, text in zip(value, texts, strict=True))
