"""6 August 2026 once more: scores are rounded half up from now on, everything is scored again, every team starts anew.

The essay scoring demo, ranked by a composite, by the earlier rule (a half goes to the even neighbour); then what its
organiser does in a browser: the new rule, the preview, the application with new submissions for all and a notice.
Expected boards are computed in ``tests.demo.test_essays`` from the published rule and scipy alone. Pictures of the
pages, at 1280 and 390 pixels, are in the test's temporary folder if PICTURES is set.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect
from scipy.stats import rankdata

from malpan.demo.teams import ESSAY_TEAMS
from tests.demo.test_essays import TRACK, half_up, measured, team_of
from tests.paths import ROOT
from tests.system.browsers import log_in_somebody, take_pictures
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.services]
BEFORE, AFTER = "essay-scoring-half-even@1", "essay-scoring@1"
WEIGHTS = {"rmse": 45, "spearman": 45, "llm_judge": 10}
READY_WITHIN = 300_000  # milliseconds
SCORED_WITHIN = 600  # seconds: 588 questions to the demo judge, on a machine that may be busy
RANKED = {team.name: team.key.removeprefix("essays-") for team in ESSAY_TEAMS if not team.is_baseline}
REASON = "0.5는 언제나 올립니다(8월 6일 규칙 변경)"
NOTICE = "반올림 규칙이 바뀌어 모든 제출을 다시 채점했습니다"


def fetch_board(stack: Stack, made: dict[str, Any]) -> dict[str, Any]:
    address = f"{stack.url}/api/v1/competitions/{made['slug']}/tracks/{made['track']}/board/"
    return requests.get(address, timeout=120).json()


def ranked(shown: dict[str, Any]) -> list[str]:
    """The keys of the ranked teams in the order of the board."""
    return [RANKED[row["team"]] for row in shown["rows"] if row["rank"] is not None]


def places(order: list[str]) -> dict[str, int]:
    return {key: place for place, key in enumerate(order, 1)}


def run_verify_script(stack: Stack, made: dict[str, Any], folder: Path, shown: dict[str, Any]) -> Any:
    """What the script that the site serves says of the chain and of a board as it was downloaded."""
    chain = requests.get(f"{stack.url}/competitions/{made['slug']}/chain.json", timeout=120).json()
    script = folder / "verify_chain.py"
    script.write_bytes(requests.get(f"{stack.url}/verify_chain.py", timeout=120).content)
    for name, content in (("chain", chain), ("board", shown)):
        (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    command = [sys.executable, "-I", script, folder / "chain.json", "--board", folder / "board.json"]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120)


def expected(shown: dict[str, Any], rounding: Callable[[float], int]) -> dict[str, float]:
    """The composite of every ranked team by key: RMSE and Spearman as scipy has them, a judge's value as shown."""
    values = {
        RANKED[row["team"]]: {**row["scores"], **measured(RANKED[row["team"]], rounded=rounding)}
        for row in shown["rows"]
        if row["rank"] is not None
    }
    total = dict.fromkeys(values, 0.0)
    weights = {name: weight for name, weight in WEIGHTS.items() if any(name in scores for scores in values.values())}
    for name, weight in weights.items():
        sign = 1 if name == "rmse" else -1
        ranks = rankdata([round(sign * scores.get(name, -sign * math.inf), 8) for scores in values.values()])
        for key, rank in zip(values, ranks, strict=True):
            total[key] += weight / sum(weights.values()) * (len(values) - rank) / (len(values) - 1)
    return total


def check_board(shown: dict[str, Any], rounding: Callable[[float], int]) -> None:
    composites = expected(shown, rounding)
    assert ranked(shown) == order_by(composites, shown)
    rows = {RANKED[row["team"]]: row for row in shown["rows"] if row["rank"] is not None}
    assert len(rows) == len(RANKED)
    for key, row in rows.items():
        for name in ("rmse", "spearman", "parse_failures"):
            assert row["scores"][name] == pytest.approx(measured(key, rounded=rounding)[name], abs=1e-12), (key, name)
        assert row["composite"]["value"] == pytest.approx(composites[key], abs=1e-12), key


