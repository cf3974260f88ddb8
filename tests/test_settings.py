"""The web application stays light, and production refuses to start half configured."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from malpan import web_server
from tests.paths import ROOT

PRODUCTION = {
    "DEBUG": "off",
    "SECRET_KEY": "a-secret-of-at-least-fifty-characters-that-nobody-can-guess-1234567890",
    "DATABASE_URL": os.environ["DATABASE_URL"],
    "REDIS_URL": os.environ["REDIS_URL"],
    "SITE_URL": "https://malpan.example.org",
}
HEAVY = (
    "torch",
    "transformers",
    "numpy",
    "pandas",
    "scipy",
    "konlpy",
    "jpype",
    "mecab",
    "bert_score",
    "bleurt_pytorch",
)


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python as the web server's process does, in ``environment`` alone."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env={**kept, **environment},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def refusal(**environment: str) -> str:
    """What the settings say that refuse ``environment``."""
    with mock.patch.dict(os.environ, environment, clear=True), pytest.raises(ImproperlyConfigured) as refused:
        runpy.run_path(str(ROOT / "platform/malpan/settings.py"))
    return str(refused.value)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The names of all modules that a web process has loaded when it begins to serve."""
    program = (
        "import json, sys\n"
        "from types import SimpleNamespace\n"
        "from malpan import web_server\n"
        "server = SimpleNamespace(run=lambda: print(json.dumps(list(sys.modules))))\n"
        "made = web_server.make_server\n"
        "web_server.make_server = lambda listener: (made(listener), server)[1]\n"
        "web_server.main()"
    )
    done = python("-c", program, **{name: PRODUCTION[name] for name in ("DATABASE_URL", "REDIS_URL")}, PORT="0")
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_web_application_loads_no_model_library(loaded: set[str]) -> None:
    assert "malpan.wsgi" in loaded
    assert "malpan.web.pages.submit" in loaded, "views are"
    assert loaded.isdisjoint(HEAVY)


def test_a_web_process_knows_all_addresses_before_it_serves(loaded: set[str]) -> None:
    assert {"malpan.urls", "malpan.api.urls"} <= loaded


@pytest.mark.parametrize("missing", ["SECRET_KEY", "DATABASE_URL", "REDIS_URL", "SITE_URL"])
def test_production_settings_are_refused_without(missing: str) -> None:
    assert f"DEBUG is off and {missing} is not set" in refusal(**without(missing))


def test_an_hour_that_no_day_has_is_refused() -> None:
    assert "DAILY_MAIL_HOUR must be 0 to 23" in refusal(**PRODUCTION, DAILY_MAIL_HOUR="24")


@pytest.mark.parametrize(
    ("entry", "missing"),
    [(("manage.py", "check"), "DATABASE_URL"), (("-c", "import malpan.wsgi"), "SECRET_KEY")],
    ids=["manage", "wsgi"],
)
def test_nothing_starts_with_refused_settings(entry: tuple[str, ...], missing: str) -> None:
    """Nor are the embedded servers and the key of the local default put in the place of what is missing."""
    done = python(*entry, **without(missing))
    assert done.returncode != 0
    assert f"DEBUG is off and {missing} is not set" in done.stderr


def without(missing: str) -> dict[str, str]:
    return {name: value for name, value in PRODUCTION.items() if name != missing}


WRONG = (
    ({"SECRET_KEY": ""}, "SECRET_KEY is not set"),
    ({"WEB_THREADS": "four"}, "WEB_THREADS cannot be read"),
    ({"WEB_THREADS": "0"}, "WEB_THREADS is 0"),
    ({"DATABASE_URL": "mysql://db/malpan"}, "DATABASE_URL must be postgresql://"),
)
# refused by ``manage.py run`` itself: with DEBUG on the settings do without
WITHOUT_SERVERS = ({"DEBUG": "on", "REDIS_URL": ""}, "REDIS_URL is not set")


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_wrong_settings_are_refused_as_improperly_configured(wrong: dict[str, str], said: str) -> None:
    """The one error whose text ``environment.require_settings`` prints before it ends the process."""
    assert said in refusal(**PRODUCTION | wrong)


