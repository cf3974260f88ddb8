"""What deploy/compose.yaml and deploy/kubernetes say, as their own readers read them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, Final
from unittest import mock

import yaml

from tests.paths import ROOT

DEPLOY: Final = ROOT / "deploy"
KUBECTL: Final = Path(sys.executable).with_name("kubectl")
OFFERED: Final = re.compile(r"^# components: \[(.+)\]$", re.MULTILINE)
PROFILES: Final = ("cpu", "gpu", "backup", "restore", "s3")


@cache
def composed() -> dict[str, Any]:
    """deploy/compose.yaml with everything filled in, all profiles on, as podman-compose merges it."""
    from podman_compose import podman_compose as reader  # not its program: that asks for podman first

    profiles = [word for profile in PROFILES for word in ("--profile", profile)]
    with NamedTemporaryFile("w", suffix=".env") as settings:
        settings.write("POSTGRES_PASSWORD=secret\nTLS_DIRECTORY=/etc/malpan/tls\n")
        settings.flush()
        with mock.patch.dict(os.environ, {"MALPAN_ENV": settings.name}):
            file = str(DEPLOY / "compose.yaml")
            reader._parse_args(["--env-file", settings.name, "--file", file, *profiles, "config"])
            reader._parse_compose_file()
    merged = reader.merged_yaml
    return yaml.safe_load(merged) if isinstance(merged, str) else merged


def kustomization() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())


@cache
def resources(*components: str) -> list[dict[str, Any]]:
    """Everything that ``kubectl apply --kustomize deploy/`` sends, as kubectl builds it.

    ``components``: those of kubernetes/ that are switched on, by the line that the kustomization keeps for them.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "deploy"
        shutil.copytree(DEPLOY, copy)
        if components:
            chosen = ", ".join(f"kubernetes/{name}" for name in components)
            text, found = OFFERED.subn(f"components: [{chosen}]", (copy / "kustomization.yaml").read_text())
            assert found == 1
            (copy / "kustomization.yaml").write_text(text)
        done = subprocess.run([KUBECTL, "kustomize", copy], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.safe_load_all(done.stdout))


def resource(kind: str, name: str) -> dict[str, Any]:
    [found] = [each for each in resources() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def pods(*components: str) -> dict[str, dict[str, Any]]:
    """The specification of the pod of every deployment and job, also of those by the clock, by name."""
    return {
        each["metadata"]["name"]: each["spec"].get("jobTemplate", each)["spec"]["template"]["spec"]
        for each in resources(*components)
        if each["kind"] in ("Deployment", "Job", "CronJob")
    }
