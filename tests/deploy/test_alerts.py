"""The alert rules through Prometheus' own checker: each fires on what it is for, and none on a healthy site.

tests/system/test_deployed.py has a Prometheus that asks a site and sees one fire.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.monitoring import ALERTS, program, rules_of, write_configuration

CASES = Path(__file__).with_name("alerts.test.yaml")

Rule = dict[str, Any]


def promtool(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program("promtool"), *map(str, words)], capture_output=True, text=True, check=False)


def rules() -> list[Rule]:
    return rules_of(yaml.load(ALERTS.read_text(), yaml.CSafeLoader))


def cases_of_all() -> Rule:
    return yaml.load(CASES.read_text(), yaml.CSafeLoader)


def names() -> list[str]:
    return [rule["alert"] for rule in rules()]


def test_promtool_accepts_the_rules(tmp_path: Path) -> None:
    done = promtool("check", "rules", ALERTS)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"SUCCESS: {len(names())} rules found" in done.stdout

    broken = tmp_path / "alerts.yaml"
    broken.write_text(ALERTS.read_text().replace("max(malpan_workers)", "max(malpan_workers"))
    assert promtool("check", "rules", broken).returncode == 1


def test_promtool_accepts_the_configuration_that_operators_are_shown(tmp_path: Path) -> None:
    written = write_configuration(tmp_path, "token")
    done = promtool("check", "config", written)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(names())} rules found" in done.stdout

    (tmp_path / "token").unlink()
    assert promtool("check", "config", written).returncode == 1


def test_every_alert_fires_on_what_it_is_for_and_none_on_a_healthy_site() -> None:
    done = promtool("test", "rules", CASES)
    assert done.returncode == 0, done.stdout + done.stderr
    healthy, *others = cases_of_all()["tests"]
    assert [case["alertname"] for case in healthy["alert_rule_test"]] == names()
    assert not any(case.get("exp_alerts") for case in healthy["alert_rule_test"])
    cases = [case for other in others for case in other["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == set(names())


WRONG: tuple[Rule, ...] = ({"expr": "vector(0) > 1"}, {"expr": "vector(1)"}, {"for": "90s"})


def test_an_alert_that_never_fires_or_always_or_too_early_or_late_is_noticed(tmp_path: Path) -> None:
    """The cases see each alert: they accept each rule as it is, and none that is wrong in one way."""
    cases = cases_of_all()
    files = [
        write_case(tmp_path / f"{rule['alert']}-{number}", cases, rule | change)
        for rule in rules()
        for number, change in enumerate(({}, *WRONG))
    ]
    accepted = re.findall(r"^Unit Testing:  (\S+)\n +SUCCESS", promtool("test", "rules", *files).stdout, re.MULTILINE)
    assert accepted == [str(file) for file in files if file.parent.name.endswith("-0")]
    assert len(accepted) == len(names())


def write_case(folder: Path, cases: Rule, rule: Rule) -> Path:
    """A file of the cases that are about this rule alone, with the rule beside it: JSON, which is YAML too."""
    folder.mkdir()
    tests = [
        each | {"alert_rule_test": [case for case in each["alert_rule_test"] if case["alertname"] == rule["alert"]]}
        for each in cases["tests"]
    ]
    its_own = cases | {"rule_files": ["alerts.yaml"], "tests": [each for each in tests if each["alert_rule_test"]]}
    groups = {"groups": [{"name": "malpan", "rules": [rule]}]}
    for name, content in (("alerts.yaml", groups), ("cases.yaml", its_own)):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False))
    return folder / "cases.yaml"
