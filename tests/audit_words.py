"""Which words an entry of the audit log has none of."""

from __future__ import annotations

import re

from django.utils import translation

from malpan.core.audit_selectors import object_label
from malpan.core.models import AuditEntry
from malpan.web.presenters.audit import ACTIONS, field_label

SAME_IN_BOTH = {"id", "sha256"}  # names that are none of a language


def wordless_in(entry: AuditEntry) -> list[str]:
    """The action, the kind of row and the names in ``entry`` that a Korean reader would see as they are stored."""
    with translation.override("ko"):
        names = {name: field_label(entry.object_type, name) for name in {**entry.before, **entry.after}}
        words = names | {entry.object_type: object_label(entry.object_type)}
    unsaid = [name for name, label in words.items() if name not in SAME_IN_BOTH and not re.search("[가-힣]", label)]
    return unsaid + [entry.action] * (entry.action not in ACTIONS)
