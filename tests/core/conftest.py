"""The two stores of private files, for tests that hold for both."""

from __future__ import annotations

import pytest

from malpan.core.storage.places import configured
from malpan.core.storage.stores import Store


@pytest.fixture(params=["local disk", "s3"])
def store(request: pytest.FixtureRequest) -> Store:
    """The site's store, of each kind in turn."""
    if request.param == "s3":
        request.getfixturevalue("in_s3")
    return configured()
