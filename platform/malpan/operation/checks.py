"""What ``manage.py check --deploy`` says beside Django's own warnings: mistakes with which a site runs for a while."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, register

from malpan.web.certificate import font

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
DEPLOY: Final = "deploy"


@register(DEPLOY, deploy=True)
def check_operation(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """A warning for each mistake, with what to do."""
    found = (*_addresses(), *_mails(), *_metrics(), *_files(), *_proxies(), *_fonts())
    return [checks.Warning(what, hint=hint, id=f"malpan.W{number:03}") for number, what, hint in found]


Finding = tuple[int, str, str]


def _addresses() -> Iterator[Finding]:
    url = urlsplit(settings.SITE_URL)
    if url.scheme != "https":
        yield (
            1,
            f"SITE_URL is {settings.SITE_URL}: log-ins and cookies travel unprotected.",
            "Say https://, behind TLS.",
        )
    if url.path not in ("", "/") or url.query:
        yield 2, f"SITE_URL is {settings.SITE_URL}: the site is served at the root of a host.", "Leave the path out."
    if "*" in settings.ALLOWED_HOSTS:
        yield 3, "ALLOWED_HOSTS has *: the site answers under any name.", "Name your hosts, or leave it unset."
    if url.hostname in ("localhost", "127.0.0.1", "::1"):
        yield 4, f"SITE_URL is {settings.SITE_URL}: links in mails lead nowhere.", "Say how people reach the site."


def _mails() -> Iterator[Finding]:
    if not settings.ADMINS:
        yield 5, "ADMINS is not set: nobody is told when a run was given up.", "Name an address."
    if settings.MAILS_ARE_PRINTED:
        what = "EMAIL_URL is unset or consolemail://: mails are printed to the log, and nobody can sign up."
        yield 6, what, "Name a mail server, as smtp+tls://user:password@host:587."
    if not settings.SITE_OPERATOR or not settings.SITE_CONTACT:
        yield 7, "SITE_OPERATOR or SITE_CONTACT is not set: /privacy/ names nobody who answers.", "Set both."


def _metrics() -> Iterator[Finding]:
    if not settings.METRICS_TOKEN:
        yield 8, "METRICS_TOKEN is not set: no alert can fire.", "Set it, and give it to your Prometheus server."


def _files() -> Iterator[Finding]:
    if settings.MALPAN_STORAGE:
        return
    root = Path(settings.PRIVATE_ROOT)
    if root.exists() and root.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield 9, f"{root} is open to other users of the machine: it has the reference answers.", f"chmod 700 {root}"
    if kind_of_file_system(root) in IN_MEMORY:
        yield 10, f"{root} is kept in memory: submissions are gone after a restart.", "Set PRIVATE_ROOT to a disk."


def _proxies() -> Iterator[Finding]:
    if settings.ALLAUTH_TRUSTED_PROXY_COUNT == 0 and os.environ.get("FORWARDED_ALLOW_IPS"):
        yield (
            11,
            "FORWARDED_ALLOW_IPS is set, TRUSTED_PROXY_COUNT is not: all visitors share one count of failed log-ins.",
            "Set TRUSTED_PROXY_COUNT to the number of proxies, 1 for nginx.conf.",
        )


def _fonts() -> Iterator[Finding]:
    if font() is None:
        yield (
            12,
            "No Korean font was found: certificates of participation cannot be made.",
            "Install fonts-noto-cjk or fonts-nanum, or set CERTIFICATE_FONT.",
        )


def kind_of_file_system(path: Path) -> str:
    """The kind of the file system that ``path`` is or would be on, as /proc/mounts names it; empty if unknown."""
    real = os.path.realpath(path)
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return ""
    above = [(place, kind) for place, kind in mounts if os.path.commonpath([real, place]) == place]
    return max(above, key=lambda each: len(each[0]), default=("", ""))[1]
