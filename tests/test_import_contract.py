"""The contract of imports finds a circle, of whatever modules."""

from __future__ import annotations

from itertools import pairwise

import grimp
import pytest

from tests.import_contract import circle_in


def graph_of(*imports: tuple[str, str]) -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for importer, imported in imports:
        graph.add_import(importer=importer, imported=imported)
    return graph


@pytest.mark.parametrize(
    "imports",
    [
        [("a.b", "a.c"), ("a.c", "a.b")],
        [("a", "a.b"), ("a.b", "a")],  # a package and a module of its own
        [("a.b.c", "a.d"), ("a.d", "e"), ("e", "a.b.c"), ("a.d", "a.b")],
    ],
    ids=["siblings", "package", "across"],
)
def test_a_circle_is_found_and_named(imports: list[tuple[str, str]]) -> None:
    found = circle_in(graph_of(*imports))
    assert found[0] == found[-1]
    assert set(pairwise(found)) <= set(imports)


def test_imports_that_lead_one_way_are_no_circle() -> None:
    assert circle_in(graph_of(("a", "a.b"), ("a", "a.c"), ("a.b", "a.c"), ("d", "a"))) == []
