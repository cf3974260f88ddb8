"""Prometheus' own programs, and what it is told: the configuration of OPERATIONS.md and the alert rules of deploy/."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import promql_parser
import yaml

from tests.deploy.manifests import DEPLOY

ALERTS: Final = DEPLOY / "prometheus" / "alerts.yaml"
_TOKEN_FILE: Final = "/etc/prometheus/malpan-token"


def program(name: str) -> str:
    """The path of ``prometheus`` or ``promtool``."""
    found = shutil.which(name)
    assert found, f"{name}: 없습니다: apt-get install prometheus / no {name}: apt-get install prometheus"
    return found


def rules_of(groups: dict[str, Any]) -> list[dict[str, Any]]:
    """Every rule of a file of rules."""
    return [rule for group in groups["groups"] for rule in group["rules"]]


def configuration() -> dict[str, Any]:
    """prometheus.yaml as OPERATIONS.md shows it."""
    section = (DEPLOY / "OPERATIONS.md").read_text().partition("\n## Metrics and alerts\n")[2].partition("\n## ")[0]
    [block] = re.findall(r"^```\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE)
    return yaml.safe_load(block)


def write_configuration(
    folder: Path, token: str, *, targets: Sequence[str] = (), faster: int = 1, **intervals: str
) -> Path:
    """The configuration, the rules and the token's file in ``folder``; the path of the first.

    ``targets``: whom to ask in the place of those of OPERATIONS.md. ``faster``: what the waits of the alerts (``for:``)
    are divided by. ``intervals``: how often Prometheus asks, and how often it looks at the rules, as it names them.
    """
    written = configuration()
    [job] = written["scrape_configs"]
    assert job["authorization"] == {"credentials_file": _TOKEN_FILE}
    job["authorization"]["credentials_file"] = str(folder / "token")
    if targets:
        job["static_configs"] = [{"targets": list(targets)}]
    (folder / "token").write_text(f"{token}\n")
    rules = yaml.safe_load(ALERTS.read_text())
    for rule in rules_of(rules):
        if "for" in rule:
            rule["for"] = f"{promql_parser.parse_duration(rule['for']) // timedelta(milliseconds=faster)}ms"
    [named] = written["rule_files"]
    (folder / named).write_text(yaml.safe_dump(rules, allow_unicode=True))
    path = folder / "prometheus.yaml"
    path.write_text(yaml.safe_dump(written | {"global": intervals}))
    return path
