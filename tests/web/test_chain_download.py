"""chain.json and the page of a chain: read from what is there, made once for each state of the chain."""

from __future__ import annotations

import gc
import json
import re
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache, caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.core import limits
from malpan.leaderboard import openings
from malpan.leaderboard.openings import read_chain
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import ChainEntry, HiddenResult, Submission
from malpan.teams.models import Team
from malpan.web import kept_files
from malpan.web.pages.chain import CHAINS
from tests.factories import TeamFactory, UserFactory, finished_submission
from tests.web.conftest import SCORES

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(phase: Phase, team: Team) -> Submission:
    return recorded(phase, team, 0.8222839456)


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()
    for name in ("fragments", "lines"):
        caches[name].clear()


def recorded(phase: Phase, team: Team, final_score: float) -> Submission:
    submission = finished_submission(phase, team, final_score, scores=SCORES)
    receipts.issue_receipt(submission=submission)
    chain.append_scores([submission])
    return submission


def address(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/chain.json"


def content(answer: Any) -> str:
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def get(phase: Phase, **headers: str) -> Any:
    return Client().get(address(phase), headers={name.replace("_", "-"): value for name, value in headers.items()})


def queries_of(do: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as queries:
        do()
    return len(queries)


def test_whoever_has_the_chain_is_told_so_and_nothing_is_computed(
    phase: Phase, team: Team, submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    etag = get(phase)["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{64}"', etag)
    before = queries_of(lambda: get(phase, if_none_match=etag))
    for number in range(40):
        chain.append(competition=team.competition, kind="board", payload={"number": number})
    longer = get(phase)
    assert longer["ETag"] != etag
    for name in ("_final_results", "on_public_board", "openings"):
        monkeypatch.setattr(openings, name, lambda *_given: pytest.fail("it was computed"))

    with CaptureQueriesContext(connection) as queries:
        answer = get(phase, if_none_match=longer["ETag"])

    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", longer["ETag"])
    assert len(queries) == before <= 6
    assert sum("submissions_chainentry" in query["sql"] for query in queries) == 1, "the newest entry alone"
    assert queries_of(lambda: content(get(phase))) == before, "who has nothing gets the file that is there"


def test_the_file_is_the_entries_with_what_the_page_opens(phase: Phase, team: Team, submission: Submission) -> None:
    worse = recorded(phase, team, 0.4)
    other = recorded(phase, TeamFactory.create(competition=team.competition, name="다른 팀"), 1e-05)
    chain.append(competition=team.competition, kind="board", payload={"board": "공개", "number": None, "is_last": True})
    entries = list(ChainEntry.objects.filter(competition=team.competition).select_related("submission"))

    found = json.loads(content(get(phase)))

    opened = read_chain(team.competition, lambda public: public.openings(entries))
    assert found == {
        "format": "malpan-chain@2",
        "competition": team.competition.slug,
        "entries": [receipts.entry_as_dict(entry, opened.get(entry.number)) for entry in entries],
    }
    shown = {entry.submission for entry in entries if entry.kind == "score" and entry.number in opened}
    assert shown == {submission, other} != {worse}
    assert content(get(phase)).count("\n") == len(entries) + 2, "one line each"


def test_the_chain_of_a_published_final_board_opens_the_private_scores(phase: Phase, team: Team) -> None:
    ReferenceVersion.objects.filter(phase=phase).update(public_ids=["q1"])
    submission = recorded(phase, team, 0.5)
    private = {"final_score": 0.2571938, "scores": {"bleurt": 1 / 3}, "signature_hash": "h"}
    HiddenResult.objects.create(run=submission.live_run, **private)
    chain.append_scores([submission])
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now())
    before = get(phase)
    assert "0.2571938" not in content(before)

    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))

    after = get(phase, if_none_match=before["ETag"])
    entries = json.loads(content(after))["entries"]
    opened = {entry["payload"].get("part"): entry["opening"] for entry in entries if "opening" in entry}
    assert opened["private"]["final_score"] == "0.2571938"
    assert opened["public"]["final_score"] == "0.5"


def _hidden() -> dict[str, Any]:
    return {"board": "hidden"}


def _frozen() -> dict[str, Any]:
    return {"board": "frozen", "frozen_at": timezone.now() - timedelta(days=1)}


@pytest.mark.parametrize("changes", [_hidden, _frozen])
def test_what_was_open_is_shut_by_a_board_that_is_hidden_or_frozen(
    phase: Phase, submission: Submission, changes: Callable[[], dict[str, Any]]
) -> None:
    """No file of before is handed out: its state has another name."""
    salts = set(ChainEntry.objects.exclude(salt="").values_list("salt", flat=True))
    first = get(phase)
    text = content(first)
    assert all(salt in text for salt in salts)

    Phase.objects.filter(pk=phase.pk).update(**changes())

    shut = get(phase, if_none_match=first["ETag"])
    text = content(shut)
    assert shut["ETag"] != first["ETag"]
    assert not any(salt in text for salt in salts)
    assert submission.file_sha256 not in text


def test_a_freeze_that_comes_by_itself_is_another_state(
    phase: Phase, submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = timezone.now() + timedelta(hours=1)
    Phase.objects.filter(pk=phase.pk).update(board="frozen", frozen_at=moment)
    before = get(phase)["ETag"]
    assert get(phase, if_none_match=before).status_code == 304
    monkeypatch.setattr(timezone, "now", lambda: moment + timedelta(seconds=1))
    assert get(phase, if_none_match=before).status_code == 200


def test_a_score_that_changes_is_another_state_and_back_again_too(phase: Phase, team: Team) -> None:
    recorded(phase, team, 0.4)
    seen = [get(phase)["ETag"]]
    better = recorded(phase, team, 0.9)
    seen.append(get(phase)["ETag"])
    Submission.objects.filter(pk=better.pk).update(withdrawn_at=timezone.now())  # the board shows the other one again
    last = get(phase)
    seen.append(last["ETag"])
    assert len(set(seen)) == 3
    assert '"0.9"' not in content(last)


def test_an_address_has_so_many_downloads_a_minute_and_an_unchanged_one_is_none(
    phase: Phase, submission: Submission, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_020.0)  # 20 seconds into a minute
    settings.CHAIN_DOWNLOADS_PER_ADDRESS = 2
    etag = get(phase)["ETag"]
    for _again in range(5):
        assert get(phase, if_none_match=etag).status_code == 304
    assert get(phase)["RateLimit"] == '"chain";r=0;t=40'

    refused = get(phase)

    assert (refused.status_code, refused["Retry-After"]) == (429, "40")
    assert "2건을 모두 썼습니다" in refused.content.decode()
    assert Client(REMOTE_ADDR="203.0.113.9").get(address(phase)).status_code == 200
    assert get(phase, if_none_match=etag).status_code == 304


def test_one_file_is_made_at_a_time_and_who_cannot_wait_is_told_when_to_come(
    phase: Phase, team: Team, submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "PATIENCE", 0.01)
    content(get(phase))
    with CHAINS.one_at_a_time() as is_mine:
        assert is_mine
        assert content(get(phase)), "what is there is handed out meanwhile"
        chain.append(competition=team.competition, kind="board", payload={"number": 1})
        refused = get(phase)
        assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    assert content(get(phase))


def test_a_download_that_was_cut_off_goes_on(phase: Phase, submission: Submission) -> None:
    whole = get(phase)
    text = content(whole)
    rest = get(phase, range="bytes=10-", if_range=whole["ETag"])
    assert (rest.status_code, b"".join(rest.streaming_content).decode()) == (206, text[10:])
    assert whole["Content-Length"] == str(len(text.encode()))
    assert whole["Content-Type"] == "application/json"


def test_kept_files_have_many_readers_and_the_oldest_goes_with_its_last() -> None:
    files = kept_files.KeptFiles(2)
    first = files.keep("one", ["가나다", "라"])
    second = files.get("one")
    assert second is not None
    assert (first.read(3).decode(), second.read().decode(), first.read().decode()) == ("가", "가나다라", "나다라")
    for name in ("two", "three"):
        files.keep(name, [name])
    assert files.get("one") is None
    first.seek(0)
    assert first.read().decode() == "가나다라"


def test_a_file_that_nobody_keeps_or_reads_is_closed() -> None:
    """Python would warn of one that it finds open (``ResourceWarning``)."""
    files = kept_files.KeptFiles(1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for name in ("one", "two", "three"):
            files.keep(name, [name]).close()
        del files
        gc.collect()
    assert [each.message for each in told if "BufferedRandom" in str(each.message)] == []


def test_making_a_file_that_fails_keeps_nothing() -> None:
    def broken() -> Iterator[str]:
        yield "half"
        raise RuntimeError

    files = kept_files.KeptFiles(2)
    with pytest.raises(RuntimeError):
        files.keep("one", broken())
    assert files.get("one") is None


def test_a_page_that_did_not_change_takes_few_queries(phase: Phase, team: Team, submission: Submission) -> None:
    where = address(phase).replace(".json", "/")
    first = Client().get(where).content.decode()
    with CaptureQueriesContext(connection) as queries:
        again = Client().get(where).content.decode()
    assert len(queries) <= 6
    assert 'id="entry-2"' in first
    assert "82.2283946" in first
    assert again == first

    for name, changes in {"hidden": {"board": "hidden"}, "open": {"board": "live"}}.items():
        Phase.objects.filter(pk=phase.pk).update(**changes)
        assert ("82.2283946" in Client().get(where).content.decode()) is (name == "open")
    phase.track.title_ko = "이름을 바꾼 트랙"
    phase.track.save()
    assert "이름을 바꾼 트랙 ·" in Client().get(where).content.decode()
