"""The admin as an organiser's browser uses it. Test modules import the two fixtures."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from malpan.accounts.models import User
from tests.factories import UserFactory


@pytest.fixture
def organiser(db: None) -> User:
    return UserFactory.create(is_staff=True, is_superuser=True)


@pytest.fixture
def pages(organiser: User) -> Client:
    """A browser signed in as the organiser."""
    client = Client()
    client.force_login(organiser)
    return client


def address(model: type[Model], page: str, *args: Any) -> str:
    """The address of an admin page of ``model``: ``changelist``, ``add``, ``change``, ``delete``."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def fields_of(response: Any) -> dict[str, Any]:
    """What the form of a page would send back unchanged."""
    form = response.context["adminform"].form
    sent: dict[str, Any] = {}
    for bound in form:
        value = bound.value()
        if hasattr(bound.field.widget, "decompress") and not isinstance(value, list):
            parts = bound.field.widget.decompress(value)
            sent |= {f"{bound.html_name}_{number}": part for number, part in enumerate(parts)}
        elif value is not None and value is not False:
            sent[bound.html_name] = value
    for formset in response.context["inline_admin_formsets"]:
        for bound in formset.formset.management_form:
            sent[bound.html_name] = bound.value()
        for each in formset.formset.forms:
            sent |= {bound.html_name: bound.value() for bound in each if bound.value() is not None}
    return sent
