"""The table of personal data names every column that can say who somebody is, and the document says the same."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress, EmailConfirmation
from django.apps import apps
from django.db.models import EmailField, Field

from malpan.accounts.models import ApiToken, User
from malpan.privacy.holdings import HOLDINGS, SUBJECTS, Holding, table
from tests.paths import ROOT


def columns() -> list[Field[Any, Any]]:
    """Every column of every table, also of those that relations make."""
    return [field for model in apps.get_models(include_auto_created=True) for field in model._meta.concrete_fields]


def test_every_column_that_refers_to_a_person_is_in_the_table() -> None:
    referring = {f"{f.model._meta.label_lower}.{f.name}" for f in columns() if f.related_model is User}
    assert len(referring) > 20
    assert referring - {holding.name for holding in HOLDINGS} == set()


def test_every_address_is_in_the_table() -> None:
    addresses = {f"{f.model._meta.label_lower}.{f.name}" for f in columns() if isinstance(f, EmailField)}
    of_people = {"accounts.user.email", "account.emailaddress.email"}
    assert addresses == {*of_people, "teams.invitation.email", "arena.campaignjudge.email"}
    assert addresses <= _named()


def test_every_column_of_an_account_is_exported_or_withheld() -> None:
    for model in (User, ApiToken, EmailAddress, EmailConfirmation):
        there = {f"{model._meta.label_lower}.{field.name}" for field in model._meta.concrete_fields}
        left = {name for name in there - _named() if not name.endswith(".id")}
        assert left == ({"account.emailconfirmation.email_address"} if model is EmailConfirmation else set())


def _named() -> set[str]:
    return {f"{held.model._meta.label_lower}.{name}" for held in HOLDINGS for name in _columns_of(held)}


def _columns_of(held: Holding) -> tuple[str, ...]:
    return (held.person, *held.shown, *held.withheld)


def test_texts_that_a_person_wrote_are_exported() -> None:
    assert all(set(held.texts) <= set(held.shown) for held in HOLDINGS)


def test_the_document_has_the_table() -> None:
    document = (ROOT / "deploy/OPERATIONS.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in document, "\n".join(table())


def test_every_subject_lies_somewhere() -> None:
    assert {held.subject for held in HOLDINGS} == set(SUBJECTS)
