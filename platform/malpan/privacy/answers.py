"""What programs were answered (``accounts.AnsweredRequest``) without the name and addresses of an erased person: the
answers that organisers got name others, for as long as a request sent again is answered alike.
"""

from __future__ import annotations

import json
import re
from typing import Any

from malpan.accounts.models import AnsweredRequest


def free_answers(pattern: re.Pattern[str], mask: str) -> int:
    """Write ``mask`` where a text in a kept answer has ``pattern``; returns how many answers had it. They are those of
    a day, and all are read: what a text says is escaped.
    """
    changed = 0
    for row in AnsweredRequest.objects.exclude(answer="").only("answer").iterator():
        told = json.loads(row.answer)
        if (freed := _freed(told, pattern, mask)) != told:
            row.answer = json.dumps(freed, ensure_ascii=False)
            row.save(update_fields=["answer"])
            changed += 1
    return changed


def _freed(told: Any, pattern: re.Pattern[str], mask: str) -> Any:
    if isinstance(told, str):
        return pattern.sub(mask, told)
    if isinstance(told, list):
        return [_freed(each, pattern, mask) for each in told]
    if isinstance(told, dict):
        return {name: _freed(each, pattern, mask) for name, each in told.items()}
    return told
