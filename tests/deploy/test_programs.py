"""Units, containers and pods run every program of ``malpan.local.programs``, and stop it as it asks for."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from malpan.local.programs import Program, programs_alone, programs_of
from malpan.web import certificate
from tests.deploy.manifests import DEPLOY, composed, pods, resource
from tests.deploy.units import units
from tests.paths import ROOT

PROGRAMS = programs_alone(Path("/run"), worker_number=0, threads=1)
SECONDS = re.compile(r"(\d+)s?")


def stages() -> dict[str, dict[str, list[str]]]:
    """The instructions of each target of the Dockerfile, with those of the one that it is built from."""
    found: dict[str, dict[str, list[str]]] = {}
    name = ""
    for line in (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            parent, _, name = rest.split()
            found[name] = {key: list(values) for key, values in found.get(parent, {}).items()}
        elif word.isupper():
            found[name].setdefault(word, []).append(rest)
    return found


def test_the_programs_that_make_certificates_have_a_font_for_them() -> None:
    """The image of the web servers, and a machine that was set up as the operator's guide says."""
    fonts = set(re.findall(r"# Debian: (fonts-[a-z-]+)", inspect.getsource(certificate)))
    assert fonts
    [steps] = re.findall(r"^apt-get install (.+)$", (DEPLOY / "OPERATIONS.md").read_text(), re.MULTILINE)
    for installed in (" ".join(stages()["web"]["RUN"]), steps):
        assert fonts & set(installed.split())


def test_a_program_by_itself_is_what_the_supervisor_runs() -> None:
    together = {
        program.name: program
        for program in programs_of(ROOT, Path("/run"), listen_descriptor=3, threads=1)
        if not program.runs_once
    }
    assert together.keys() == PROGRAMS.keys()
    for name, program in PROGRAMS.items():
        assert program.arguments == together[name].arguments
        assert program.environment.items() <= together[name].environment.items()


def test_every_program_has_a_unit_that_runs_and_stops_it_rightly() -> None:
    run = {name: unit for name, unit in units().items() if unit.commands()[0][1] == "run"}
    assert {unit.commands()[0][2] for unit in run.values()} == PROGRAMS.keys()
    for unit in run.values():
        [command] = unit.commands()
        assert command[:2] == ["manage.py", "run"]
        program = PROGRAMS[command[2]]
        assert (unit.stop_signal, float(unit.one("TimeoutStopSec"))) == (program.stop_signal, program.grace)
        assert unit.one("Restart") == "always"
        assert unit.one("RestartPreventExitStatus") == "78"


def test_every_program_is_a_service_of_compose() -> None:
    services = composed()["services"]
    own = {name: service for name, service in services.items() if service.get("command", [""])[0] == "run"}
    assert {service["command"][1] for service in own.values()} == PROGRAMS.keys()
    targets = stages()
    for name, service in own.items():
        program = PROGRAMS[service["command"][1]]
        target = service["build"]["target"]
        assert target == name if name.startswith("worker") else target == "web"
        assert _signal(service.get("stop_signal"), targets[target]) == program.stop_signal.name
        assert _seconds(service["stop_grace_period"]) == program.grace


def test_the_proxy_of_compose_starts_again_with_the_web_process_whose_address_it_keeps() -> None:
    assert composed()["services"]["proxy"]["depends_on"]["web"]["restart"] is True


def test_every_program_is_a_pod_of_kubernetes() -> None:
    own = {name: pod for name, pod in pods().items() if pod["containers"][0].get("args", [""])[0] == "run"}
    assert {pod["containers"][0]["args"][1] for pod in own.values()} == PROGRAMS.keys()
    targets = stages()
    for name, pod in own.items():
        program = PROGRAMS[pod["containers"][0]["args"][1]]
        image = pod["containers"][0]["image"].removeprefix("malpan-").partition(":")[0]
        assert image == ("worker-cpu" if name == "worker" else "web")
        assert _signal(None, targets[image]) == program.stop_signal.name
        assert pod["terminationGracePeriodSeconds"] >= program.grace
        [tables] = pod["initContainers"]
        assert tables["args"] == ["migrate", "--check"]
        assert all(tables[each] == pod["containers"][0][each] for each in ("image", "envFrom", "securityContext"))


