"""Tampering with stages is found: by the site, and by the script from what the site publishes."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from malpan.stages.verification import TEXTS, verify_competition
from malpan.teams.services import disqualify_team
from malpan.web.pages.chain import SCRIPT
from tests.stages.conftest import Contest, make_contest

pytestmark = pytest.mark.django_db

CHANGE = "UPDATE stages_stagesnapshot"
ONE, FINAL = "stage_id IS NOT NULL", "stage_id IS NULL"


@pytest.fixture(scope="module")
def made_final(made_contest: Contest) -> Contest:
    """Three stages, the second by rank and with a tie; all published."""
    contest = copy.deepcopy(made_contest)
    contest.publish(contest.stage(weight=45))
    contest.judged(contest.stage(weight=45, normalisation="rank", cut=2), {1: 70, 2: 80, 3: 70})
    contest.judged(contest.stage(weight=10, tie_rule="earlier"), {1: 99.5, 2: 0, 3: 50})
    contest.publish_final()
    return contest


@pytest.fixture
def final(db: None, made_final: Contest) -> Contest:
    return copy.deepcopy(made_final)


@pytest.fixture
def bare(db: None) -> Contest:
    """Without the stages that the others have."""
    return make_contest()


def codes(contest: Contest) -> set[str]:
    return {finding.code for finding in verify_competition(contest.competition)}


def change(sql: str) -> None:
    """As somebody with all rights in the database would."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql)
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def test_what_was_published_is_as_recorded(final: Contest) -> None:
    assert verify_competition(final.competition) == []


def test_errata_are_as_recorded_too(final: Contest) -> None:
    third = final.track.stages.get(position=3)
    final.judged(third, {1: 99, 2: 0, 3: 50}, reason="합산 오류")
    final.publish_final(note="합산 오류")
    disqualify_team(team=final.teams[3], actor=final.writer, note_ko="규정 위반")
    for stage in final.track.stages.order_by("position"):
        final.publish(stage, note="3번 팀 실격")
    final.publish_final(note="3번 팀 실격")
    assert verify_competition(final.competition) == []


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (f"{CHANGE} SET rows = jsonb_set(rows, '{{0,score}}', '0.5') WHERE {ONE}", "stage_differs"),
        (f"{CHANGE} SET rows = jsonb_set(rows, '{{0,rank}}', '2') WHERE {FINAL}", "stage_differs"),
        (f"{CHANGE} SET rule = jsonb_set(rule, '{{weight}}', '99')", "stage_differs"),
        (f"{CHANGE} SET sha256 = repeat('0', 64) WHERE {FINAL}", "stage_differs"),
        (f"{CHANGE} SET number = 2 WHERE {FINAL}", "stage_missing"),
        (f"DELETE FROM stages_stagesnapshot WHERE {FINAL}", "stage_gone"),
        ("UPDATE stages_stagetable SET rows = jsonb_set(rows, '{0,score}', '50')", "table_differs"),
        ("DELETE FROM stages_stagedecision", "table_differs"),
        ("UPDATE submissions_chainentry SET payload = payload || '{\"rows\": 9}' WHERE kind = 'stage'", "hash"),
    ],
)  # fmt: skip
def test_what_was_changed_in_the_database_is_found(final: Contest, sql: str, code: str) -> None:
    change(sql)
    assert code in codes(final)
    assert all(finding.text for finding in verify_competition(final.competition))
    assert code in TEXTS
    with pytest.raises(CommandError, match="not as recorded"):
        call_command("verify_chain", final.competition.slug)


