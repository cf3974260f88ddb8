"""``malpan stages``, ``publish stage`` and ``publish standing``, against the site itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from malpan.stages.models import Stage, StageDecision, StageSnapshot, StageTable
from tests.malpan_client.conftest import Outcome
from tests.malpan_client.scripted import problem
from tests.stages.conftest import Contest, make_contest

TABLE = "팀 번호,점수\n1,50\n2,90.5\n3,70\n"
SHA256 = "0" * 64


@dataclass
class Desk:
    """The command of the two organisers, ``writer`` and ``reader``, of a contest in stages."""

    contest: Contest
    by_person: Callable[..., Outcome]

    @property
    def slug(self) -> str:
        return self.contest.competition.slug

    @property
    def place(self) -> str:
        return f"{self.slug}/{self.contest.track.slug}"

    def writer(self, *words: str, status: int = 0) -> Outcome:
        return self.by_person(self.contest.writer, *words, status=status)

    def reader(self, *words: str, status: int = 0) -> Outcome:
        return self.by_person(self.contest.reader, *words, status=status)


@pytest.fixture
def desk(by_person: Callable[..., Outcome]) -> Desk:
    return Desk(make_contest(), by_person)


@pytest.mark.django_db(transaction=True)
def test_stages_are_set_up_and_the_first_is_published(desk: Desk):
    contest, slug, writer = desk.contest, desk.slug, desk.writer
    assert "심사가 없습니다" in writer("stages", "list", slug).out
    create = ("stages", "create", desk.place, "--weight", "50", "--title-ko")
    board = writer(*create, "순위표", "--phase", contest.phase.slug, "--cut", "3", "--json").json
    talk = writer(*create, "발표", "--scale-min", "0", "--scale-max", "100", "--announce", "--json").json
    first, second = str(board["id"]), str(talk["id"])
    assert (board["source"], board["phase"]) == ("board", contest.phase.pk)
    assert (talk["source"], talk["is_announced"]) == ("table", True)
    assert "앞의 발표를 기다림" in writer("stages", "list", desk.place).out
    assert "심사가 없습니다" in writer("stages", "list", f"{slug}/another").out
    changed = writer("stages", "update", slug, second, "--cut", "none", "--weight", "40", "--conceal", "--json").json
    assert (changed["cut"], changed["weight"], changed["is_announced"]) == (None, 40, False)
    same = writer("stages", "update", slug, first, "--phase", contest.phase.slug, "--json").json
    assert same["phase"] == contest.phase.pk

    assert "바꾼 것이 없습니다" in writer("publish", "stage", slug, first, "--dry-run").out
    writer("publish", "stage", slug, first, status=2)  # nobody has agreed
    assert "결과 1판" in writer("publish", "stage", slug, first, "--yes").out
    assert "발표 1판" in writer("stages", "list", slug).out


@pytest.fixture
def second(desk: Desk) -> str:
    """The stage whose scores are entered; the one before is published."""
    first = desk.contest.stage()
    found = desk.contest.stage()
    desk.contest.publish(first)
    return str(found.pk)


@pytest.mark.django_db(transaction=True)
def test_a_table_is_entered_and_corrected(desk: Desk, second: str, tmp_path: Path):
    slug, writer, scores = desk.slug, desk.writer, tmp_path / "scores.csv"
    empty = writer("stages", "teams", slug, second).out
    assert empty.splitlines()[:2] == ["팀 번호\t팀\t점수", f"1\t{desk.contest.teams[1].name}\t"]
    enter = ("stages", "enter", slug, second, str(scores))
    scores.write_bytes(TABLE.replace("70", "700").encode("cp949"))
    assert "4번째 줄" in writer(*enter, status=1).err
    scores.write_bytes(TABLE.encode("cp949"))
    assert "90.5" in writer(*enter, "--dry-run").out
    assert not StageTable.objects.exists()
    assert f"malpan stages confirm {slug} {second}" in writer(*enter).out
    scores.write_bytes(TABLE.replace("50", "55").encode("utf-16"))
    assert "사유" in writer(*enter, status=1).err
    writer(*enter, "--reason", "오타")
    shown = desk.reader("stages", "scores", slug, second).out
    assert "점수표 2판" in shown
    assert "확인 대기" in shown
    assert "55" in writer("stages", "teams", slug, second).out


@pytest.mark.django_db(transaction=True)
def test_a_second_person_decides_and_the_final_is_published(desk: Desk, second: str, tmp_path: Path):
    slug, writer, reader, scores = desk.slug, desk.writer, desk.reader, tmp_path / "scores.csv"
    enter = ("stages", "enter", slug, second, str(scores))
    scores.write_text(TABLE, encoding="utf-8-sig")
    writer(*enter)
    assert "입력한 사람은" in writer("stages", "confirm", slug, second, "--yes", status=4).err
    reader("stages", "confirm", slug, second, status=2)  # nobody has agreed
    assert "바뀌었습니다" in reader("stages", "confirm", slug, second, "--seen", SHA256, status=4).err
    reader("stages", "reject", slug, second, "--reason", "1번 팀의 점수가 다릅니다.")
    assert "돌려보냄" in writer("stages", "list", slug).out
    scores.write_text(TABLE.replace("50", "5"), encoding="utf-8-sig")
    writer(*enter, "--reason", "1번 팀")
    seen = reader("stages", "scores", slug, second, "--json").json["sha256"]
    assert "확인됨" in reader("stages", "confirm", slug, second, "--seen", seen).out
    assert StageDecision.objects.count() == 2

    reader("publish", "stage", slug, second, "--yes")
    preview = reader("publish", "standing", desk.place, "--dry-run", "--json").json
    published = reader("publish", "standing", slug, "--yes", "--json").json
    assert published["sha256"] == preview["sha256"]
    assert StageSnapshot.objects.count() == 3
    assert "같습니다" in reader("publish", "standing", slug, "--yes", status=4).err
    told = writer("stages", "show", slug, second).out
    assert "1번 팀의 점수가 다릅니다." in told
    assert "발표 1판" in told


@pytest.mark.django_db(transaction=True)
def test_the_last_stage_is_removed(by_person):
    contest = make_contest()
    stage = contest.stage()
    words = ("stages", "remove", contest.competition.slug, str(stage.pk))
    by_person(contest.writer, *words, status=2)
    by_person(contest.writer, *words, "--yes")
    assert not Stage.objects.exists()


def test_what_is_no_table_is_not_sent(command: Callable[..., Outcome], script, tmp_path: Path):
    path = tmp_path / "scores.xlsx"
    path.write_bytes(b"PK\x03\x04\xff\xff\x00")
    done = command("stages", "enter", "spring", "7", str(path))
    assert (done.status, "CP949" in done.err, script.requests) == (1, True, [])
    assert command("stages", "update", "spring", "7").status == 2


def test_scores_are_written_so_that_they_are_read_again(command: Callable[..., Outcome], script):
    teams = [
        {"team_number": number, "team": f'"{number}" 팀', "score": score}
        for number, score in enumerate((None, 88.0, 0.0000001, 87.25), start=1)
    ]
    script.on("GET", "competitions/spring/manage/stages/7/teams/", teams)
    lines = command("stages", "teams", "spring", "7", "--lang", "en").out.splitlines()
    assert lines[0] == "team number\tteam\tscore"
    assert [line.split("\t")[2] for line in lines[1:]] == ["", "88", "0.0000001", "87.25"]
    assert lines[1].split("\t")[1] == '"""1"" 팀"'


def test_a_refusal_is_told(command: Callable[..., Outcome], script):
    script.on("GET", "competitions/spring/manage/stages/7/result/", problem(409, "table_missing", "점수표가 없습니다."))
    done = command("publish", "stage", "spring", "7", "--yes")
    assert (done.status, "점수표가 없습니다" in done.err) == (4, True)
