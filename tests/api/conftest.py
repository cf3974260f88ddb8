"""Somebody with a token, in a team of a contest with an open phase."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from malpan.accounts.services import create_api_token
from malpan.api import documentation
from tests.archive import light_passphrase
from tests.factories import PhaseFactory, TeamFactory, leader_of, prediction_bytes, publish


class Api:
    """A client that carries one person's token."""

    def __init__(self, user=None, phase=None):
        self.client = Client(
            headers={"Authorization": f"Bearer {create_api_token(user=user, label='t')[1]}"} if user else {}
        )
        self.phase = phase

    def address(self, name):
        track = self.phase.track
        return reverse(name, args=[track.competition.slug, track.slug])

    def submit(self, data=None, name="answers.json", key="", **fields):
        upload = SimpleUploadedFile(name, prediction_bytes() if data is None else data)
        headers = {"Idempotency-Key": key} if key else {}
        return self.client.post(self.address("api-submissions"), {"file": upload, **fields}, headers=headers)


@pytest.fixture(autouse=True)
def _archives_are_locked_at_once(monkeypatch):
    """Those that the documented example of a request asks for: every role asks for one."""
    light_passphrase.use(monkeypatch, documentation._OF_NAMES["passphrase"])


@pytest.fixture
def phase():
    phase = PhaseFactory.create(daily_limit=2)
    publish(phase)
    return phase


@pytest.fixture
def team(phase):
    return TeamFactory.create(competition=phase.track.competition)


@pytest.fixture
def api(phase, team):
    return Api(leader_of(team), phase)
