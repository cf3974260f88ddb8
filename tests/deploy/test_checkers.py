"""Every file of deploy/ through the reader of its kind. nginx reads nginx.conf in tests/system/test_deployed.py."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import compose_spec
import kubernetes_validate
import pytest
from pydantic import ValidationError

from tests.deploy.manifests import DEPLOY, OFFERED, composed, kustomization, pods, resource, resources
from tests.deploy.units import PYTHON, SYSTEMD, units

KEDA = "keda.sh/v1alpha1"  # not part of Kubernetes: its schema is not either
BUILT = [(), ("gpu",), ("s3",), ("gpu", "s3")]  # the components of kubernetes/ that are switched on
INSTANCES = {"malpan-web@.service": "malpan-web@8000.service", "malpan-worker@.service": "malpan-worker@0.service"}


def test_hadolint_accepts_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, "--no-color", DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_images_are_pinned_to_a_version() -> None:
    named = re.findall(r"docker\.io/[^\s`]+", "".join(path.read_text() for path in DEPLOY.rglob("*") if path.is_file()))
    assert len(named) >= 4
    for image in named:
        assert re.fullmatch(r"docker\.io/library/\w+:\d+\.\d+(\.\d+)?-[\w-]+", image), image


def test_every_stage_that_installs_packages_knows_where_to_find_them() -> None:
    """Each for itself: buildah hands no argument down to a stage that is built from another one."""
    installing = [each for each in (DEPLOY / "Dockerfile").read_text().split("\nFROM ") if "pip install" in each]
    assert [each.split()[2] for each in installing] == ["web-packages", "worker-packages", "s3"]
    for each in installing:
        before = each.partition("pip install")[0]
        assert "\nARG PIP_INDEX_URL\n" in before
        assert "\nARG PIP_EXTRA_INDEX_URL\n" in before or "-r requirements" not in each


def test_compose_is_well_formed_with_every_profile() -> None:
    merged = composed()
    parsed = compose_spec.PyCompose.from_json(json.dumps(merged))
    parsed.validate()
    assert set(parsed.service_names()) == {
        "proxy", "web", "chores", "beat", "worker-cpu", "worker-gpu", "backup", "migrate", "postgres", "redis",
        "s3", "restore",
    }  # fmt: skip
    for name, service in merged["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.get("read_only") or name == "postgres", name
        assert "user" in service or "build" in service, f"{name}: as root"
        assert name == "proxy" or "ports" not in service, f"{name} can be reached from outside"
    with pytest.raises(ValueError, match="read_onyl"):  # the reader is one that refuses
        compose_spec.PyCompose.from_json(json.dumps(merged | {"services": {"web": {"image": "x", "read_onyl": True}}}))


@pytest.mark.parametrize("components", BUILT, ids=" and ".join)
def test_kubernetes_accepts_every_resource(components: tuple[str, ...]) -> None:
    checked = [each for each in resources(*components) if each["apiVersion"] != KEDA]
    assert len(checked) >= 20
    for each in checked:
        kubernetes_validate.validate(each, "1.33", strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(checked[0] | {"specification": {}}, "1.33", strict=True)


def test_keda_accepts_what_scales() -> None:
    """By the models that cloudcoil makes of KEDA's own definitions of its resources."""
    from cloudcoil.models.keda import v1alpha1  # a megabyte of classes

    checked = [each for each in resources() if each["apiVersion"] == KEDA]
    assert {each["kind"] for each in checked} == {"TriggerAuthentication", "ScaledObject"}
    for each in checked:
        model = getattr(v1alpha1, each["kind"])
        read = partial(model.model_validate, strict=True, extra="forbid", by_alias=True, by_name=False)
        read(each)
        with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
            read(each | {"spec": each["spec"] | {"specification": {}}})
        with pytest.raises(ValidationError, match="Field required"):
            read({name: each[name] for name in each if name != "spec"})


def test_the_kustomization_names_every_file_every_component_and_every_image() -> None:
    listed = set(kustomization()["resources"])
    assert listed == {f"kubernetes/{path.name}" for path in (DEPLOY / "kubernetes").glob("*.yaml")}
    [offered] = OFFERED.findall((DEPLOY / "kustomization.yaml").read_text())
    there = (DEPLOY / "kubernetes").glob("*/kustomization.yaml")
    assert set(offered.split(", ")) == {f"kubernetes/{path.parent.name}" for path in there}
    named = {f"{each['name']}:{each['newTag']}" for each in kustomization()["images"]}
    plain, with_gpu = own_images(pods()), own_images(pods("gpu"))
    assert plain | with_gpu == named, "the component takes registry and version from the images of deploy/ too"
    assert (len(plain - with_gpu), len(with_gpu - plain)) == (1, 1)


