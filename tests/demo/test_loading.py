"""Loading the demo when something comes between; what a load brings is in ``test_loaded``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from malpan.competitions.models import Competition, Phase
from malpan.demo import loading
from malpan.demo.loading import LoadCount, load_demo
from malpan.submissions import intake
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Team
from tests.demo.test_loaded import EXPECTED
from tests.submissions.conftest import collect_rings

pytestmark = pytest.mark.django_db


@pytest.fixture
def rings(monkeypatch) -> list[str]:
    """A task for each ring of the doorbell; no worker is there."""
    return collect_rings(monkeypatch)


def load(capture) -> LoadCount:
    with capture(execute=True):
        return load_demo()


def test_a_load_that_was_cut_off_is_finished_by_the_next(
    rings, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    real, calls = intake.submit, []

    def submit_nine(**arguments):
        calls.append(arguments)
        if len(calls) > 9:
            raise KeyboardInterrupt
        return real(**arguments)

    monkeypatch.setattr(loading, "submit", submit_nine)
    with pytest.raises(KeyboardInterrupt):
        load(django_capture_on_commit_callbacks)
    assert 0 < Submission.objects.count() < EXPECTED.submissions
    monkeypatch.setattr(loading, "submit", real)
    load(django_capture_on_commit_callbacks)
    assert Submission.objects.count() == EXPECTED.submissions
    assert Rejection.objects.count() == EXPECTED.rejections
    assert Submission.objects.values("phase", "team", "file_sha256").distinct().count() == EXPECTED.submissions


@pytest.mark.django_db(transaction=True)
def test_two_loads_at_once_bring_the_demo_once(rings) -> None:
    def in_a_thread() -> LoadCount:
        try:
            return load_demo()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        counts = [future.result() for future in [pool.submit(in_a_thread) for _ in range(2)]]
    assert sorted(count.submissions for count in counts) == [0, EXPECTED.submissions]
    assert Submission.objects.count() == len(rings) == EXPECTED.submissions


def test_a_set_up_that_fails_leaves_no_half_competition(rings, monkeypatch) -> None:
    def fail(**_arguments):
        raise OSError("disk")

    monkeypatch.setattr("malpan.demo.assembly.add_data_file", fail)
    with pytest.raises(OSError, match="disk"):
        load_demo()
    assert not Competition.objects.exists()
    assert not Team.objects.exists()


def test_a_competition_of_somebody_else_at_the_demo_address_is_left_alone(rings) -> None:
    Competition.objects.create(slug="demo", title_ko="남의 대회")
    with pytest.raises(CommandError, match="'demo'"):
        call_command("load_demo")
    assert not Phase.objects.filter(track__competition__slug="demo").exists()
