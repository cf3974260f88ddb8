"""The contest that the tests of rescoring share, module by module."""

from __future__ import annotations

import pytest

from tests.submissions.conftest import collect_rings, work_uncommitted
from tests.submissions.rescoring.contest_of_many import Contest, few_teams, with_fake_models


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    """Three teams with two scored submissions each."""
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        with_fake_models(patched)
        work_uncommitted(patched)
        return few_teams()
