"""The texts of the whole site that its operator writes: what they add to the privacy statement, the terms of use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.utils import timezone

from malpan.core import audit
from malpan.core.models import SiteText
from malpan.core.times import kst_text

if TYPE_CHECKING:
    from malpan.accounts.models import User

STATEMENT: Final = "2026-11"  # the privacy statement of the pages; another one when it says something else


def site_text(kind: str) -> SiteText | None:
    """The text of ``kind``; ``None`` where nothing was written."""
    return SiteText.objects.filter(kind=kind).exclude(text_ko="").first()


def privacy_version() -> str:
    """The version of the privacy statement now: of the site's own part, and the moment from which the operator's is."""
    own = site_text(SiteText.Kind.PRIVACY)
    return STATEMENT if own is None else f"{STATEMENT} · {kst_text(own.changed_at, seconds=True)}"


def all_site_texts() -> dict[str, SiteText]:
    """Every text by its kind, empty ones too."""
    found = {row.kind: row for row in SiteText.objects.all()}
    return {kind: found.get(kind) or SiteText(kind=kind) for kind in SiteText.Kind.values}


def write_site_text(*, kind: str, text_ko: str, text_en: str, actor: User) -> SiteText:
    """Replace the text of ``kind``. The audit log keeps both versions."""
    with transaction.atomic():
        row, _is_new = SiteText.objects.select_for_update().get_or_create(
            kind=kind, defaults={"changed_at": timezone.now()}
        )
        before = {"text_ko": row.text_ko, "text_en": row.text_en}
        after = {"text_ko": text_ko, "text_en": text_en}
        if before != after:
            row.text_ko, row.text_en, row.changed_at = text_ko, text_en, timezone.now()
            row.save()
            audit.record(actor=actor, action="site_text.update", obj=row, before=before, after=after)
    return row