def test_backups_are_made_by_the_clock_in_each_kind_of_deployment() -> None:
    words = [units()["malpan-backup.service"].commands()[0][1:], composed()["services"]["backup"]["command"]]
    words.append(pods()["backup"]["containers"][0]["args"])
    assert [each[0] for each in words] == ["backup"] * 3
    assert [each[2:] for each in words] == [["--keep", "14"]] * 3
    assert json.loads(stages()["backup"]["CMD"][-1]) == composed()["services"]["backup"]["command"]
    assert stages()["backup"]["USER"] == ["10001:10001"]
    postgres = composed()["services"]["postgres"]["image"]
    assert f"FROM {postgres} AS backup" in (DEPLOY / "Dockerfile").read_text(), "pg_dump is of the server's version"

    timer = (DEPLOY / "systemd" / "malpan-backup.timer").read_text()
    assert "OnCalendar=*-*-* 03:00:00" in timer
    by_clock = resource("CronJob", "backup")["spec"]
    assert by_clock["schedule"] == "0 3 * * *"
    assert by_clock["jobTemplate"]["spec"]["backoffLimit"] == 0, "one a night, also where a complete one ends with 1"
    assert composed()["services"]["backup"]["restart"] == "no"
    assert "Restart=" not in (DEPLOY / "systemd" / "malpan-backup.service").read_text()
    operations = (DEPLOY / "OPERATIONS.md").read_text()
    assert "systemctl enable --now malpan-backup.timer" in operations
    assert "--profile backup run --rm backup" in operations


def test_a_backup_is_brought_back_where_files_can_be_written() -> None:
    """A pod or a container of the image with ``pg_restore``: those of the site have none."""
    service, pod = composed()["services"]["restore"], pods()["restore"]
    assert service["build"]["target"] == "backup"
    assert {"private:/var/lib/malpan/private", "backups:/backup:ro"} <= {str(each) for each in service["volumes"]}
    assert resource("CronJob", "restore")["spec"]["suspend"] is True
    [container] = pod["containers"]
    assert container["image"] == pods()["backup"]["containers"][0]["image"]
    mounts = {each["name"]: each.get("readOnly", False) for each in container["volumeMounts"]}
    assert (mounts["private"], mounts["backups"]) == (False, True)


def test_every_image_runs_as_nobody_in_particular_and_what_it_is_named_for() -> None:
    targets = stages()
    for name, program in (("web", "web"), ("worker-cpu", "worker"), ("worker-gpu", "worker")):
        assert targets[name]["USER"] == ["10001:10001"]
        assert json.loads(targets[name]["ENTRYPOINT"][-1]) == ["python", "manage.py"]
        assert json.loads(targets[name]["CMD"][-1]) == ["run", program]


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_run_becomes_the_program(program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> None:
    from django.core.management import call_command

    became: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda _, words, environment: became.append((words, environment)))
    monkeypatch.setattr(os, "chdir", lambda _: None)
    settings.VAR_DIR, settings.SCORING_WORKER_NUMBER, settings.SCORING_THREADS = tmp_path, 2, 3

    call_command("run", program)

    [(words, environment)] = became
    expected: Program = programs_alone(tmp_path / "run", worker_number=2, threads=3)[program]
    assert words[1:] == list(expected.arguments)
    assert Path(words[0]).samefile(sys.executable)
    assert expected.environment.items() <= environment.items()
    assert environment["MALPAN_PROGRAM"] == expected.name  # its lines of JSON name it
    assert environment["DATABASE_URL"] == os.environ["DATABASE_URL"]


def test_a_program_keeps_its_packages_when_the_link_to_the_version_is_set_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from django.core.management import call_command

    became: list[str] = []
    (tmp_path / "version-1" / ".venv").mkdir(parents=True)
    (tmp_path / "now").symlink_to("version-1")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "now" / ".venv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "now" / ".venv" / "bin" / "python"))
    monkeypatch.setattr(os, "execve", lambda path, words, _environment: became.extend((path, words[0])))
    monkeypatch.setattr(os, "chdir", lambda _: None)

    call_command("run", "web")

    assert became == [str((tmp_path / "version-1").resolve() / ".venv" / "bin" / "python")] * 2


def test_run_wants_services_of_your_own_and_says_what_starts_a_site_without() -> None:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "run", "web"],
        cwd=ROOT,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 78
    assert "DATABASE_URL, REDIS_URL is not set. For a whole site without servers of your own: make run" in done.stderr
    assert " malpan.local.programs\n" in done.stderr
    assert " malpan.core.models\n" not in done.stderr  # the program itself loads the apps, once


def _signal(named: str | None, target: dict[str, list[str]]) -> str:
    return named or target.get("STOPSIGNAL", ["SIGTERM"])[-1]


def _seconds(text: str) -> float:
    found = SECONDS.fullmatch(text)
    assert found, text
    return float(found[1])
