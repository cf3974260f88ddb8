"""What a competition stores, how much it may, and whose fault it is when that is full."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import StringIO
from types import ModuleType
from typing import IO

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation

from malpan.competitions import services, versions
from malpan.competitions.drafts import create_draft
from malpan.competitions.errors import CompetitionStorageFull
from malpan.competitions.models import Competition, DataFile, ReferenceVersion
from malpan.competitions.room import Usage, require_room, set_storage_limit, usage_of
from malpan.competitions.services import add_data_file, update_competition
from malpan.core.errors import SystemFault
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.core.storage import StoredFile
from malpan.submissions import intake
from malpan.submissions.models import Submission
from malpan.submissions.quota import services as quota
from tests.factories import PhaseFactory, TeamFactory, prediction_bytes, publish, reference_bytes
from tests.submissions.conftest import send
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    phase = PhaseFactory.create()
    publish(phase)
    return phase


@pytest.fixture
def competition(phase) -> Competition:
    return phase.track.competition


@pytest.fixture
def team(competition):
    return TeamFactory.create(competition=competition)


def offer(phase, data: bytes | io.BytesIO) -> DataFile:
    return add_data_file(track=phase.track, kind="data", title_ko="자료", file_name="q.json", data=data)


def test_references_data_and_submissions_count_and_the_same_bytes_once(phase, competition, team):
    assert usage_of(competition) == Usage(files=1, size=len(reference_bytes()), limit=0)
    offer(phase, b"12345")
    offer(phase, b"12345")
    sent = send(phase, team)
    send(phase, TeamFactory.create(competition=competition))  # the same answers
    offer(PhaseFactory.create(), b"of another competition")

    expected = len(reference_bytes()) + 5 + len(prediction_bytes())
    assert usage_of(competition) == Usage(files=3, size=expected, limit=0)
    assert sent.file_size == len(prediction_bytes())
    assert ReferenceVersion.objects.get(phase=phase).file_size == len(reference_bytes())


def test_file_goes_in_up_to_the_limit_and_not_a_byte_more(phase, competition):
    used = usage_of(competition).size
    set_storage_limit(competition=competition, limit=used + 10)

    with pytest.raises(CompetitionStorageFull) as refused:
        offer(phase, io.BytesIO(b"12345678901"))
    offer(phase, io.BytesIO(b"1234567890"))
    with pytest.raises(CompetitionStorageFull):
        publish(phase, count=5)

    assert refused.value.params == {"used_bytes": used, "limit_bytes": used + 10}
    assert usage_of(competition).size == used + 10


def test_refused_submission_costs_nothing_and_is_called_our_fault(phase, competition, team):
    set_storage_limit(competition=competition, limit=usage_of(competition).size + 1)

    with pytest.raises(CompetitionStorageFull) as refused:
        send(phase, team)

    assert isinstance(refused.value, SystemFault)
    assert quota.status(phase=phase, team=team).used_total == 0
    assert not Submission.objects.exists()
    with translation.override("en"):
        text = text_of(refused.value)
    assert "organisers" in text
    assert "no submission is charged" in text


def test_room_that_others_took_meanwhile_is_seen_before_the_commit(phase, competition, team, monkeypatch):
    set_storage_limit(competition=competition, limit=usage_of(competition).size + len(prediction_bytes(mark=1)))
    store = intake.store_private

    def another_is_faster(data: bytes):
        monkeypatch.setattr(intake, "store_private", store)
        send(phase, TeamFactory.create(competition=competition), prediction_bytes(mark=1))
        return store(data)

    monkeypatch.setattr(intake, "store_private", another_is_faster)
    with pytest.raises(CompetitionStorageFull):
        send(phase, team, prediction_bytes(mark=2))
    assert Submission.objects.count() == 1


def test_the_site_sets_a_limit_for_those_without_their_own(competition, settings):
    settings.COMPETITION_STORAGE_BYTES = 1
    with pytest.raises(CompetitionStorageFull):
        require_room(competition)
    set_storage_limit(competition=competition, limit=0)
    require_room(competition, 10**12)


def test_organisers_cannot_raise_their_own_limit(competition):
    with pytest.raises(TypeError):
        update_competition(competition=competition, actor=None, storage_limit=0)


def test_command_shows_and_sets(competition):
    def shown(*arguments: str) -> str:
        out = StringIO()
        with translation.override("en"):
            call_command("storage_usage", *arguments, stdout=out)
        return out.getvalue()

    assert f"{competition.slug}: 파일 / files 1, {len(reference_bytes())}" in shown().replace("\xa0", " ")
    assert "limit 2.0 GB" in shown(competition.slug, "--limit", "2G").replace("\xa0", " ")
    assert usage_of(competition).limit == 2 * 1024**3
    entry = AuditEntry.objects.get(action="competition.set_storage_limit")
    assert (entry.before, entry.after) == ({"storage_limit": None}, {"storage_limit": 2 * 1024**3})
    shown(competition.slug, "--limit", "default")
    assert Competition.objects.get(pk=competition.pk).storage_limit is None
    for wrong in (("--limit", "2G"), ("no-such",), (competition.slug, "--limit", "much")):
        with pytest.raises(CommandError):
            shown(*wrong)


def two_data_files(phase) -> list[tuple[Callable[[], object], int]]:
    return [(lambda data=data: offer(phase, data), len(data)) for data in (b"12345", b"67890")]


def two_drafts(phase) -> list[tuple[Callable[[], object], int]]:
    files = [reference_bytes(count) for count in (5, 6)]
    return [(lambda data=data: create_draft(phase=phase, data=data, actor=None), len(data)) for data in files]


def first_references_of_two_phases(phase) -> list[tuple[Callable[[], object], int]]:
    calls = []
    for count in (5, 6):
        of = PhaseFactory.create(track=phase.track)
        calls.append((partial(publish, of, count), len(reference_bytes(count))))
    return calls


def two_tables_of_synonyms(phase) -> list[tuple[Callable[[], object], int]]:
    for_words = PhaseFactory.create(track__competition=phase.track.competition, track__recipe="captioning-lexical@1")
    make = partial(create_draft, phase=for_words, data=reference_bytes(), actor=None)
    return [(partial(make, synonyms=table), len(table)) for table in map(table_of, ("자체", "우리"))]


def table_of(source: str) -> bytes:
    """A table of synonyms, larger than the references."""
    words = "".join(f"{place // 2}\t{chr(ord('가') + place)}\tnoun\t{source}\n" for place in range(80))
    return f"group\tword\tpos\tsource\n{words}".encode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("two_of", [two_data_files, two_drafts, first_references_of_two_phases, two_tables_of_synonyms])
def test_of_two_at_once_that_fit_alone_and_not_together_one_is_refused(phase, competition, monkeypatch, two_of):
    two = two_of(phase)
    limit = usage_of(competition).size + max(size for _call, size in two)
    set_storage_limit(competition=competition, limit=limit)
    both = threading.Barrier(2, timeout=30)

    def after_both_have_looked(module: ModuleType) -> None:
        store = module.store_private

        def wait_and_store(data: bytes | IO[bytes]) -> StoredFile:
            with suppress(threading.BrokenBarrierError):  # a second file of the same upload
                both.wait()
            both.abort()
            return store(data)

        monkeypatch.setattr(module, "store_private", wait_and_store)

    after_both_have_looked(services)
    after_both_have_looked(versions)
    outcomes = at_once([call for call, _size in two])

    assert sorted(isinstance(each, CompetitionStorageFull) for each in outcomes) == [False, True]
    assert usage_of(competition).size <= limit