def test_the_rule_of_6_august_changes_every_board_and_every_quota_at_once(
    stack: Stack, page: Page, tmp_path: Path
) -> None:
    stack.wait_for_models()
    made = stack.call("tests.system.make_essay_contest", "prepare", f"august-{uuid.uuid4().hex[:8]}", BEFORE)
    slug = made["slug"]
    wait_for(lambda: unfinished(stack, slug) == 0, "all is scored", seconds=SCORED_WITHIN, every=0.5)
    stack.call("tests.system.make_rescoring", "organise", slug, log_in_somebody(page, stack))
    member = use_up_the_quota(stack, slug)
    old = fetch_board(stack, made)
    check_board(old, round)
    asked = requests_of_judge(stack)
    page.goto(f"{stack.url}/competitions/{slug}/board/")
    take_pictures(page, tmp_path, "1-board-before")

    start_rescoring(page, stack, slug)
    expect(page.get_by_role("heading", name="미리보기")).to_be_visible(timeout=READY_WITHIN)
    assert requests_of_judge(stack) == asked > 0, "rationales are the same as before: nothing is asked again"
    assert fetch_board(stack, made)["rows"] == old["rows"], "nothing is seen before it is applied"
    was, then = places(ranked(old)), places(order_by(expected(old, half_up), old))
    moved = {key for key in was if was[key] != then[key]}
    assert len(moved) >= 2
    unchanged = {key for key in moved if measured(key, rounded=round) == measured(key)}
    assert unchanged, "somebody moves although nothing of theirs changed"
    page.get_by_text(f"순위가 바뀌는 팀 {len(moved)}팀", exact=True).click()
    for name, key in RANKED.items():
        moves = page.locator("details[open]").get_by_role("row").filter(has_text=name)
        expect(moves).to_have_count(int(key in moved))
        expect(moves.get_by_text("자기 점수는 그대로")).to_have_count(int(key in unchanged))
    take_pictures(page, tmp_path, "2-preview")

    apply_with_reset_and_notice(page)
    take_pictures(page, tmp_path, "3-applied")
    # while somebody computes it, others are shown the board of before
    wait_for(lambda: fetch_board(stack, made)["rows"] != old["rows"], "the new board", every=0.2)
    new = fetch_board(stack, made)
    check_board(new, half_up)
    assert places(ranked(new)) == then

    assert requests.get(f"{stack.url}/competitions/{slug}/", timeout=120).text.count(NOTICE) == 1
    page.goto(f"{stack.url}/competitions/{slug}/")
    take_pictures(page, tmp_path, "4-notice")
    page.goto(f"{stack.url}/competitions/{slug}/board/")
    take_pictures(page, tmp_path, "5-board-after")
    page.goto(f"{stack.url}/competitions/{slug}/manage/quota/")
    for team in ESSAY_TEAMS:
        expect(page.get_by_role("row").filter(has_text=team.name)).to_contain_text("0/4")
    take_pictures(page, tmp_path, "6-quota")

    verified = run_verify_script(stack, made, tmp_path, new)
    assert verified.returncode == 0, verified.stdout
    forged = json.loads(json.dumps(new))
    forged["rows"][-1]["composite"]["value"] += 0.01
    assert run_verify_script(stack, made, tmp_path, forged).returncode == 1
    command = [sys.executable, "manage.py", "verify_chain", slug]
    checked = subprocess.run(command, cwd=ROOT, env=stack.environment, capture_output=True, text=True, check=False)
    assert (checked.returncode, "as recorded" in checked.stdout) == (0, True), checked.stdout + checked.stderr
    upload_after_the_reset(stack, made, member)
    assert requests_of_judge(stack) == asked, "the rationales of every file were judged before"


