"""A final in stages as two organisers do it in a browser, and what the served script says of it from outside.

Pictures of the pages, at 1280 and 390 pixels, are in the test's temporary folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from tests.system.browsers import log_in_somebody, pages_of, take_pictures
from tests.system.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.services]


@pytest.fixture
def pages(browser: Browser) -> Iterator[list[Page]]:
    """Of two people."""
    with pages_of(browser, 2) as opened:
        yield opened


class Final:
    """The stages of ``made``: ``writer`` enters and publishes, ``reader`` confirms."""

    def __init__(self, stack: Stack, made: dict[str, Any], writer: Page, reader: Page) -> None:
        self.made, self.writer, self.reader = made, writer, reader
        self.site, self.base = stack.url, f"{stack.url}/competitions/{made['slug']}"

    def publish_board(self) -> None:
        self.writer.goto(f"{self.base}/manage/phases/{self.made['phase']}/?show=final")
        form = self.writer.locator("form", has=self.writer.get_by_role("button", name="최종 순위표 발표"))
        form.locator("input[name=word]").fill("main")
        self.writer.get_by_role("button", name="최종 순위표 발표").click()
        expect(self.writer.get_by_role("status")).to_contain_text("최종 순위표 1판을 발표했습니다")

    def enter(self, place: int, scores: dict[int, float], reason: str = "") -> None:
        """Entered by the one and confirmed by the other, who alone may."""
        stage = f"{self.base}/manage/stages/{self.made['stages'][place - 1]}/"
        self.writer.goto(f"{stage}table/")
        text = "팀 번호\t점수\n" + "".join(f"{number}\t{score}\n" for number, score in scores.items())
        self.writer.get_by_label("점수표").fill(text)
        if reason:
            self.writer.get_by_label("사유").fill(reason)
        self.writer.get_by_role("button", name="미리 보기").click()
        self.writer.get_by_role("button", name="저장").click()
        expect(self.writer.get_by_text("점수표를 입력한 사람은 확인할 수 없습니다")).to_be_visible()
        self.reader.goto(stage)
        self.reader.get_by_label("점수표를 원본과 대조했으며").check()
        self.reader.get_by_role("button", name="점수표 확인").click()
        expect(self.reader.get_by_role("status")).to_contain_text("점수표를 확인했습니다")

    def publish(self, place: int | None, note: str = "") -> None:
        """A stage or, without its place, the combined standing."""
        path = "final/main" if place is None else str(self.made["stages"][place - 1])
        self.writer.goto(f"{self.base}/manage/stages/{path}/")
        name = "종합 결과 발표" if place is None else "심사 결과 발표"
        form = self.writer.locator("form", has=self.writer.get_by_role("button", name=name))
        form.get_by_label("안내", exact=False).first.fill(note)
        form.get_by_label("위의 결과를 누구에게나 공개합니다").check()
        form.get_by_role("button", name=name).click()
        expect(self.writer.get_by_role("status")).to_contain_text("판을 발표했습니다")

    def downloaded(self) -> dict[str, Any]:
        """What anybody can download, by the names that the chain page gives it."""
        names = {
            "chain": f"{self.base}/chain.json",
            "board": f"{self.site}/api/v1/competitions/{self.made['slug']}/tracks/main/board/",
            "stages": f"{self.base}/stages/main.json",
        }
        return {name: requests.get(address, timeout=30).json() for name, address in names.items()}

    def verify(self, folder: Path, files: dict[str, Any]) -> Any:
        """What the script that the site serves says of ``files``."""
        script = folder / "verify_chain.py"
        script.write_bytes(requests.get(f"{self.site}/verify_chain.py", timeout=30).content)
        for name, content in files.items():
            (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        words = [folder / "chain.json", "--board", folder / "board.json", "--stages", folder / "stages.json"]
        command = list(map(str, [sys.executable, "-I", script, *words]))
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_final_in_stages_from_the_board_to_an_erratum(stack: Stack, pages: list[Page], tmp_path: Path) -> None:
    emails = [log_in_somebody(page, stack) for page in pages]
    made = stack.call("tests.system.make_stages", "prepare", f"stages-{uuid.uuid4().hex[:8]}", *emails)
    final = Final(stack, made, *pages)
    final.publish_board()
    final.publish(1)
    final.enter(2, {1: 70.5, 2: 90.25, 4: 80})
    final.publish(2)
    final.enter(3, {2: 8.5, 4: 9})
    final.publish(3)
    final.publish(None)

    files = final.downloaded()
    assert [row["team_number"] for row in files["stages"]["final"]["snapshots"][0]["rows"]] == by_hand()
    done = final.verify(tmp_path, files)
    assert done.returncode == 0, done.stdout
    assert "1번째 심사 1판의 점수 5개가 최종 순위표 1판과 같습니다" in done.stdout
    assert "심사 결과 4개가 기록과 같고" in done.stdout
    forged = json.loads(json.dumps(files))
    forged["stages"]["stages"][1]["snapshots"][0]["rows"][0]["score"] += 1
    assert final.verify(tmp_path, forged).returncode == 1
    reader = pages[1]
    reader.goto(f"{final.base}/stages/")
    take_pictures(reader, tmp_path, "1-combined")
    reader.goto(f"{final.base}/stages/main/2/")
    take_pictures(reader, tmp_path, "2-stage")
    reader.goto(f"{final.base}/board/")
    take_pictures(reader, tmp_path, "3-board")

    final.enter(3, {2: 8.5, 4: 6}, reason="합산 오류")
    final.publish(3, note="합산 오류를 바로잡음")
    done = final.verify(tmp_path, final.downloaded())
    assert done.returncode == 0, done.stdout
    assert "3번째 심사는 그 뒤 2판으로 다시 발표되었고" in done.stdout
    reader.goto(f"{final.base}/stages/")
    expect(reader.get_by_text("이 종합 결과 뒤에 2판으로 다시 발표되었습니다")).to_be_visible()
    take_pictures(reader, tmp_path, "4-replaced")
    final.publish(None, note="합산 오류를 바로잡음")
    files = final.downloaded()
    done = final.verify(tmp_path, files)
    assert done.returncode == 0, done.stdout
    assert files["stages"]["final"]["newest"] == 2
    shown = requests.get(f"{final.base}/chain/", timeout=30).text
    assert "--stages stages.json" in shown


def by_hand() -> list[int]:
    """The teams in the order of the combined standing.

    Composites of the board, five teams: exact match ranks 1 2 3 4 5, ROUGE-1 ranks 4 1 3 2 5, as 0-1 (5 - rank) / 4.
    """
    exact, rouge = {1: 1, 2: 0.75, 3: 0.5, 4: 0.25, 5: 0}, {1: 0.25, 2: 1, 3: 0.5, 4: 0.75, 5: 0}
    board = {team: 0.45 * exact[team] + 0.55 * rouge[team] for team in exact}
    people, talk = {1: 70.5, 2: 90.25, 4: 80.0}, {2: 8.5, 4: 9.0}
    best = sorted(board, key=lambda team: -board[team])[:3]
    assert set(best) == set(people), board
    combined = {team: 50 * board[team] + 30 * people[team] / 100 + 20 * talk[team] / 10 for team in talk}
    stopped = [team for team in sorted(board, key=lambda team: -board[team]) if team not in people]
    return [*sorted(talk, key=lambda team: -combined[team]), 1, *stopped]