def own_images(found: dict[str, dict[str, Any]]) -> set[str]:
    """Those that no registry is named for."""
    containers = [each for pod in found.values() for each in pod["containers"] + pod.get("initContainers", [])]
    return {each["image"] for each in containers if "/" not in each["image"]}


def test_every_worker_has_a_gpu_where_workers_have_gpus() -> None:
    [container] = pods("gpu")["worker"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"


@pytest.mark.parametrize("components", BUILT, ids=" and ".join)
def test_whatever_a_pod_mounts_is_there(components: tuple[str, ...]) -> None:
    """Claims and files; secrets are made by hand."""
    there = {(each["kind"], each["metadata"]["name"]) for each in resources(*components)}
    mounted = set()
    for pod in pods(*components).values():
        for volume in pod["volumes"]:
            if claim := volume.get("persistentVolumeClaim"):
                mounted.add(("PersistentVolumeClaim", claim["claimName"]))
            if files := volume.get("configMap"):
                mounted.add(("ConfigMap", files["name"]))
    assert mounted == {each for each in there if each[0] in ("PersistentVolumeClaim", "ConfigMap")}


def test_the_proxy_starts_anew_with_another_configuration() -> None:
    """Its name has the digest of what it holds."""
    [files] = [each for each in resources() if each["kind"] == "ConfigMap"]
    assert files["data"] == {"nginx.conf": (DEPLOY / "nginx.conf").read_text()}
    assert re.fullmatch(r"nginx-[a-z0-9]{10}", files["metadata"]["name"])


def test_with_files_in_s3_no_machine_shares_a_disk_of_files() -> None:
    def claims(*components: str) -> set[str]:
        found = resources(*components)
        return {each["metadata"]["name"] for each in found if each["kind"] == "PersistentVolumeClaim"}

    assert claims() - claims("s3") == {"private"}
    for name, pod in pods("s3").items():
        rooms = [volume for volume in pod["volumes"] if volume["name"] == "private"]
        assert rooms in ([], [{"name": "private", "emptyDir": {}}]), name
        mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}, name


def test_every_pod_is_restricted_and_reads_only() -> None:
    for name, pod in pods().items():
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not pod["automountServiceAccountToken"], name
        [container] = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }, name  # fmt: skip
        assert "memory" in container["resources"]["limits"], name
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}, name


def test_what_is_scaled_exists() -> None:
    scaled = resource("ScaledObject", "worker")["spec"]
    assert resource("Deployment", scaled["scaleTargetRef"]["name"])["spec"].keys().isdisjoint({"replicas"})
    [trigger] = scaled["triggers"]
    assert trigger["type"] == "postgresql"
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    secret = resource("TriggerAuthentication", trigger["authenticationRef"]["name"])["spec"]["secretTargetRef"]
    assert [each["parameter"] for each in secret] == ["connection"]


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    done = _analyze(tmp_path, "verify")
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_finds_the_units_hardened(tmp_path: Path) -> None:
    for unit in sorted(units()):
        done = _analyze(tmp_path / unit, "security", "--offline=true", "--threshold=20", only=unit)
        assert done.returncode == 0, done.stdout + done.stderr


def _analyze(folder: Path, *words: str, only: str = "") -> Any:
    """Ask systemd about the units as they are, but for Python's path, which is not on this machine."""
    program = shutil.which("systemd-analyze")
    assert program, "systemd-analyze가 없습니다: apt-get install systemd / no systemd-analyze: apt-get install systemd"
    shutil.copytree(SYSTEMD, folder, dirs_exist_ok=True)
    for path in folder.glob("*.service"):
        path.write_text(path.read_text().replace(PYTHON, sys.executable))
    names = [
        INSTANCES.get(name, name)
        for name in ([only] if only else [*sorted(units()), "malpan-backup.timer", "malpan.target"])
    ]
    return subprocess.run(
        [program, *words, *names],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:", "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