def use_up_the_quota(stack: Stack, slug: str) -> Visitor:
    """A new member of the team with three files uploads the last one again: the fourth, and no fifth is taken."""
    member, careful = Visitor(stack), team_of("careful")
    token = stack.call("tests.system.make_essay_contest", "invite", slug, careful.name)["token"]
    member.post(f"/invitations/{token}/", at_end="/team/")
    content = TRACK.upload_bytes(careful, careful.uploads[-1])
    wait_until_finished(stack, member.submit(slug, content))
    refused = member.upload(slug, content)
    assert "전체 제출 한도 4회를 모두 썼습니다" in refused.text
    return member


def upload_after_the_reset(stack: Stack, made: dict[str, Any], member: Visitor) -> None:
    """The same team uploads the file of another, with many halves: it is taken at once, and scored by the new rule."""
    halves = team_of("halves")
    public_id = member.submit(made["slug"], TRACK.upload_bytes(halves, halves.uploads[-1]))
    wait_until_finished(stack, public_id)
    [(recipe,)] = stack.query(
        "SELECT r.recipe FROM submissions_submission s JOIN submissions_scoringrun r ON r.id = s.live_run_id"
        " WHERE s.public_id = %s",
        public_id,
    )
    assert recipe == AFTER
    board = fetch_board(stack, made)
    [row] = [row for row in board["rows"] if row["team"] == team_of("careful").name]
    assert row["submission"] == public_id, "the latest counts"
    by_new_rule, by_old_rule = measured("halves"), measured("halves", rounded=round)
    assert by_new_rule["rmse"] != by_old_rule["rmse"]
    for name in ("rmse", "spearman", "parse_failures"):
        assert row["scores"][name] == pytest.approx(by_new_rule[name], abs=1e-12), name
    page = member.get(f"/competitions/{made['slug']}/submit/").text
    assert "<strong>3</strong>/4회 남음" in page


def unfinished(stack: Stack, slug: str) -> int:
    [(count,)] = stack.query(
        "SELECT count(*) FROM submissions_submission s JOIN competitions_phase p ON p.id = s.phase_id"
        " JOIN competitions_track t ON t.id = p.track_id JOIN competitions_competition c ON c.id = t.competition_id"
        " WHERE c.slug = %s AND s.live_run_id IS NULL",
        slug,
    )
    return count


def requests_of_judge(stack: Stack) -> int:
    [(count,)] = stack.query("SELECT coalesce(sum(requests), 0)::int FROM submissions_judgeusage")
    return count


def start_rescoring(page: Page, stack: Stack, slug: str) -> None:
    page.goto(f"{stack.url}/competitions/{slug}/manage/rescoring/")
    page.get_by_role("link", name="재채점 시작").click()
    page.get_by_label("사유").fill(REASON)
    page.get_by_label("채점 방식").select_option(AFTER)
    page.get_by_role("button", name="재채점 시작").click()
    expect(page.get_by_role("status")).to_contain_text("순위표는 적용할 때까지 바뀌지 않습니다")


def apply_with_reset_and_notice(page: Page) -> None:
    page.get_by_label("모든 팀의 제출 횟수를 초기화합니다").check()
    page.get_by_label("공지 제목", exact=False).first.fill(NOTICE)
    page.get_by_label("공지 내용", exact=False).first.fill(
        "8월 6일부터 영역 점수의 0.5를 언제나 올립니다. 지금까지의 제출을 모두 다시 채점했고, 모든 팀이 네 번을 새로 "
        "제출할 수 있습니다."
    )
    page.get_by_label("미리보기를 확인했고").check()
    page.get_by_role("button", name="지금 적용").click()
    expect(page.get_by_role("status")).to_contain_text("한꺼번에 바뀌었습니다")


def order_by(composites: dict[str, float], shown: dict[str, Any]) -> list[str]:
    """The keys by composite, of equal ones the earlier submission first."""
    moments = {RANKED[row["team"]]: row["submitted_at"] for row in shown["rows"] if row["team"] in RANKED}
    return sorted(composites, key=lambda key: (-round(composites[key], 8), moments[key]))
