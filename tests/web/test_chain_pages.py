"""기록 확인: the chain's page and download, receipts, and the script that anybody runs."""

from __future__ import annotations

import hashlib
import json
import runpy
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.verification import verify_competition
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import ChainEntry, HiddenResult, Submission
from malpan.teams.models import Team
from malpan.web.pages.chain import SCRIPT
from scoring.composite import COMPARED_DECIMALS
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission
from tests.web.conftest import SCORES, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(phase: Phase, team: Team) -> Submission:
    """A scored submission with its receipt and score in the chain."""
    return recorded(phase, team, 0.8222839456)


def recorded(phase: Phase, team: Team, final_score: float) -> Submission:
    submission = finished_submission(phase, team, final_score, scores=SCORES)
    receipts.issue_receipt(submission=submission)
    chain.append_scores([submission])
    return submission


def body(response: Any) -> Any:
    return json.loads(b"".join(response.streaming_content) if response.streaming else response.content)


def chain_url(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/chain"


def board_url(phase: Phase) -> str:
    return f"/api/v1/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/board/"


def run_script(folder: Path, more: Sequence[Any] = (), **files: Any) -> subprocess.CompletedProcess[str]:
    """What a participant does: download, run, read."""
    paths = {}
    for name, content in files.items():
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    script = folder / "verify_chain.py"
    script.write_bytes(Client().get("/verify_chain.py").content)
    options = [item for name in ("board", "receipt") if name in paths for item in (f"--{name}", str(paths[name]))]
    command = [sys.executable, "-I", str(script), str(paths["chain"]), *options, *map(str, more)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_script_takes_a_board_of_several_pages_and_asks_for_those_that_are_missing(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    files = all_files(phase, submission, member)
    board = files["board"]
    assert (board["row_count"], board["next"]) == (1, None)
    second = tmp_path / "second.json"
    second.write_text(json.dumps(board), encoding="utf-8")
    first = {**board, "rows": []}

    missing = run_script(tmp_path, chain=files["chain"], board=first)
    whole = run_script(tmp_path, chain=files["chain"], board=first, more=["--board", tmp_path / "board.json", second])

    assert (missing.returncode, "0 of the board's 1 rows are there" in missing.stdout) == (2, True)
    assert (whole.returncode, "All 1 scores of the board equal" in whole.stdout) == (0, True), whole.stdout


def all_files(phase: Phase, submission: Submission, member: Client) -> dict[str, Any]:
    return {
        "chain": body(Client().get(f"{chain_url(phase)}.json")),
        "board": body(Client().get(board_url(phase))),
        "receipt": body(member.get(f"/submissions/{submission.public_id}/receipt.json")),
    }


def test_script_compares_to_as_many_decimals_as_the_site() -> None:
    assert runpy.run_path(str(SCRIPT))["DECIMALS"] == COMPARED_DECIMALS


def test_script_is_served_as_text_and_needs_nothing_but_python() -> None:
    response = Client().get("/verify_chain.py")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content == SCRIPT.read_bytes()
    imports = [line for line in response.content.decode().splitlines() if line.startswith(("import ", "from "))]
    assert imports == [
        "from __future__ import annotations",
        "import argparse",
        "import hashlib",
        "import json",
        "import math",
        "import operator",
        "import sys",
        "from bisect import bisect_left, bisect_right",
        "from datetime import datetime",
        "from itertools import zip_longest",
        "from typing import Any",
    ]


def test_script_finds_chain_board_and_receipt_of_a_sound_site_in_order(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    recorded(phase, TeamFactory.create(competition=phase.track.competition), 0.1 + 0.2)
    done = run_script(tmp_path, **all_files(phase, submission, member))
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("[OK]") == 5
    assert "chain.json: 사슬이 온전합니다" in done.stdout
    assert "chain.json: The chain is intact" in done.stdout
    assert "board.json · 공개 순위표: 제출 시각 2개가 접수 기록과 같습니다" in done.stdout
    assert "receipt.json: All 2 entries of the receipt" in done.stdout
    *_rest, korean, english = done.stdout.splitlines()
    assert korean.startswith("[--] 사슬에 적히지 않아 견주지 않은 것: 공개 순위표의 팀 이름")
    assert english.startswith("     Not recorded in the chain and not compared: team names")
    assert "심사의 제목" not in korean, "no stages were given"


def _earlier(rows: Any) -> None:
    rows[1]["submitted_at"] = "2026-01-01T00:00:00.000+09:00"


def _swapped_ranks(rows: Any) -> None:
    rows[0]["rank"], rows[1]["rank"] = 2, 1


@pytest.mark.parametrize(
    ("change", "english"),
    [
        (_earlier, "it was recorded as received at"),
        (_swapped_ranks, "does not follow from scores and times"),
        (lambda rows: rows.reverse(), "does not follow from scores and times"),
    ],
)
def test_script_sees_a_time_and_an_order_that_are_not_as_recorded(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path, change: Any, english: str
) -> None:
    recorded(phase, TeamFactory.create(competition=phase.track.competition), 0.1 + 0.2)
    files = all_files(phase, submission, member)
    change(files["board"]["rows"])
    done = run_script(tmp_path, **files)
    assert done.returncode == 1, done.stdout
    assert english in done.stdout


def test_of_equal_scores_the_earlier_submission_is_first(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    recorded(phase, TeamFactory.create(competition=phase.track.competition), 0.8222839456)
    files = all_files(phase, submission, member)
    assert run_script(tmp_path, **files).returncode == 0
    rows = files["board"]["rows"]
    rows.reverse()
    rows[0]["rank"], rows[1]["rank"] = 1, 2
    done = run_script(tmp_path, **files)
    assert (done.returncode, done.stdout.count("[!!]")) == (1, 1), done.stdout


@pytest.mark.parametrize(
    ("content", "korean"),
    [
        (None, "이런 파일이 없습니다"),
        (b'{"rows": [', "JSON 파일이 아니거나 중간에 끊겼습니다(1번째 줄 11번째 글자)"),
        (b"", "JSON 파일이 아니거나 중간에 끊겼습니다"),
        ("점수".encode("cp949"), "UTF-8 글이 아닙니다"),
    ],
)
def test_script_names_a_file_that_it_cannot_read(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path, content: bytes | None, korean: str
) -> None:
    other = tmp_path / "other.json"
    if content is not None:
        other.write_bytes(content)
    done = run_script(tmp_path, **all_files(phase, submission, member), more=["--board", other])
    assert (done.returncode, done.stderr) == (2, "")
    assert f"[??] {other}: {korean}" in done.stdout
    assert "Error(" not in done.stdout


def test_script_names_a_board_without_the_final_one_that_was_recorded(
    phase: Phase, published: BoardSnapshot, tmp_path: Path
) -> None:
    files = {"chain": body(Client().get(f"{chain_url(phase)}.json")), "board": body(Client().get(board_url(phase)))}
    files["board"]["final"] = None
    done = run_script(tmp_path, **files)
    assert (done.returncode, "A final board is recorded and not in the file" in done.stdout) == (1, True)


def rewritten(entries: list[Any], place: int) -> list[Any]:
    """The chain from ``place`` on with another payload there, all links and hashes made anew: intact by itself."""
    entries = json.loads(json.dumps(entries))
    entries[place]["payload"]["rewritten"] = True
    previous = entries[place]["previous"]
    for entry in entries[place:]:
        entry["previous"] = previous
        body = {name: entry[name] for name in ("number", "kind", "payload", "previous")}
        text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        entry["sha256"] = previous = hashlib.sha256(text.encode()).hexdigest()
    return entries


def test_script_sees_a_chain_that_was_rewritten_as_a_whole_by_what_was_kept(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    kept = body(member.get(f"{chain_url(phase)}.json"))
    noted = kept["entries"][-1]["sha256"]
    recorded(phase, TeamFactory.create(competition=phase.track.competition), 0.25)
    now = body(member.get(f"{chain_url(phase)}.json"))
    (tmp_path / "kept.json").write_text(json.dumps(kept))
    known = ["--kept", tmp_path / "kept.json", "--newest", noted.upper()]

    done = run_script(tmp_path, known, chain=now)
    assert done.returncode == 0, done.stdout
    count, added = len(kept["entries"]), len(now["entries"]) - len(kept["entries"])
    assert added > 0
    assert f"All {count} entries of the kept copy are there unchanged; {added} were added since" in done.stdout
    assert f"The noted sha256 is that of entry {count}; {added} were added since" in done.stdout

    forged = now | {"entries": rewritten(now["entries"], count - 1)}
    assert run_script(tmp_path, chain=forged).returncode == 0, "by itself it is intact"
    for words, said in ((known[:2], f"Entry {count} is not that of the kept copy"), (known[2:], "is not in the chain")):
        done = run_script(tmp_path, words, chain=forged)
        assert (done.returncode, said in done.stdout) == (1, True), done.stdout
    done = run_script(tmp_path, known[:2], chain=now | {"entries": now["entries"][: count - 1]})
    assert (done.returncode, "the chain became shorter" in done.stdout) == (1, True)
    kept["entries"][0]["payload"]["x"] = 1
    (tmp_path / "kept.json").write_text(json.dumps(kept))
    assert "of the kept copy is damaged" in run_script(tmp_path, known[:2], chain=now).stdout


@pytest.mark.parametrize(
    ("change", "korean"),
    [
        ("payload = jsonb_set(payload, '{receipt_sha256}', '99')", "1번 기록의 내용이 해시와 다릅니다"),
        ("sha256 = repeat('0', 64)", "1번 기록의 내용이 해시와 다릅니다"),
        ("kind = 'board'", "1번 기록의 내용이 해시와 다릅니다"),
    ],
)
def test_script_names_the_entry_that_was_changed_in_the_database(
    phase: Phase, submission: Submission, tmp_path: Path, change: str, korean: str
) -> None:
    forge(f"UPDATE submissions_chainentry SET {change} WHERE number = 1")
    done = run_script(tmp_path, chain=body(Client().get(f"{chain_url(phase)}.json")))
    assert done.returncode == 1
    assert korean in done.stdout
    assert "Entry 1 does not have its sha256" in done.stdout


def test_script_sees_a_score_on_the_board_that_is_not_the_recorded_one(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    files = all_files(phase, submission, member)
    scores = files["board"]["rows"][0]["scores"]
    right = scores["bleurt"]
    scores["bleurt"] = right + 1e-12
    done = run_script(tmp_path, **files)
    assert done.returncode == 1
    assert f"bleurt 값({right + 1e-12!r})이 기록된 값({right!r})과 다릅니다" in done.stdout
    assert "final_score" not in done.stdout
    del files["board"]["rows"][0]["submission"]  # as the API gave it once
    assert "점수(0.8222839456)와 같은 점수가 기록에 없습니다" in run_script(tmp_path, **files).stdout


@pytest.mark.parametrize("column", ["final_score = 0.99", "scores = jsonb_set(scores, '{bleurt}', '0.62')"])
def test_script_sees_a_score_that_was_changed_in_the_database(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path, column: str
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE submissions_scoringrun SET {column}")
    done = run_script(tmp_path, **all_files(phase, submission, member))
    assert done.returncode == 1
    assert "The score shown with entry 2 is not the one that was recorded" in done.stdout


def test_a_score_is_shown_as_on_the_other_pages_beside_the_one_that_was_hashed(
    phase: Phase, submission: Submission, member: Client
) -> None:
    track = phase.track
    text = Client().get(f"{chain_url(phase)}/").content.decode()
    assert f"{track.title} · {phase.title}" in text
    for page in (text, member.get(f"/submissions/{submission.public_id}/receipt/").content.decode()):
        assert "82.2283946" in page
        assert "0.8222839456" in page


def test_an_entry_of_a_phase_whose_name_changed_shows_what_was_recorded(phase: Phase, submission: Submission) -> None:
    before = phase.slug
    Phase.objects.filter(pk=phase.pk).update(slug="renamed")
    assert f"{phase.track.slug} / {before}" in Client().get(f"{chain_url(phase)}/").content.decode()


def test_script_sees_a_receipt_whose_entry_was_taken_out(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    files = all_files(phase, submission, member)
    files["chain"]["entries"].pop()
    done = run_script(tmp_path, **files)
    assert done.returncode == 1
    assert "접수증의 2번 기록이 사슬에 없거나 다릅니다" in done.stdout


@pytest.fixture
def published(phase: Phase, team: Team) -> BoardSnapshot:
    """A final board that counts the private split, published by the real service."""
    ReferenceVersion.objects.filter(phase=phase).update(public_ids=["q1"])
    for who, final_score in ((team, 0.5), (TeamFactory.create(competition=team.competition), 0.6)):
        submission = finished_submission(phase, who, final_score, scores=SCORES)
        private = {"final_score": 1 - final_score, "scores": {"bleurt": 1 / 3}, "signature_hash": "h"}
        HiddenResult.objects.create(run=submission.live_run, **private)
        receipts.issue_receipt(submission=submission)
        chain.append_scores([submission])
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now())
    phase.refresh_from_db()
    owner = UserFactory.create(is_superuser=True)
    return publish_final_board(phase=phase, actor=owner)


def test_private_scores_open_when_the_final_board_is_published_and_it_can_be_verified(
    phase: Phase, published: BoardSnapshot, tmp_path: Path
) -> None:
    chain_file, board_file = body(Client().get(f"{chain_url(phase)}.json")), body(Client().get(board_url(phase)))
    opened = [entry for entry in chain_file["entries"] if "opening" in entry and entry["kind"] == "score"]
    assert {entry["payload"]["part"] for entry in opened} == {"public", "private"}
    done = run_script(tmp_path, chain=chain_file, board=board_file)
    assert done.returncode == 0, done.stdout
    assert "최종 순위표가 기록과 같습니다" in done.stdout
    assert verify_competition(phase.track.competition) == []


def test_script_sees_a_final_board_that_was_changed_in_the_database(
    phase: Phase, published: BoardSnapshot, tmp_path: Path
) -> None:
    BoardSnapshot.objects.update(rows=[published.rows[1], published.rows[0]])
    files = {"chain": body(Client().get(f"{chain_url(phase)}.json")), "board": body(Client().get(board_url(phase)))}
    done = run_script(tmp_path, **files)
    assert done.returncode == 1
    assert "The final board is not the one that was recorded" in done.stdout
    assert [finding.code for finding in verify_competition(phase.track.competition)] == ["board_differs"]


@pytest.mark.parametrize(
    ("changes", "english"),
    [
        ({"track": "other"}, "The final board is not the one that was recorded"),
        ({"phase": {"slug": "other"}}, "The final board is not the one that was recorded"),
        ({"snapshot": 2}, "The final board is not the one that was recorded"),
        ({"newest_snapshot": 2}, "The publications that the final board lists"),
        ({"snapshots": []}, "The publications that the final board lists"),
    ],
)
def test_script_sees_a_final_board_shown_as_another_than_was_recorded(
    phase: Phase, published: BoardSnapshot, tmp_path: Path, changes: dict[str, Any], english: str
) -> None:
    """The rows alone do not say of which phase they are, nor which publication counts."""
    board = body(Client().get(board_url(phase)))
    changed = board if changes.keys() & {"track", "phase"} else board["final"]
    assert changed.keys() >= changes.keys()
    changed.update(changes)
    done = run_script(tmp_path, chain=body(Client().get(f"{chain_url(phase)}.json")), board=board)
    assert done.returncode == 1, done.stdout
    assert english in done.stdout


def test_script_keeps_two_tracks_apart_whose_phases_have_one_name(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    """And takes a page that is given twice for one."""
    competition = phase.track.competition
    other = PhaseFactory.create(slug=phase.slug, track__competition=competition)
    recorded(other, TeamFactory.create(competition=competition), 0.3)
    second = tmp_path / "second.json"
    second.write_text(json.dumps(body(Client().get(board_url(other)))), encoding="utf-8")
    files = all_files(phase, submission, member)
    assert files["board"]["track"] == phase.track.slug != other.track.slug
    done = run_script(tmp_path, **files, more=["--board", second, second])
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("All 1 scores of the board equal") == 2


def test_script_says_so_when_it_cannot_read_a_file(tmp_path: Path) -> None:
    done = run_script(tmp_path, chain=["not", "a", "chain"])
    assert (done.returncode, "chain.json 자리에 올 파일이 아니거나" in done.stdout) == (2, True)


def test_chain_opens_the_score_on_the_board_and_no_other(phase: Phase, team: Team) -> None:
    worse, better = recorded(phase, team, 0.41725836), recorded(phase, team, 0.75)
    entries = body(Client().get(f"{chain_url(phase)}.json"))["entries"]
    scores = [entry for entry in entries if entry["kind"] == "score"]
    opened = {entry["payload"]["submission"]: entry["opening"] for entry in scores if "opening" in entry}
    assert set(opened) == {str(better.public_id)}
    assert "0.41725836" not in json.dumps(entries)  # two digits could be of a moment
    assert str(worse.public_id) in json.dumps(entries)  # that it came in and was scored is no secret


@pytest.mark.parametrize("split", ["public", "private"])
def test_chain_gives_no_score_of_a_hidden_board_or_of_the_private_split(phase: Phase, team: Team, split: str) -> None:
    Phase.objects.filter(pk=phase.pk).update(board="live" if split == "private" else "hidden")
    submission = finished_submission(phase, team, 0.777777 if split == "public" else 0.5, scores={})
    HiddenResult.objects.create(run=submission.live_run, final_score=0.888888, scores={}, signature_hash="h")
    chain.append_scores([submission])
    text = json.dumps(body(Client().get(f"{chain_url(phase)}.json")))
    text += Client().get(f"{chain_url(phase)}/").content.decode()
    assert "0.777777" not in text
    assert "0.888888" not in text
    salt = ChainEntry.objects.get(payload__part=split).salt
    assert salt not in text


def test_a_receipt_opens_to_everybody_as_the_board_does(phase: Phase, submission: Submission, member: Client) -> None:
    moment = submission.created_at
    boards: list[tuple[dict[str, Any], bool]] = [
        ({"board": "live"}, True),
        ({"board": "hidden"}, False),
        ({"board": "frozen", "frozen_at": moment}, False),
        ({"board": "frozen", "frozen_at": moment + timedelta(seconds=1)}, True),
        ({"board": "hidden", "final_published_at": timezone.now()}, True),
    ]
    for board, is_open in boards:
        Phase.objects.filter(pk=phase.pk).update(**{"frozen_at": None, "final_published_at": None} | board)
        text = json.dumps(body(Client().get(f"{chain_url(phase)}.json")))
        page = Client().get(f"{chain_url(phase)}/").content.decode()
        assert (board, submission.file_sha256 in text, f"{submission.team.number}번 팀" in page) == (
            board,
            is_open,
            is_open,
        )
        assert str(submission.public_id) in text, "that a file came is no secret"
        receipt = body(member.get(f"/submissions/{submission.public_id}/receipt.json"))
        assert receipt["entries"][0]["opening"]["file_sha256"] == submission.file_sha256


def test_script_sees_an_upload_shown_otherwise_than_recorded(
    phase: Phase, submission: Submission, member: Client, tmp_path: Path
) -> None:
    files = all_files(phase, submission, member)
    files["receipt"]["entries"][0]["opening"]["received_at"] = "2026-01-01T00:00:00+09:00"
    done = run_script(tmp_path, **files)
    assert done.returncode == 1
    assert "The upload shown with entry 1 is not the one that was recorded" in done.stdout


def test_chain_page_lists_entries_newest_first_and_pages(phase: Phase, team: Team) -> None:
    for number in range(60):
        chain.append(competition=team.competition, kind="board", payload={"number": number})
    page = Client().get(f"{chain_url(phase)}/").content.decode()
    assert 'id="entry-60"' in page
    assert 'id="entry-10"' not in page
    assert 'id="entry-10"' in Client().get(f"{chain_url(phase)}/?page=2").content.decode()


def test_chain_of_an_unpublished_competition_is_not_there(phase: Phase, submission: Submission) -> None:
    competition = phase.track.competition
    competition.is_published = False
    competition.save()
    for tail in ("/", ".json"):
        assert Client().get(f"{chain_url(phase)}{tail}").status_code == 404


@pytest.mark.parametrize("tail", ["receipt/", "receipt.json"])
def test_receipt_is_for_its_team_only(submission: Submission, tail: str) -> None:
    address = f"/submissions/{submission.public_id}/{tail}"
    assert Client().get(address).status_code == 302
    assert client_of(UserFactory.create()).get(address).status_code == 404


def test_receipt_shows_time_to_the_second_sha256_and_place_in_the_chain(submission: Submission, member: Client) -> None:
    page = member.get(f"/submissions/{submission.public_id}/receipt/").content.decode()
    entry = ChainEntry.objects.get(kind="receipt")
    for text in (str(submission.public_id), submission.file_sha256, f"#{entry.number} {entry.sha256}", "0.8222839456"):
        assert text in page
    assert f":{submission.created_at:%S} KST" in page


def test_submission_without_a_receipt_says_why(phase: Phase, team: Team, member: Client) -> None:
    submission = finished_submission(phase, team, 0.5)
    page = member.get(f"/submissions/{submission.public_id}/receipt/").content.decode()
    assert "해시 사슬이 생기기 전에" in page


def forge(statement: str) -> None:
    """Change what the trigger protects, as somebody with the database's own keys could."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement)
        cursor.execute("SET session_replication_role = DEFAULT")
