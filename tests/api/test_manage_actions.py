"""Each action of the manage pages has its operation in the API, or a written reason."""

from __future__ import annotations

from malpan.api.documents import document
from malpan.api.routes import api
from tests.api import manage_actions
from tests.web.matrix import routes

NAMES = {pattern.name for route, pattern in routes() if pattern.name and "manage/" in route and "api/" not in route}


def operation_ids() -> set[str]:
    return {each["operationId"] for methods in document(api)["paths"].values() for each in methods.values()}


def test_every_address_of_the_manage_pages_has_its_operation_or_a_reason():
    assert NAMES - manage_actions.COVERED.keys() == set()


def test_the_list_names_no_address_and_no_operation_that_is_not_there():
    assert manage_actions.COVERED.keys() - NAMES == set()
    named = {each for found in manage_actions.COVERED.values() if isinstance(found, tuple) for each in found}
    assert named - operation_ids() == set()


def test_every_operation_for_organisers_does_what_a_page_does():
    found = document(api)["paths"].values()
    organising = {
        each["operationId"] for methods in found for each in methods.values() if "organise" in str(each["security"])
    }
    named = {each for found in manage_actions.COVERED.values() if isinstance(found, tuple) for each in found}
    assert organising - named == set()
