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
from tests.stages.conftest import Contest

pytestmark = pytest.mark.django_db

CHANGE = "UPDATE stages_stagesnapshot"
ONE, FINAL = "stage_id IS NOT NULL", "stage_id IS NULL"


@pytest.fixture
def final(contest: Contest) -> Contest:
    """Three stages, the second by rank and with a tie, the third without a team; all published."""
    contest.publish(contest.stage(weight=45))
    contest.judged(contest.stage(weight=45, normalisation="rank", cut=2), {1: 70, 2: 80, 3: 70})
    disqualify_team(team=contest.teams[3], actor=contest.writer, note_ko="규정 위반")
    contest.judged(contest.stage(weight=10, tie_rule="earlier"), {1: 99.5, 2: 0})
    contest.publish_final()
    return contest


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
    final.judged(third, {1: 99, 2: 0}, reason="합산 오류")
    final.publish_final(note="합산 오류")
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
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the site itself had computed it wrongly, or an organiser with the code had."""
    from malpan.stages import contents, publishing

    stage = contest.stage()
    sound = contents.stage_content(stage)
    wrong = contents.Content(sound.rule, [{**row, "goes_on": True} for row in sound.rows])
    monkeypatch.setattr(publishing, "stage_content", lambda *_args: wrong)
    publishing.publish_stage(stage=stage, actor=contest.writer, sha256=wrong.sha256)
    assert codes(contest) == {"stage_miscounted"}


# --- the script -------------------------------------------------------------------------------------------------------
@pytest.fixture
def files(final: Contest) -> dict[str, Any]:
    """What the site gives everybody."""
    base = f"/competitions/{final.competition.slug}"
    chain = Client().get(f"{base}/chain.json")
    return {
        "chain": json.loads(b"".join(chain.streaming_content)),
        "stages": Client().get(f"{base}/stages/{final.track.slug}.json").json(),
    }


def run_script(folder: Path, files: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-I", str(SCRIPT), str(folder / "chain.json"), "--stages", str(folder / "stages.json")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_script_recomputes_the_stages_and_the_combined_standing(files: dict[str, Any], tmp_path: Path) -> None:
    done = run_script(tmp_path, files)
    assert done.returncode == 0, done.stdout
    assert "심사 결과 4개가 기록과 같고" in done.stdout


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
        _set(0.1, "stages", 0, "rows", 0, "score"),
        _set(50.0, "stages", 1, "rows", 2, "score"),
        _set(True, "stages", 0, "rows", 4, "goes_on"),
        _set(2, "stages", 0, "rule", "cut"),
        _set(90, "stages", 2, "rule", "weight"),
        _set(0.9, "final", "rows", 0, "final_score"),
        _set(2, "final", "rows", 0, "rank"),
        _set([], "final", "rule", "left_out"),
        _set(0.123, "final", "rows", 0, "parts", 0, "normalised"),
        _set("다른 팀", "final", "rows", 0, "team"),
        lambda stages: stages["final"]["rows"].reverse(),
        lambda stages: stages["stages"].pop(1),
    ],
)
def test_script_sees_a_change(files: dict[str, Any], tmp_path: Path, change: Callable[[Any], Any]) -> None:
    change(files["stages"])
    done = run_script(tmp_path, files)
    assert done.returncode == 1, done.stdout
    assert "[!!]" in done.stdout


@pytest.mark.parametrize("part", ["rank", "final_score", "stopped_at", "parts"])
def test_script_does_not_trust_a_hash_that_was_made_again(files: dict[str, Any], tmp_path: Path, part: str) -> None:
    """Recorded with the wrong content: the recomputation alone sees it."""
    from malpan.submissions.integrity.chain import link_sha256
    from scoring.signature import json_sha256

    final, entries = files["stages"]["final"], files["chain"]["entries"]
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
    assert "The combined standing differs from what the stages give." in done.stdout
    assert "not what was recorded" not in done.stdout
