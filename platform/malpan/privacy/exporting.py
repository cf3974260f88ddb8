"""Everything that the site holds of a person, for that person: a JSON document."""

from __future__ import annotations

import json
from typing import Any, Final

from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from malpan.accounts.models import User
from malpan.privacy.erasing import sessions_of
from malpan.privacy.holdings import HOLDINGS, Holding

FORMAT: Final = "malpan-person"


def export(user: User) -> dict[str, Any]:
    """What ``holdings`` names, about ``user`` alone. Columns that are secrets or about others are only named.

    Scores are not in it: a result that is not published yet is nobody's to read. The pages of the competition show
    the others, and the files of the submissions listed here.
    """
    return {
        "format": FORMAT,
        "made_at": timezone.localtime(),
        "data": {holding.name: _part(holding, user) for holding in HOLDINGS},
        "sessions": [row.expire_date for row in Session.objects.filter(pk__in=sessions_of(user))],
    }


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)


def _part(holding: Holding, user: User) -> dict[str, Any]:
    rows = list(holding.rows(user).values(*holding.shown))
    return {"what": str(holding.subject.what), "not_included": holding.withheld, "rows": rows}
