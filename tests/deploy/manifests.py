"""What deploy/compose.yaml and deploy/kubernetes say, as their own readers read them."""

from __future__ import annotations

import os
import re
from copy import deepcopy
from functools import cache
from tempfile import NamedTemporaryFile
from typing import Any, Final
from unittest import mock

import yaml

from tests.paths import ROOT

DEPLOY: Final = ROOT / "deploy"
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


def resources(component: str = "") -> list[dict[str, Any]]:
    """Everything that the kustomization lists, with its patches and those of a component."""
    found = [
        each
        for path in kustomization()["resources"]
        for each in yaml.safe_load_all((DEPLOY / path).read_text())
        if each
    ]
    more = yaml.safe_load((DEPLOY / "kubernetes" / component / "kustomization.yaml").read_text()) if component else {}
    for patch in [*kustomization()["patches"], *more.get("patches", ())]:
        kind, name = patch["target"]["kind"], patch["target"]["name"]
        meant = [each for each in found if each["kind"] == kind and re.fullmatch(name, each["metadata"]["name"])]
        assert len(meant) == len(name.split("|")), name
        for each in meant:
            if "$patch: delete" in patch["patch"]:
                found.remove(each)
                continue
            for step in yaml.safe_load(patch["patch"]):
                _patch(each, step)
    return found


def _patch(found: Any, step: dict[str, Any]) -> None:
    """One step of a JSON patch (RFC 6902)."""
    parent, key = _place(found, step["path"])
    if step["op"] in ("remove", "replace"):
        del parent[key]
    if step["op"] == "copy":
        source, name = _place(found, step["from"])
        step = step | {"value": deepcopy(source[name])}
    if isinstance(parent, list) and "value" in step:
        parent.insert(key, step["value"])
    elif "value" in step:
        parent[key] = step["value"]


def _place(found: Any, path: str) -> tuple[Any, Any]:
    """What holds the place that ``path`` points at (RFC 6901), and its name or number there."""
    *way, last = path.removeprefix("/").split("/")
    for name in way:
        found = found[int(name) if isinstance(found, list) else name]
    return found, int(last) if isinstance(found, list) else last


def resource(kind: str, name: str) -> dict[str, Any]:
    [found] = [each for each in resources() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def pods(component: str = "") -> dict[str, dict[str, Any]]:
    """The specification of the pod of every deployment and job, also of those by the clock, by name."""
    return {
        each["metadata"]["name"]: each["spec"].get("jobTemplate", each)["spec"]["template"]["spec"]
        for each in resources(component)
        if each["kind"] in ("Deployment", "Job", "CronJob")
    }