def test_a_result_that_was_recorded_but_does_not_follow_from_the_rule_is_found(
    bare: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the site itself had computed it wrongly, or an organiser with the code had."""
    from malpan.stages import contents, publishing

    stage = bare.stage()
    sound = contents.stage_content(stage)
    wrong = contents.Content(sound.rule, [{**row, "goes_on": True} for row in sound.rows])
    monkeypatch.setattr(publishing, "stage_content", lambda *_args: wrong)
    publishing.publish_stage(stage=stage, actor=bare.writer, sha256=wrong.sha256)
    assert codes(bare) == {"stage_miscounted"}


# --- the script -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def made_files(made_final: Contest) -> dict[str, Any]:
    return downloaded(made_final)


@pytest.fixture
def files(made_files: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(made_files)


def downloaded(final: Contest) -> dict[str, Any]:
    """What the site gives everybody."""
    base = f"/competitions/{final.competition.slug}"
    chain = Client().get(f"{base}/chain.json")
    return {
        "chain": json.loads(b"".join(chain.streaming_content)),
        "stages": Client().get(f"{base}/stages/{final.track.slug}.json").json(),
    }


def board_of(contest: Contest, number: int | None = None) -> Any:
    """A final board as it can be downloaded."""
    query = {} if number is None else {"snapshot": number}
    address = f"/api/v1/competitions/{contest.competition.slug}/tracks/{contest.track.slug}/board/"
    return Client().get(address, query).json()


def run_script(folder: Path, files: dict[str, Any], *boards: Any) -> subprocess.CompletedProcess[str]:
    for name, content in (*files.items(), *((f"board-{place}", board) for place, board in enumerate(boards))):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    given = [word for place in range(len(boards)) for word in ("--board", str(folder / f"board-{place}.json"))]
    command = [sys.executable, "-I", str(SCRIPT), str(folder / "chain.json"), "--stages", str(folder / "stages.json")]
    return subprocess.run([*command, *given], capture_output=True, text=True, timeout=60, check=False)


def test_script_recomputes_the_stages_and_the_combined_standing(files: dict[str, Any], tmp_path: Path) -> None:
    done = run_script(tmp_path, files)
    assert done.returncode == 0, done.stdout
    assert "심사 결과 4개가 기록과 같고" in done.stdout
    assert "견주지 않았습니다" in done.stdout


def test_script_takes_an_erratum_for_what_it_is(final: Contest, tmp_path: Path) -> None:
    """It sees what was replaced, too, and says which snapshots the combined standing is made of."""
    _first, _second, third = final.track.stages.order_by("position")
    final.judged(third, {1: 99, 2: 0, 3: 50}, reason="합산 오류")
    done = run_script(tmp_path, downloaded(final))
    assert done.returncode == 0, done.stdout
    assert "3번째 심사는 그 뒤 2판으로 다시 발표되었고" in done.stdout
    assert "(심사: 판): 1: 1, 2: 1, 3: 1" in done.stdout
    final.publish_final(note="합산 오류")
    final.republish_board()  # with the same content: the first stage names the earlier one
    files = downloaded(final)
    assert (files["stages"]["stages"][2]["newest"], files["stages"]["final"]["newest"]) == (2, 2)
    assert [each["snapshot"] for each in files["stages"]["final"]["snapshots"]] == [1, 2]
    done = run_script(tmp_path, files, board_of(final), board_of(final, 1))
    assert done.returncode == 0, done.stdout
    assert "심사 결과 6개가 기록과 같고" in done.stdout
    assert "(심사: 판): 1: 1, 2: 1, 3: 2" in done.stdout
    replaced = files["stages"]["stages"][2]["snapshots"][0]["rows"][0]
    replaced["score"] = 1.0
    assert run_script(tmp_path, files).returncode == 1, "nor may what was replaced be changed"


def test_script_compares_the_first_stage_with_the_published_board(final: Contest, tmp_path: Path) -> None:
    """Of several boards with the one that the stage names; a stage that was recorded with other scores is found."""
    team = final.teams[1]
    disqualify_team(team=team, actor=final.writer, note_ko="규정 위반")
    final.republish_board()
    newest, past = board_of(final), board_of(final, 1)
    assert (newest["final"]["snapshot"], past["final"]["snapshot"]) == (2, 1)
    assert (
        past["final"]["rows"][0]["team_number"]
        == team.number
        not in {row["team_number"] for row in newest["final"]["rows"]}
    )
    files = downloaded(final)
    done = run_script(tmp_path, files, newest)
    assert (done.returncode, "견주지 않았습니다. 최종 순위표 1판" in done.stdout) == (0, True), done.stdout
    done = run_script(tmp_path, files, newest, past)
    assert (done.returncode, "1번째 심사 1판의 점수 5개가 최종 순위표 1판과 같습니다" in done.stdout) == (0, True)
    rows = files["stages"]["stages"][0]["snapshots"][0]["rows"]
    rows[0]["score"] = 0.95  # as if the site had published it so
    done = run_script(tmp_path, files, past)
    assert "1번째 심사 1판의 팀이나 점수가 최종 순위표 1판과 다릅니다" in done.stdout
    assert done.returncode == 1


def test_script_notes_every_publication_of_the_first_stage_that_it_could_not_compare(
    final: Contest, tmp_path: Path
) -> None:
    """One that was compared does not make up for another that rests on a board which was not given."""
    disqualify_team(team=final.teams[5], actor=final.writer, note_ko="규정 위반")
    final.republish_board()
    final.publish(final.track.stages.get(position=1), note="5번 팀 실격")
    files, newest, past = downloaded(final), board_of(final), board_of(final, 1)
    notes = {
        1: "1번째 심사 1판의 점수를 최종 순위표와 견주지 않았습니다. 최종 순위표 1판",
        2: "1번째 심사 2판의 점수를 최종 순위표와 견주지 않았습니다. 최종 순위표 2판",
    }
    for given, missing in (([], [1, 2]), ([newest], [1]), ([past], [2]), ([past, newest], [])):
        done = run_script(tmp_path, files, *given)
        assert done.returncode == 0, done.stdout
        assert [number for number, note in notes.items() if note in done.stdout] == missing


def test_script_says_what_a_wrong_file_is(files: dict[str, Any], final: Contest, tmp_path: Path) -> None:
    """Not ``KeyError('stages')``: which file is in whose place, and where the right one is from."""
    earlier = {"format": "malpan-stages@1", "track": "t", "stages": [], "final": None}
    for wrong in (files["chain"], board_of(final), earlier, [], "text"):
        done = run_script(tmp_path, {**files, "stages": wrong})
        assert done.returncode == 2, done.stdout
        assert "stages.json: --stages 자리에 올 파일이 아니거나 예전 형식입니다." in done.stdout
        assert "Error(" not in done.stdout
    done = run_script(tmp_path, {**files, "chain": files["stages"]})
    assert (done.returncode, "chain.json 자리에 올 파일이" in done.stdout) == (2, True)
    done = run_script(tmp_path, files, files["stages"])
    assert (done.returncode, "--board 자리에 올 파일이" in done.stdout) == (2, True)


def _set(value: Any, *path: Any) -> Callable[[Any], None]:
    def change(stages: Any) -> None:
        for step in path[:-1]:
            stages = stages[step]
        assert stages[path[-1]] != value
        stages[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set(0.1, "stages", 0, "snapshots", 0, "rows", 0, "score"),
        _set(50.0, "stages", 1, "snapshots", 0, "rows", 2, "score"),
        _set(True, "stages", 0, "snapshots", 0, "rows", 4, "goes_on"),
        _set(2, "stages", 0, "snapshots", 0, "rule", "cut"),
        _set(90, "stages", 2, "snapshots", 0, "rule", "weight"),
        _set(2, "stages", 0, "newest"),
        _set(0.9, "final", "snapshots", 0, "rows", 0, "final_score"),
        _set(2, "final", "snapshots", 0, "rows", 0, "rank"),
        _set([], "final", "snapshots", 0, "rule", "stages"),
        _set(0.123, "final", "snapshots", 0, "rows", 0, "parts", 0, "normalised"),
        _set("다른 팀", "final", "snapshots", 0, "rows", 0, "team"),
        _set(None, "final"),
        lambda stages: stages["final"]["snapshots"][0]["rows"].reverse(),
        lambda stages: stages["stages"].pop(1),
    ],
)
def test_script_sees_a_change(files: dict[str, Any], tmp_path: Path, change: Callable[[Any], Any]) -> None:
    change(files["stages"])
    done = run_script(tmp_path, files)
    assert done.returncode == 1, done.stdout
    assert "[!!]" in done.stdout


@pytest.mark.parametrize("place", [0, 2, None])
def test_script_sees_a_publication_that_hides_behind_another_of_its_number(
    files: dict[str, Any], tmp_path: Path, place: int | None
) -> None:
    """A false one before the true one, which would be read in its stead."""
    stages = files["stages"]
    stage = stages["final"] if place is None else stages["stages"][place]
    false = copy.deepcopy(stage["snapshots"][0])
    false["rows"][0]["team"] = "다른 팀"
    stage["snapshots"].insert(0, false)
    done = run_script(tmp_path, files)
    assert done.returncode == 1, done.stdout
    assert "(snapshot 1) is in the file of the stages more than once" in done.stdout


def test_script_sees_a_stage_that_is_there_twice(files: dict[str, Any], tmp_path: Path) -> None:
    stages = files["stages"]["stages"]
    stages.insert(0, {**stages[1], "snapshots": []})
    done = run_script(tmp_path, files)
    assert done.returncode == 1, done.stdout
    assert "Stage 2 is in the file of the stages more than once" in done.stdout


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda stages: stages["stages"].pop(0), "Stage 1 (snapshot 1) is recorded and not in the file"),
        (_set([1, 1], "stages", 0, "snapshots", 0, "rule", "scale"), "Stage 1 (snapshot 1) cannot be recomputed"),
        (
            lambda stages: (
                [_set(0, "rule", "weight")(stage["snapshots"][0]) for stage in stages["stages"]]
                + [_set(0, "weight")(part) for part in stages["final"]["snapshots"][0]["rule"]["stages"]]
            ),
            "The combined standing (snapshot 1) cannot be recomputed",
        ),
    ],
)
def test_script_says_what_cannot_be_computed_and_fails(
    files: dict[str, Any], tmp_path: Path, change: Callable[[Any], Any], text: str
) -> None:
    change(files["stages"])
    done = run_script(tmp_path, files)
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    assert text in done.stdout


@pytest.mark.parametrize("part", ["rank", "final_score", "stopped_at", "parts"])
def test_script_does_not_trust_a_hash_that_was_made_again(files: dict[str, Any], tmp_path: Path, part: str) -> None:
    """Recorded with the wrong content: the recomputation alone sees it."""
    from malpan.submissions.integrity.chain import link_sha256
    from scoring.signature import json_sha256

    final, entries = files["stages"]["final"]["snapshots"][0], files["chain"]["entries"]
    row = final["rows"][0]
    row[part] = {"rank": 3, "final_score": 0.99, "stopped_at": 1, "parts": copy.deepcopy(final["rows"][1]["parts"])}[
        part
    ]
    final["sha256"] = json_sha256({"rule": final["rule"], "rows": final["rows"]})
    entries[-1]["payload"]["stage_sha256"] = final["sha256"]
    known = {name: entries[-1][name] for name in ("number", "kind", "payload", "previous")}
    entries[-1]["sha256"] = link_sha256(**known)
    done = run_script(tmp_path, files)
    assert done.returncode == 1
    assert "The combined standing (snapshot 1) differs from what the stages give." in done.stdout
    assert "not what was recorded" not in done.stdout
