"""What participants read: boards, histories, contests, as tables of a terminal and as the API's JSON."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from malpan_client.showing import Bar, size, table
from malpan_client.showing import moment as shown_moment
from tests.malpan_client.scripted import NOW, Answer, history, phase, quota, run, scored, submission, track

BOARD = "competitions/spring/tracks/main/board/"


def row(rank, team, text, **more):
    found = {"rank": rank, "team": team, "is_own": False, "shown": {"final_score": text}, "submission_count": 2}
    return found | more


def page(*rows, following=None, **more):
    columns = [{"key": "final_score", "label": "종합"}, {"key": "rouge_1", "label": "ROUGE-1"}]
    found = {"rows": [*rows], "columns": columns, "row_count": len(rows), "is_hidden": False, "final": None}
    return found | {"next": following} | more


def test_a_board_is_a_table_in_which_korean_lines_up(command, script):
    rows = [row(1, "말모이", "61.25", is_own=True), row(None, "baseline", "9.50")]
    script.on("GET", BOARD, page(*rows))
    lines = command("board", "spring/main").out.splitlines()
    assert lines == [
        "순위  팀         종합  제출 수",
        "   1  말모이 *  61.25        2",
        "   –  baseline   9.50        2",
    ]


def test_the_rows_beyond_are_counted_or_all_are_asked_for(command, script):
    rows = [row(rank, f"팀 {rank}", "1.00") for rank in range(1, 31)]
    script.on("GET", BOARD, page(*rows, row_count=31, following="https://x/?page=2"), page(row(31, "끝 팀", "0.50")))
    assert "… 11줄 더 있습니다" in command("board", "spring/main").out

    script.on("GET", BOARD, page(*rows, row_count=31, following="https://x/?page=2"), page(row(31, "끝 팀", "0.50")))
    done = command("board", "spring/main", "--all", "--json")
    assert (len(done.json["rows"]), done.json["next"]) == (31, None)


@pytest.mark.parametrize(("more", "said"), [({"is_hidden": True}, "공개하지 않습니다"), ({}, "아직 점수가")])
def test_a_board_without_rows_says_why(command, script, more, said):
    script.on("GET", BOARD, page(**more))
    assert said in command("board", "spring/main").out


def test_the_final_board_takes_the_place_of_the_public_one(command, script):
    script.on("GET", "competitions/spring/tracks/main/", track())

    def final(*teams):
        rows = [{"rank": 1, "team": team, "final_score": 0.61254, "public_rank": 2} for team in teams]
        return {"final": {"published_at": NOW, "rows": rows, "row_count": 31}}

    first = page(row(1, "말모이", "61.25"), following="https://x/?page=2", **final(*["가람"] * 30))
    script.on("GET", BOARD, first, first, page(row(1, "말모이", "61.25"), **final("누리")))
    text = command("board", "spring/main").out
    assert "최종 순위표 (2026-11-20 14:00 KST 발표)" in text
    assert text.count("가람") == 20
    assert "61.25" in text
    assert "말모이" not in text
    assert "… 11줄 더 있습니다" in text
    assert "누리" in command("board", "spring/main", "--all").out


def test_a_history_has_rejected_files_and_what_became_of_the_others(command, script):
    rows = [submission(run=scored(), memo="첫 모델"), submission(run=run("failed"), is_withdrawn=True)]
    found = history(*rows)
    rejected = {"kind": "rejection", "file_name": "bad.json", "submitted_at": NOW, "total": 7, "errors": []}
    found["history"].append(rejected)
    script.on("GET", "competitions/spring/tracks/main/submissions/", found)
    text = command("submissions", "spring/main").out
    for said in ("61.25", "첫 모델", "채점 실패(서버) · 철회됨", "반려(오류 7건)", "4 / 5"):
        assert said in text


def test_one_submission_shows_its_scores_or_why_there_are_none(command, script):
    script.on("GET", "submissions/1/", submission(run=scored() | {"is_demo_models": True}))
    assert "데모 모델" in command("submission", "1").out
    script.on("GET", "submissions/1/", submission(run=run("finished", is_score_hidden=True)))
    assert "공개 전" in command("submission", "1").out


def test_an_id_is_part_of_an_address_and_no_more(command, script):
    command("submission", "../whoami/?x=1")
    assert script.requests[-1].path == "/api/v1/submissions/..%2Fwhoami%2F%3Fx%3D1/"


def test_a_contest_is_shown_with_its_tracks(command, script):
    tracks = [track(title="어문 규범", recipe="rag-qa@1"), track(slug="second", title="요약", recipe="x@1", phase=None)]
    script.on("GET", "competitions/spring/", {"title": "봄 대회", "summary": "소개", "tracks": tracks})
    text = command("competitions", "spring").out
    assert "봄 대회" in text
    assert "2026-11-01 09:00 KST" in text
    assert "second" in text


def test_the_choice_that_counts_is_shown_and_made(command, script):
    there = [submission(id="a", is_final_choice=True), submission(id="b")]
    script.on("GET", "competitions/spring/tracks/main/submissions/", history(*there))
    shown = command("final", "spring/main/open", "--json").json["chosen"]
    assert [each["id"] for each in shown] == ["a"]
    assert script.requests[-1].query == {"phase": "open"}
    script.on("PUT", "competitions/spring/tracks/main/finals/", [there[1]])
    assert command("final", "spring/main/open", "b", "--json").json["chosen"][0]["id"] == "b"
    sent = script.asked("PUT")[-1]
    assert (sent.body, sent.query) == (b'{"chosen": ["b"]}', {"phase": "open"})
    script.on("PUT", "competitions/spring/tracks/main/finals/", Answer([]))
    assert "고른 제출이 없습니다" in command("final", "spring/main", "--none").out


def test_limits_without_a_limit_say_so(command, script):
    script.on("GET", "competitions/spring/tracks/main/limits/", quota(can_submit=False, left_today=0))
    text = command("limits", "spring/main").out
    assert "0 / 5" in text
    assert "제한 없음 / 제한 없음" in text
    assert "2026-11-20 14:00 KST" in text


# --- how it is written ------------------------------------------------------------------------------------------------
def alone(script, *words, stdout=subprocess.PIPE, **variables):
    """A process of its own, as a shell starts it."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "MALPAN_SITE": script.url, **variables}
    program = [sys.executable, "-m", "malpan_client.command", *words]
    return subprocess.run(program, env=environment, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False)


