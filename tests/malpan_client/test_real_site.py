"""The command against the site's own web server where something is in its way: what it says, and how it ends."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from malpan.accounts.models import ApiToken, Scope, User
from malpan.accounts.services import create_api_token
from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from tests.factories import PhaseFactory, TeamFactory, leader_of, prediction_bytes, publish
from tests.hanging import Forwarder, forwarded
from tests.malpan_client.conftest import Outcome

pytestmark = pytest.mark.django_db(transaction=True)

By = Callable[..., Outcome]


@pytest.fixture
def phase() -> Phase:
    found = PhaseFactory.create(daily_limit=1)
    publish(found)
    return found


@pytest.fixture
def person(phase: Phase) -> User:
    return leader_of(TeamFactory.create(competition=phase.track.competition))


@pytest.fixture
def place(phase: Phase) -> str:
    return f"{phase.track.competition.slug}/{phase.track.slug}"


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.json"
    path.write_bytes(prediction_bytes() + b" " * 2_000_000)
    return str(path)


@pytest.fixture
def waits(malpan: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long the command would have waited. Nobody else's clock is touched."""
    found: list[float] = []
    monkeypatch.setattr(malpan, "time", SimpleNamespace(sleep=found.append, time=time.time, monotonic=time.monotonic))
    return found


def test_a_full_quota(by_person: By, person: User, place: str, answers: str) -> None:
    by_person(person, "submit", place, answers)
    refused = by_person(person, "submit", place, answers, "--again", "--json", status=4)
    assert "00:00 KST" in refused.err
    assert refused.json["error"]["next_allowed_at"]
    assert Submission.objects.count() == 1


def test_a_closed_phase(by_person: By, phase: Phase, person: User, place: str, answers: str) -> None:
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(minutes=1))
    assert "제출을 받지 않습니다" in by_person(person, "submit", place, answers, status=4).err
    refused = by_person(person, "check", place, answers, "--lang", "en", "--json", status=4)
    assert refused.json["error"]["code"] == "phase_not_open"


def test_a_wrong_token(by_person: By, person: User, tokens: dict[int, str], place: str, answers: str) -> None:
    tokens[person.pk] = "mlp_nobody-has-this-token"
    refused = by_person(person, "submit", place, answers, "--json", status=3)
    assert refused.json["error"]["code"] == "api_token_invalid"
    assert "malpan login" in refused.err


def test_an_expired_token(by_person: By, person: User, place: str, answers: str) -> None:
    by_person(person, "whoami")
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    refused = by_person(person, "submit", place, answers, "--json", status=3)
    assert refused.json["error"]["code"] == "api_token_expired"
    assert "만료" in refused.err


def test_a_token_for_reading_alone(
    by_person: By, person: User, tokens: dict[int, str], place: str, answers: str
) -> None:
    tokens[person.pk] = create_api_token(user=person, label="t", scopes=[Scope.READ])[1]
    by_person(person, "limits", place)
    assert by_person(person, "submit", place, answers, "--json", status=3).json["error"]["code"] == "api_scope_missing"


def test_a_limit_of_requests_is_sat_out(
    by_person: By, person: User, place: str, waits: list[float], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    clock = SimpleNamespace(time=lambda: 1_800_000_020.0, monotonic=time.monotonic)  # 20 seconds into a minute
    monkeypatch.setattr("malpan.core.limits.time", clock)
    settings.API_REQUESTS_PER_TOKEN = 1
    by_person(person, "limits", place)
    refused = by_person(person, "limits", place, "--max-wait", "39", status=4)
    assert "40초 뒤" in refused.err
    assert waits == []

    by_person(person, "limits", place, "--max-wait", "81", status=4)
    assert waits == [40.0, 40.0], "asked again when the server said, and then no more"


def test_a_server_of_another_version(by_person: By, person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malpan.api.http.VERSION", "2.0.0")
    refused = by_person(person, "whoami", status=8)
    assert "2.0.0" in refused.err
    assert "/api/malpan.py" in refused.err


def test_a_defect_of_the_server_names_the_request(
    by_person: By, person: User, place: str, answers: str, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("malpan.api.submissions.submit", fail)
    refused = by_person(person, "submit", place, answers, "--max-wait", "3", "--json", status=5)
    assert refused.json["error"]["code"] == "server_error"
    assert "요청 번호" in refused.err
    assert "같은 키로" in refused.err
    assert waits == [1.0, 2.0]


# --- a network that fails ---------------------------------------------------------------------------------------------
@pytest.fixture
def network(site: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forwarder]:
    """What lies between the command and the site."""
    with forwarded(int(site.rpartition(":")[2])) as found:
        yield found


def cut(network: Forwarder, *, after: int, once: bool = True) -> list[int]:
    """Cut the connection of an upload ``after`` so many bytes of it; 0: when it is answered that it was accepted.
    How many bytes had passed, each time.
    """
    cuts: list[int] = []
    carry = network.carry

    def carry_some(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            data, done = source.recv(65536), 0
            is_it = data.startswith(b"POST") if after else b" 201 " in data[:20]
            if is_it and not (once and cuts):
                while done < after and data:
                    target.sendall(data)
                    done += len(data)
                    data = source.recv(65536)
                cuts.append(done)
                source.shutdown(socket.SHUT_RDWR)
                target.shutdown(socket.SHUT_RDWR)
                return
            target.sendall(data)
        carry(source, target)

    network.carry = carry_some  # type: ignore[method-assign]
    return cuts


@pytest.mark.parametrize("after", [1_000_000, 0], ids=["in the middle of the upload", "before the answer"])
def test_a_connection_that_is_cut_leaves_one_submission(
    by_person: By, network: Forwarder, person: User, place: str, answers: str, waits: list[float], after: int
) -> None:
    cuts = cut(network, after=after)
    done = by_person(person, "submit", place, answers, "--json", "--site", f"http://127.0.0.1:{network.port}")
    assert len(cuts) == 1
    assert done.json["submission"]["id"] == str(Submission.objects.get().public_id)
    assert done.json["is_new"] is bool(after), "the second time it was there already"
    assert waits == [1.0]


def test_a_connection_that_stays_cut_is_gone_on_with_after_the_end_of_the_phase(
    by_person: By, network: Forwarder, phase: Phase, person: User, place: str, answers: str, waits: list[float]
) -> None:
    cut(network, after=0, once=False)
    words = ["submit", place, answers, "--json", "--site", f"http://127.0.0.1:{network.port}"]
    failed = by_person(person, *words, "--max-wait", "0", status=5)
    assert "같은 키로" in failed.err
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now())
    assert by_person(person, *words).json["is_new"] is False
    assert Submission.objects.count() == 1
