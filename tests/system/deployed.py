"""A site as deploy/ has it, on this machine: the units of systemd, their commands and settings, behind a real nginx.

What systemd would do is done here: the file of the settings, the environment, the command, the signal to stop.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import psycopg

from malpan.local import embedded
from tests.deploy.units import settings_of_the_example, units
from tests.paths import ROOT, python_path
from tests.system.stack import free_port, status_of
from tests.waiting import wait_for

INHERITED = ("PATH", "HOME", "LANG")
GRACE_SECONDS = 30


class Deployed:
    """Two web processes, scoring workers, chores, beat and nginx, on services of their own in ``home``.

    ``root``: where the code is that a program is started from. ``site``: the directory of one that never ran, whose
    database is taken; migrating one from nothing takes most of the time of a start.
    """

    def __init__(
        self, home: Path, models_dir: Path, *, root: Path = ROOT, workers: int = 1, site: Path | None = None,
        **settings: str,
    ) -> None:  # fmt: skip
        self.home = home
        self.root = root
        self.workers = workers
        home.mkdir()
        home.chmod(0o711)  # nginx's processes are another user where its master is root
        self.web_ports = [free_port(), free_port()]
        self.port, self.plain_port = free_port(), free_port()
        self.url = f"https://localhost:{self.port}"
        self.certificate = str(home / "tls" / "fullchain.pem")
        if site is not None:
            (site / "embedded").rename(home / "services")
        self._services = embedded.start(home / "services", durable=False)
        self._file = settings_of_the_example() | {
            "SECRET_KEY": secrets.token_urlsafe(50),
            "DATABASE_URL": str(self._services.database_url),
            "REDIS_URL": str(self._services.redis_url),
            "SITE_URL": self.url,
            "ALLOWED_HOSTS": "localhost",
            "TRUSTED_PROXY_COUNT": "1",
            "SCORING_PROFILE": "demo",
            "MALPAN_MODELS": str(models_dir),
            "MALPAN_VAR": str(home / "var"),
            "EMAIL_VERIFICATION": "none",
            **settings,
        }
        self._units = units()
        self._running: dict[str, psutil.Popen] = {}

    def start(self) -> None:
        """Start everything; return when the site answers through nginx and is well."""
        self.migrate()
        for port in self.web_ports:
            self.start_unit("malpan-web@.service", str(port))
        for number in range(self.workers):
            self.start_unit("malpan-worker@.service", str(number))
        self.start_unit("malpan-chores.service")
        self.start_unit("malpan-beat.service")
        self._start_nginx()
        for port in (*self.web_ports, self.plain_port):
            wait_for(
                lambda port=port: status_of(port, "/healthz/?format=text") == 200, f"{port}: {self.log}", seconds=240
            )

    def migrate(self) -> None:
        """Tables and static files of the code at ``root``."""
        for command in self._units["malpan-migrate.service"].commands():
            done = subprocess.run(
                [sys.executable, *command], cwd=self.root, env=self._environment("malpan-migrate.service"), check=False,
                capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr

    def start_unit(self, name: str, instance: str = "") -> psutil.Popen:
        [command] = self._units[name].commands(instance)
        return self._start(
            name.replace("@", f"@{instance}"), [sys.executable, *command], self._environment(name, instance)
        )

    def stop_unit(self, name: str) -> None:
        """Stop it as systemd does."""
        process = self._running.pop(name)
        process.send_signal(self._units[name.partition("@")[0] + "@.service" if "@" in name else name].stop_signal)
        process.wait(GRACE_SECONDS)

    def lose_redis(self) -> None:
        """Kill it; nobody starts it again."""
        [server] = [each for each in psutil.process_iter(["name", "cmdline"]) if self._is_redis(each)]
        server.kill()

    def bring_services_back(self) -> list[str]:
        """Start what was lost, empty where it keeps nothing; the names."""
        return self._services.ensure()

    def web(self, index: int) -> str:
        """The name of a web process."""
        return f"malpan-web@{self.web_ports[index]}.service"

    def connections_of(self, name: str) -> int:
        """How many connections the process and those below it have accepted."""
        process = self._running[name]
        listening = {self.port, self.plain_port, *self.web_ports}
        every = [each for one in (process, *process.children()) for each in one.net_connections("tcp")]
        return sum(each.status == psutil.CONN_ESTABLISHED and each.laddr.port in listening for each in every)

    def stop(self) -> None:
        """Stop everything; nothing of the site runs afterwards."""
        for process in reversed(self._running.values()):
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(GRACE_SECONDS)
            except psutil.TimeoutExpired:
                process.kill()
        self._services.release()
        shutil.rmtree(self.home, ignore_errors=True)

    @property
    def log(self) -> str:
        """All that the programs and nginx have printed."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.home.glob("*.log")))

    def query(self, statement: str, *values: object) -> list[tuple]:
        """Ask the site's database directly."""
        with psycopg.connect(str(self._services.database_url), autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        """What ``function`` returns, called with the site's settings."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.system.site_calls"], input=json.dumps([module, function, arguments]) + "\n",
            cwd=ROOT, env=self._environment("malpan-migrate.service"), capture_output=True, text=True, check=False,
            timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def _is_redis(self, process: psutil.Process) -> bool:
        command = process.info["cmdline"] or []
        return "redis-server" in (process.info["name"] or "") and str(self.home) in " ".join(command)

    def _environment(self, unit: str, instance: str = "") -> dict[str, str]:
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        code = {"PYTHONPATH": python_path(self.root)}
        return kept | code | self._units[unit].environment(instance) | self._file

    def _start(self, name: str, command: list[str], environment: dict[str, str]) -> psutil.Popen:
        with (self.home / f"{name}.log").open("ab") as log:
            process = psutil.Popen(
                command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._running[name] = process
        return process

    def _start_nginx(self) -> None:
        """With deploy/nginx.conf, in which OPERATIONS.md has the first two replaced; the rest are this test's paths."""
        text = (ROOT / "deploy" / "nginx.conf").read_text()
        for folder in ("tls", "run", "log", "bodies"):
            (self.home / folder).mkdir()
        for old, new in {
            "malpan.example.org": "localhost",
            "server web:8000 max_fails=0;": " ".join(
                f"server 127.0.0.1:{port} max_fails=0;" for port in self.web_ports
            ),
            "listen 443 ": f"listen 127.0.0.1:{self.port} ",
            "listen 80 ": f"listen 127.0.0.1:{self.plain_port} ",
            "/etc/malpan/tls": str(self.home / "tls"),
            "/run/": f"{self.home}/run/",
            "/var/log/nginx": str(self.home),
            "/var/lib/nginx": str(self.home / "bodies"),
        }.items():
            assert old in text, f"deploy/nginx.conf has no {old!r}"
            text = text.replace(old, new)
        (self.home / "nginx.conf").write_text(text)
        subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                "-keyout", str(self.home / "tls" / "privkey.pem"), "-out", self.certificate,
            ],
            check=True, capture_output=True,
        )  # fmt: skip
        command = [nginx(), "-e", "stderr", "-c", str(self.home / "nginx.conf")]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        self._start("nginx", [*command, "-g", "daemon off;"], dict(os.environ))


def nginx() -> str:
    """The program; Debian keeps it where only administrators look."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
    assert found, "nginx가 없습니다: apt-get install nginx-light / no nginx: apt-get install nginx-light"
    return found
