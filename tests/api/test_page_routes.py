"""Each page has its operation in the API, or a written reason, as manage actions have (``test_manage_actions``)."""

from __future__ import annotations

from malpan.api.documents import document
from malpan.api.routes import api
from tests.api import manage_actions, page_routes
from tests.web.matrix import routes

ELSEWHERE = ("api/", "admin/", "accounts/")  # the API itself; Django's and allauth's pages
NAMES = {
    pattern.name
    for route, pattern in routes()
    if pattern.name and "manage/" not in route and not route.startswith(ELSEWHERE)
}


def operation_ids() -> set[str]:
    return {each["operationId"] for methods in document(api)["paths"].values() for each in methods.values()}


def named(found: dict[str, tuple[str, ...] | str]) -> set[str]:
    return {each for operations in found.values() if isinstance(operations, tuple) for each in operations}


def test_every_page_has_its_operation_or_a_reason():
    assert NAMES - page_routes.COVERED.keys() == set()


def test_the_list_names_no_page_and_no_operation_that_is_not_there():
    assert page_routes.COVERED.keys() - NAMES == set()
    assert named(page_routes.COVERED) - operation_ids() == set()


def test_no_route_without_a_name_is_forgotten():
    unnamed = [route for route, pattern in routes() if not pattern.name and not route.startswith(ELSEWHERE)]
    assert unnamed == []


def test_every_operation_does_what_some_page_does():
    known = named(page_routes.COVERED) | named(manage_actions.COVERED)
    assert operation_ids() - known == {"whoami"}  # whose token this is
