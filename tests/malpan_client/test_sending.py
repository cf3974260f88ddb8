"""A file is submitted once, whatever happens to the connection; what stands in its way is told with a status."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from malpan_client import keeping
from tests.malpan_client.conftest import DATA, DIGEST, SUBMISSIONS
from tests.malpan_client.scripted import (
    CUT,
    NOW,
    Answer,
    history,
    phase,
    problem,
    quota,
    run,
    scored,
    submission,
    track,
)

PLACE = "spring/main"


def uploads(home):
    path = home / "state/malpan/uploads.json"
    return json.loads(path.read_text()) if path.exists() else {}


def test_a_file_is_sent_whole_with_its_name_and_a_key(command, contest, answers, home):
    done = command("submit", PLACE, str(answers), "--memo", "첫 제출", "--json")
    assert done.status == 0
    assert done.json["is_new"] is True
    assert done.json["submission"]["id"] == submission()["id"]
    [sent] = contest.asked("POST")
    assert sent.body == DATA
    assert sent.query == {"file_name": "answers.json", "memo": "첫 제출"}
    assert sent.headers["Content-Type"] == "application/octet-stream"
    assert len(sent.headers["Idempotency-Key"]) == 32
    assert uploads(home) == {}, "it was answered"


def test_an_upload_that_is_cut_off_is_sent_again_under_its_key(command, contest, answers, waits):
    answers.write_bytes(DATA + b" " * 3_000_000)
    contest.on("POST", SUBMISSIONS, Answer(reads=1_000_000), Answer(reads=2_000_000), Answer(submission(), 201))
    done = command("submit", PLACE, str(answers))
    assert done.status == 0
    assert len({each.headers["Idempotency-Key"] for each in contest.asked("POST")}) == 1
    assert len(contest.asked("POST")) == 3
    assert waits == [1.0, 2.0]


def test_an_answer_that_is_lost_is_asked_for_under_the_same_key(command, contest, answers):
    """The server has accepted the file: its second answer names the first."""
    taken = problem(409, "duplicate_upload", submission=submission()["id"])
    contest.on("POST", SUBMISSIONS, Answer(submission(), 201, writes=10), taken)
    done = command("submit", PLACE, str(answers), "--json")
    assert (done.status, done.json["is_new"], done.json["submission"]["id"]) == (0, False, submission()["id"])


def test_a_connection_that_stays_away_ends_the_command_and_the_next_one_goes_on(command, contest, answers, waits, home):
    contest.on("POST", SUBMISSIONS, CUT)
    first = command("submit", PLACE, str(answers), "--max-wait", "20")
    assert first.status == 5
    assert "두 번 접수되지 않습니다" in first.err
    assert sum(waits) <= 20
    [kept] = uploads(home).values()

    contest.on("POST", SUBMISSIONS, problem(409, "duplicate_upload", submission=submission()["id"]))
    contest.on("GET", SUBMISSIONS, history(submission(file_sha256=DIGEST)))  # it was accepted after all
    second = command("submit", PLACE, str(answers), "--again")
    assert second.status == 0
    assert contest.asked("POST")[-1].headers["Idempotency-Key"] == kept["key"]
    assert "이어서" in second.err
    assert uploads(home) == {}


def test_an_interruption_keeps_the_key(command, contest, answers, home, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupt)
    contest.on("POST", SUBMISSIONS, CUT)
    done = command("submit", PLACE, str(answers), "--json")
    assert (done.status, done.json["error"]["exit_status"], len(uploads(home))) == (130, 130, 1)


def test_machines_that_know_nothing_of_each_other_make_the_same_key(command, contest, answers, home):
    command("submit", PLACE, str(answers))
    (home / "state/malpan/uploads.json").unlink()
    command("submit", PLACE, str(answers))
    assert len({each.headers["Idempotency-Key"] for each in contest.asked("POST")}) == 1


def test_a_machine_without_a_place_for_keys_submits_all_the_same(command, contest, answers, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    done = command("submit", PLACE, str(answers))
    assert (done.status, "/proc/nowhere" in done.err) == (0, True)


def test_the_key_tells_files_phases_and_tracks_apart(command, contest, answers):
    command("submit", PLACE, str(answers))
    contest.on("GET", "competitions/spring/tracks/main/", track(phase=phase(slug="second")))
    command("submit", PLACE, str(answers))
    answers.write_bytes(DATA + b"\n")
    command("submit", PLACE, str(answers))
    keys = [each.headers["Idempotency-Key"] for each in contest.asked("POST")]
    assert len(set(keys)) == 3


def test_the_very_same_file_is_not_sent_again_unless_asked_for(command, contest, answers):
    contest.on("GET", SUBMISSIONS, history(submission(file_sha256=DIGEST)))
    done = command("submit", PLACE, str(answers), "--json")
    assert (done.status, done.json["is_new"], contest.asked("POST")) == (0, False, [])
    assert "--again" in done.err

    again = command("submit", PLACE, str(answers), "--again", "--json")
    assert (again.status, again.json["is_new"]) == (0, True)


@pytest.mark.parametrize("mark", ["is_withdrawn", "is_refunded"])
def test_a_submission_that_no_longer_stands_is_no_reason_not_to_send(command, contest, answers, mark):
    command("submit", PLACE, str(answers))
    contest.on("GET", SUBMISSIONS, history(submission(file_sha256=DIGEST, **{mark: True})))
    assert command("submit", PLACE, str(answers), "--json").json["is_new"]
    first, second = contest.asked("POST")
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"], "it was used for the first"


# --- a server that is busy --------------------------------------------------------------------------------------------
def busy(retry_after, status=429, code="too_many_requests"):
    return problem(status, code, "바쁩니다.", {"Retry-After": retry_after})


@pytest.mark.parametrize(
    "refusal",
    [busy("7"), busy("7", 503, "checks_busy"), busy("7", 429, "team_check_running")],
    ids=lambda each: each.status,
)
def test_a_busy_server_is_asked_again_when_it_says(command, contest, answers, waits, refusal):
    contest.on("POST", SUBMISSIONS, refusal, Answer(submission(), 201))
    assert command("submit", PLACE, str(answers)).status == 0
    assert waits == [7.0]


def test_a_server_that_says_at_once_is_given_a_second(command, contest, answers, waits):
    contest.on("POST", SUBMISSIONS, busy("0"))
    assert command("submit", PLACE, str(answers), "--max-wait", "3").status == 4
    assert waits == [1.0, 1.0, 1.0]


def test_a_date_is_understood_as_well(command, contest, answers, waits):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    contest.on("POST", SUBMISSIONS, busy(soon), Answer(submission(), 201))
    assert command("submit", PLACE, str(answers)).status == 0
    assert 25 <= waits[0] <= 31


def test_a_wait_that_is_too_long_is_not_begun(command, contest, answers, waits):
    contest.on("POST", SUBMISSIONS, busy("301"))
    done = command("submit", PLACE, str(answers))
    assert (done.status, waits) == (4, [])


def test_a_fault_of_the_server_is_sat_out_under_the_same_key(command, contest, answers):
    contest.on(
        "POST", SUBMISSIONS, problem(500, "server_error"), Answer(b"<html>bad gateway", 502), Answer(submission(), 201)
    )
    assert command("submit", PLACE, str(answers)).status == 0
    assert len({each.headers["Idempotency-Key"] for each in contest.asked("POST")}) == 1


def test_a_server_that_stays_faulty_names_the_request_and_says_that_sending_again_is_safe(
    command, contest, answers, home
):
    contest.on("POST", SUBMISSIONS, problem(500, "server_error", headers={"X-Request-ID": "abcd1234"}))
    done = command("submit", PLACE, str(answers), "--max-wait", "5", "--json")
    assert (done.status, done.json["error"]["code"]) == (5, "server_error")
    assert "abcd1234" in done.err
    assert "두 번 접수되지 않습니다" in done.err
    assert len(uploads(home)) == 1


# --- refusals ---------------------------------------------------------------------------------------------------------
REFUSED = {
    "wrong token": (problem(401, "api_token_invalid"), 3, "malpan login"),
    "expired token": (problem(401, "api_token_expired"), 3, "/tokens/"),
    "wrong scope": (problem(403, "api_scope_missing"), 3, "/tokens/"),
    "no team": (problem(403, "not_team_member"), 3, "malpan team"),
    "terms": (problem(403, "terms_not_accepted"), 3, "malpan terms"),
    "disqualified": (problem(403, "team_disqualified", "실격된 팀입니다."), 3, "실격된 팀입니다."),
    "closed phase": (problem(409, "phase_not_open", "끝났습니다."), 4, "끝났습니다."),
    "full quota": (
        problem(429, "quota_exceeded", "모두 썼습니다.", {"Retry-After": "20"}, next_allowed_at=NOW),
        4,
        "2026-11-20 14:00 KST",
    ),
    "patience": (problem(429, "too_many_rejections", "기다리십시오.", {"Retry-After": "20"}), 4, "기다리십시오."),
    "used key": (problem(422, "upload_key_reused"), 1, ""),
    "too large": (problem(413, "upload_too_large", "너무 큽니다."), 1, "너무 큽니다."),
    "no competition": (problem(404, "competition_not_found", "대회를 찾을 수 없습니다."), 6, "대회를"),
    "full disk": (problem(507, "storage_full"), 5, ""),
    "server in front": (Answer({"code": "upload_too_large", "detail": "파일이 너무 큽니다."}, 413), 1, "너무 큽니다"),
    "other server in front": (Answer(b"<html>413", 413), 1, "413"),
}


@pytest.mark.parametrize(("refusal", "status", "said"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_refusal_ends_with_its_status_and_says_what_to_do(
    command, contest, answers, waits, home, refusal, status, said, language
):
    contest.on("POST", SUBMISSIONS, refusal)
    done = command("submit", PLACE, str(answers), "--lang", language)
    assert done.status == status
    assert said in done.err
    assert (done.out, waits) == ("", [])
    assert contest.asked("POST")[-1].headers["Accept-Language"] == language
    if refusal.status != 507:
        assert uploads(home) == {}, "it was refused, and may be sent under another key"


def test_a_closed_phase_and_a_used_up_quota_are_told_before_a_byte_is_sent(command, contest, answers):
    contest.on("GET", "competitions/spring/tracks/main/", track(phase=phase(is_open=False)))
    closed = command("submit", PLACE, str(answers))
    contest.on("GET", "competitions/spring/tracks/main/", track(phase=None))
    none = command("submit", PLACE, str(answers))
    contest.on("GET", "competitions/spring/tracks/main/", track())
    contest.on("GET", SUBMISSIONS, history(can_submit=False, left_today=0))
    full = command("submit", PLACE, str(answers))
    assert (closed.status, none.status, full.status) == (4, 4, 4)
    assert "2026-11-01 09:00 KST" in closed.err
    assert "2026-11-20 14:00 KST" in full.err
    assert contest.asked("POST") == []


@pytest.mark.parametrize("words", [["submit"], ["submit", "--dry-run"], ["check"]])
def test_a_file_for_another_phase_than_the_present_one_is_not_sent(command, contest, answers, words):
    nowhere = command(*words, f"{PLACE}/nosuch", str(answers))
    assert (nowhere.status, contest.asked("POST")) == (6, [])
    contest.on("GET", "competitions/spring/tracks/main/limits/", quota())
    refused = command(*words, f"{PLACE}/final", str(answers))
    assert (refused.status, contest.asked("POST")) == (4, [])
    assert "final" in refused.err
    contest.on("POST", "competitions/spring/tracks/main/check/", SOUND)
    contest.on("GET", "competitions/spring/tracks/main/limits/", quota())
    assert command(*words, f"{PLACE}/open", str(answers)).status == 0


def test_what_was_begun_before_the_end_is_sent_after_it(command, contest, answers):
    contest.on("POST", SUBMISSIONS, CUT)
    assert command("submit", PLACE, str(answers), "--max-wait", "1").status == 5
    contest.on("GET", "competitions/spring/tracks/main/", track(phase=phase(is_open=False)))
    contest.on("POST", SUBMISSIONS, problem(409, "duplicate_upload", submission=submission()["id"]))
    assert command("submit", PLACE, str(answers)).status == 0


def test_without_a_token_nothing_is_asked(command, contest, answers, monkeypatch):
    monkeypatch.delenv("MALPAN_TOKEN")
    done = command("submit", PLACE, str(answers))
    assert (done.status, contest.requests) == (3, [])
    assert f"malpan login {contest.url}" in done.err


def test_the_errors_of_a_file_are_grouped_by_what_is_wrong(command, contest, answers):
    errors = [
        {"code": "unknown_id", "message": "없는 id입니다.", "line": line, "id": f"x{line}", "field": "id"}
        for line in (3, 5)
    ]
    errors.append({"code": "no_answer", "message": "답이 없습니다.", "line": None, "id": "q7", "field": None})
    contest.on("POST", SUBMISSIONS, problem(422, "file_rejected", "오류 200건", total=200, errors=errors))
    done = command("submit", PLACE, str(answers), "--json")
    assert done.status == 1
    assert done.err.count("없는 id입니다.") == 1
    assert "3번째 줄, id x3, id; 5번째 줄, id x5, id" in done.err
    assert "id q7" in done.err
    assert "오류 200건 가운데 3건" in done.err
    assert (len(done.json["error"]["errors"]), done.json["error"]["exit_status"]) == (3, 1)


@pytest.mark.parametrize("content", [b"", None])
def test_a_file_that_cannot_be_sent_is_named(command, contest, answers, content):
    answers.unlink()
    if content is not None:
        answers.write_bytes(content)
    done = command("submit", PLACE, str(answers))
    assert (done.status, contest.requests) == (1, [])
    assert "answers.json" in done.err


def test_a_file_that_shrinks_while_it_is_sent_is_not_sent_in_part(command, contest, answers, monkeypatch):
    before = keeping.begin_upload

    def shrink(*arguments):
        answers.write_bytes(b"[")
        before(*arguments)

    monkeypatch.setattr("malpan_client.sending.begin_upload", shrink)
    done = command("submit", PLACE, str(answers))
    assert done.status == 1
    assert "바뀌었습니다" in done.err


# --- waiting ----------------------------------------------------------------------------------------------------------
def test_it_waits_for_the_score_and_tells_what_changes(command, contest, answers, waits):
    steps = [
        submission(waiting_before=1),
        submission(waiting_before=1),
        submission(run=run("running"), waiting_before=None, estimated_finish_at=NOW),
        submission(run=scored(), waiting_before=None),
    ]
    contest.on("GET", f"submissions/{submission()['id']}/", *steps)
    done = command("submit", PLACE, str(answers), "--wait")
    assert done.status == 0
    assert "61.25" in done.out
    assert done.err.count("앞에 1건") == 1
    assert "채점 중 (예상 2026-11-20 14:00 KST)" in done.err
    assert waits == [1.0, 1.5, 2.25, 3.375]


def test_a_scoring_that_failed_is_the_servers_fault(command, contest, answers):
    failed = run("failed", error={"code": "scoring_crashed", "kind": "system", "message": "환불되었습니다."})
    contest.on("GET", f"submissions/{submission()['id']}/", submission(run=failed, waiting_before=None))
    done = command("submit", PLACE, str(answers), "--wait")
    assert done.status == 5
    assert "환불되었습니다." in done.out


def test_waiting_has_a_limit_after_which_the_submission_stands(command, contest, answers, monkeypatch):
    clock = iter(range(0, 10_000, 2))
    monkeypatch.setattr("malpan_client.watching.time.monotonic", lambda: next(clock))
    done = command("submit", PLACE, str(answers), "--wait", "--wait-limit", "10", "--json")
    assert (done.status, done.json["submission"]["run"]["state"]) == (7, "queued")


def test_a_site_that_goes_away_while_one_waits_leaves_the_way_back(command, contest, answers):
    contest.on("GET", f"submissions/{submission()['id']}/", CUT)
    done = command("submit", PLACE, str(answers), "--wait", "--max-wait", "5")
    assert done.status == 5
    assert f"malpan submission {submission()['id']}" in done.err


# --- checking ---------------------------------------------------------------------------------------------------------
SOUND = {
    "file_name": "answers.json",
    "file_size": 3,
    "format": "json-array",
    "item_count": 3,
    "normalized_count": 2,
    "warnings": [{"code": "many_repeats", "params": {}}],
    "same_as": None,
}


@pytest.mark.parametrize("words", [["check", PLACE], ["submit", "--dry-run", PLACE]])
def test_a_check_sends_the_file_and_submits_nothing(command, contest, answers, words):
    contest.on("POST", "competitions/spring/tracks/main/check/", CUT, SOUND)
    contest.on("GET", "competitions/spring/tracks/main/limits/", quota())
    done = command(*words, str(answers), "--json")
    assert (done.status, done.json) == (0, SOUND | ({"quota": quota()} if "submit" in words else {}))
    assert contest.asked("POST", "submissions/") == []
    assert contest.asked("POST", "check/")[-1].body == DATA
    assert "many_repeats" in command(*words, str(answers)).out


def test_a_local_check_asks_nobody(command, script, answers):
    good = command("check", str(answers), "--local", "--recipe", "rag-qa@1", "--json")
    answers.write_bytes(b'[{"id": "q1"}]')
    bad = command("check", str(answers), "--local", "--recipe", "rag-qa@1")
    assert (good.status, good.json["is_sound"], bad.status) == (0, True, 1)
    assert "q1" in bad.out
    assert script.requests == []
    assert command("check", str(answers), "--local").status == 2
    assert command("check", str(answers)).status == 2


def test_the_quota_is_shown(command, contest):
    contest.on("GET", "competitions/spring/tracks/main/limits/", quota())
    assert "4 / 5" in command("limits", PLACE).out


WITHOUT_ROOM = {
    "no slot today": ({"left_today": 0}, "횟수가 없"),
    "no slot at all": ({"left_total": 0}, "횟수가 없"),
    "too soon": ({"min_interval_seconds": 600}, "최소 간격(600초)"),
}


@pytest.mark.parametrize(("given", "said"), WITHOUT_ROOM.values(), ids=WITHOUT_ROOM)
def test_without_room_it_is_said_why_and_a_dry_run_says_so_of_a_sound_file(command, contest, answers, given, said):
    full = {"can_submit": False, **given}
    contest.on("POST", "competitions/spring/tracks/main/check/", SOUND)
    contest.on("GET", "competitions/spring/tracks/main/limits/", quota(**full))
    dry = command("submit", "--dry-run", PLACE, str(answers))
    assert dry.status == 4
    assert "이상이 없습니다" in dry.out
    assert said in dry.out
    contest.on("GET", SUBMISSIONS, history(**full))
    real = command("submit", PLACE, str(answers), "--json")
    assert (real.status, real.json["error"]["code"], said in real.err) == (4, "quota_exceeded", True)


def test_refusals_of_the_command_itself_have_a_code(command, contest, answers):
    assert command("submit", PLACE, "nothing.json", "--json").json["error"]["code"] == "wrong_input"
    contest.on("GET", "competitions/spring/tracks/main/", track(phase=phase(is_open=False)))
    assert command("submit", PLACE, str(answers), "--json").json["error"]["code"] == "phase_not_open"
