"""Parts of pages that are rendered once for everybody who sees the same.

A long table takes most of the time of its page. The key of a part is all that it shows, so that nothing ever has to be
declared old: what differs in a single letter is another part. Kept in the memory of each process, bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from django.core.cache import caches
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

_INDENTED: Final = re.compile(r"\s*\n\s*")  # a browser sees one space; the indentation of a table is half of its bytes


def remembered(
    template: str, content: object, context: Callable[[], Mapping[str, Any]], *, kind: str = "fragments"
) -> SafeString:
    """``template`` with ``context()``, without indentation; the ``repr`` of ``content`` says all that it is made of.

    ``kind``: the cache that has parts of this size.
    """
    key = sha256(f"{template}\n{get_language()}\n{content!r}".encode()).hexdigest()
    kept: SafeString | None = caches[kind].get(key)
    if kept is None:
        kept = mark_safe(_INDENTED.sub("\n", render_to_string(template, dict(context()))))  # noqa: S308 - it was safe
        caches[kind].set(key, kept)
    return kept
