"""Columns of their own kind: names of stored files, and names of people and competitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.core.text import has_unseen


class StoredFileField(models.CharField):
    """The sha256 of a file in ``core.storage``. As long as a row holds it, the file is kept.

    ``size``: the column with the file's bytes. ``competition``: the path from the row to its competition, which the
    bytes count for.
    """

    def __init__(self, *args: Any, size: str = "", competition: str = "", **kwargs: Any) -> None:
        self.size = size
        self.competition = competition
        super().__init__(*args, **{"max_length": 64, **kwargs})

    def deconstruct(self) -> Any:
        """In migrations it is the plain column that it is in the database."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs


def stored_file_fields() -> Iterator[StoredFileField]:
    """Every column of the site that names stored files."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, StoredFileField):
                yield field


def named_by_rows(addresses: set[str]) -> set[str]:
    """Those of ``addresses`` that a row names now."""
    named: set[str] = set()
    for field in stored_file_fields():
        rows = field.model._base_manager.filter(**{f"{field.name}__in": addresses})
        named.update(rows.values_list(field.name, flat=True))
    return named


def require_seen(text: str) -> None:
    """Raise ``ValidationError`` for a text with characters that nobody sees."""
    if has_unseen(text):
        raise ValidationError(_("눈에 보이지 않는 글자가 있습니다. 지우고 다시 저장해 주십시오."), code="unseen")


class NameField(models.CharField):
    """A name of a person or a competition: without characters that nobody sees, which could disguise it."""

    default_validators = [require_seen]

    def deconstruct(self) -> Any:
        """In migrations it is the plain column that it is in the database."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs
