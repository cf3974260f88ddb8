"""What reading a file costs is not to depend on what ran before in this process."""

import gc

import pytest


@pytest.fixture(scope="package", autouse=True)
def _the_past_is_no_garbage() -> None:
    """Reading makes millions of objects, and each pass over a heap of models and libraries would count as its time."""
    gc.collect()
    gc.freeze()