@pytest.mark.parametrize(("wrong", "said"), [WRONG[1], WITHOUT_SERVERS])
def test_refused_settings_exit_with_78_so_that_nobody_restarts_for_ever(wrong: dict[str, str], said: str) -> None:
    done = python("manage.py", "run", "web", **PRODUCTION | wrong)
    assert (done.returncode, said in done.stderr) == (78, True), done.stderr
    assert "Traceback" not in done.stderr


def test_the_file_of_the_settings_names_all_that_production_needs() -> None:
    needed = (ROOT / "deploy/env.example").read_text().partition("# --- must be set")[2].partition("# ---")[0]
    assert set(re.findall(r"^([A-Z_]+)=", needed, re.MULTILINE)) == set(PRODUCTION)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCORING_WORKERS", "0"),
        ("SLICE_ITEMS", "0"),
        ("SLICE_ITEMS", "-1"),
        ("JOB_LEASE_SECONDS", "0"),
        ("LARGE_CHECKS", "0"),
    ],
)
def test_numbers_that_no_site_can_work_with_are_refused_at_the_start(name: str, value: str) -> None:
    assert f"{name} is {value}, but must be at least 1" in refusal(**PRODUCTION, **{name: value})


def test_no_negative_number_of_days_removes_what_is_new() -> None:
    said = refusal(**PRODUCTION, RETENTION_INVITATION_DAYS="-1")
    assert "RETENTION_INVITATION_DAYS is -1, but must be at least 0" in said


def test_a_log_format_that_nobody_knows_is_refused_at_the_start() -> None:
    assert "LOG_FORMAT is xml, but must be line or json" in refusal(**PRODUCTION, LOG_FORMAT="xml")


def test_production_settings_pass_djangos_deployment_checks() -> None:
    complete = {
        "ADMINS": "a@example.org", "EMAIL_URL": "smtp://mail.example.org", "METRICS_TOKEN": "t",
        "SITE_OPERATOR": "o", "SITE_CONTACT": "c@example.org", "MALPAN_STORAGE": "s3://bucket/prefix",
    }  # fmt: skip
    done = python("manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION, **complete)
    assert done.returncode == 0, done.stderr
    done = python("manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert (done.returncode, "METRICS_TOKEN is not set" in done.stderr) == (1, True)


def test_log_in_attempts_are_counted_by_the_address_that_the_proxies_report() -> None:
    program = (
        "import malpan.wsgi\n"
        "from allauth.core.internal.httpkit import get_client_ip\n"
        "from django.test import RequestFactory\n"
        "request = RequestFactory(headers={'X-Forwarded-For': '6.6.6.6, 192.0.2.7'}).get('/')\n"
        "print(get_client_ip(request))"
    )
    assert python("-c", program, **PRODUCTION).stdout.strip() == "127.0.0.1"  # nobody's word is believed unasked
    assert python("-c", program, **PRODUCTION, TRUSTED_PROXY_COUNT="1").stdout.strip() == "192.0.2.7"


@pytest.mark.services
def test_a_worker_without_its_models_stops_and_says_what_to_run(tmp_path: Path) -> None:
    worker = ("-m", "celery", "--app", "malpan", "--quiet", "worker", "--queues", "scoring", "--concurrency", "1")
    done = python(*worker, **PRODUCTION, SCORING_PROFILE="official", HF_HOME=str(tmp_path))
    assert done.returncode == 78, done.stderr
    assert "python -m scoring models fetch official" in done.stderr


def test_the_web_server_knows_the_addresses_of_large_archives() -> None:
    assert (reverse("manage_import"), reverse("importCompetition")) == web_server.ARCHIVE_PATHS


def test_every_variable_is_explained_to_the_operator() -> None:
    read = set(re.findall(r'env(?:\.\w+)?\(\s*"([A-Z0-9_]+)"', (ROOT / "platform/malpan/settings.py").read_text()))
    read |= set(re.findall(r'environ\.get\("([A-Z_]+)"', (ROOT / "platform/malpan/web_server.py").read_text()))
    explained = set(re.findall(r"^#?([A-Z0-9_]+)=", (ROOT / "deploy/env.example").read_text(), re.MULTILINE))
    assert read - explained == {"MALPAN_LISTEN_FD"}  # the supervisor's own