def listed(script, title):
    running = [{"slug": "spring", "title": title, "organiser": ""}]
    script.on("GET", "competitions/", {"running": running, "upcoming": [], "past": [], "count": 0, "next": None})


@pytest.mark.parametrize("encoding", ["ascii", "cp949", "utf-8"])
def test_json_is_json_and_text_is_text_whatever_the_terminal_can_show(script, encoding):
    listed(script, "É 봄 대회 😀")
    told = alone(script, "competitions", "--json", PYTHONIOENCODING=encoding)
    assert json.loads(told.stdout.decode(encoding))["running"][0]["title"] == "É 봄 대회 😀"
    assert alone(script, "competitions", PYTHONIOENCODING=encoding).returncode == 0


def test_output_that_nobody_reads_any_more_changes_no_status(script):
    listed(script, "봄 대회")
    for words, status in ((["competitions"], 0), (["competitions", "other", "--json"], 6)):
        reader, writer = os.pipe()
        os.close(reader)
        done = alone(script, *words, stdout=writer)
        os.close(writer)
        assert (done.returncode, b"Traceback" in done.stderr) == (status, False)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_drawn_on_a_terminal_alone(monkeypatch):
    terminal, file = Terminal(), io.StringIO()
    for stream, is_shown in ((terminal, True), (file, True), (Terminal(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        bar = Bar("a.json", is_shown=is_shown)
        bar(50, 100)
        bar(100, 100)
        assert ("[####" in stream.getvalue()) is (stream is terminal)
    assert terminal.getvalue().endswith("\n")


def test_a_token_is_typed_without_echo(command, script, monkeypatch):
    from tests.malpan_client.test_site import ME

    script.on("GET", "whoami/", ME)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda prompt: "mlp_typed-token ")
    done = command("login")
    assert (done.status, f"{script.url}/tokens/" in done.err) == (0, True)
    assert script.requests[-1].headers["Authorization"] == "Bearer mlp_typed-token"


@pytest.mark.parametrize(
    ("moment", "shown"),
    [("2026-11-20T05:00:00Z", "2026-11-20 14:00 KST"), (NOW, "2026-11-20 14:00 KST"), (None, "–"), ("soon", "soon")],
)
def test_moments_are_those_of_korea(moment, shown):
    assert shown_moment(moment) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (2_500_000, "2.5 MB"), (3 * 10**12, "3000.0 GB")]
)
def test_sizes_are_short(count, shown):
    assert size(count) == shown


def test_a_table_takes_what_others_wrote_and_nothing_of_what_steers():
    assert table(["이름", "값"], [["\x1b[31m홍", None]]) == "이름    값\n[31m홍  –"


def test_a_phase_that_is_not_there_is_no_phase_of_ours(command, script):
    script.on("GET", "competitions/spring/manage/phases/", [phase(id=1, track="main"), phase(id=2, track="b")])
    assert command("close", "spring", "--yes").status == 2
    assert command("close", "spring/main/other", "--yes").status == 6


def test_kinds_and_roles_are_said_in_words(command, script):
    script.on("GET", "whoami/", {
        "name": "홍길동",
        "email": "a@example.com",
        "token": {"label": "CI", "prefix": "mlp_toke", "scopes": ["read"], "expires_at": None},
        "teams": [],
        "roles": [{"competition": "spring", "role": "operator"}, {"competition": "fall", "role": "of_tomorrow"}],
    })  # fmt: skip
    said = command("whoami").out
    assert "spring: 채점 담당" in said
    assert "fall: of_tomorrow" in said
