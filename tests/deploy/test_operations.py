"""Whatever OPERATIONS.md tells an operator to type is there: commands and options, units, services, pods, variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class

from malpan.submissions import patience
from scoring.cli.parser import build_parser
from tests.deploy.manifests import DEPLOY, composed, resources
from tests.paths import ROOT

TEXT = (DEPLOY / "OPERATIONS.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "platform/malpan/settings.py").read_text()
OF_OTHERS = {"redis-server.service", "postgresql.service"}


def typed() -> Iterator[str]:
    """Every line of a block of code and every piece of code inside the text, without its comment."""
    blocks = re.split(r"^```.*$", TEXT, flags=re.MULTILINE)
    for number, part in enumerate(blocks):
        if number % 2:
            yield from (line.partition(" #")[0].strip() for line in part.replace("\\\n", " ").splitlines())
        else:
            yield from re.findall(r"`([^`]+)`", part.replace("\n", " "))


RUN = re.compile(r"(?:manage\.py|^malpan|\(malpan|\brun --rm (?:restore|backup)) ([a-z_]+\b[^;|&)]*)")


def commands_of_manage() -> list[list[str]]:
    """The words after ``manage.py``, the function ``malpan``, or of a bare piece that begins with a command's name."""
    found = []
    own = {name for name, app in get_commands().items() if app.startswith("malpan")}
    for line in typed():
        found += [match[1].split() for match in RUN.finditer(line)]
        if line.split(" ")[0] in own - {"up"}:  # compose has one too
            found.append(line.split())
    return found


@pytest.mark.parametrize("words", sorted(map(tuple, commands_of_manage())), ids=" ".join)
def test_every_command_and_option_exists(words: tuple[str, ...]) -> None:
    name, *arguments = words
    known = get_commands()
    assert name in known
    parser = load_command_class(known[name], name).create_parser("manage.py", name)
    options = {word.strip("[]`.,").partition("=")[0] for word in arguments if word.strip("[").startswith("--")}
    assert {option for option in options if option not in parser._option_string_actions} == set()


def test_many_commands_were_found() -> None:
    names = {words[0] for words in commands_of_manage()}
    assert {"backup", "restore", "redo_erasures", "erase_person", "retention", "collect_files", "move_files"} <= names
    assert {"verify_chain", "capacity", "createsuperuser", "run", "up", "shell", "storage_usage"} <= names


def test_every_word_of_the_instrument_exists() -> None:
    [choices] = [action.choices for action in build_parser("en")._actions if action.dest == "command"]
    named = set(re.findall(r"python -m scoring ([a-z-]+)", TEXT))
    assert named
    assert named <= set(choices)


def test_every_unit_of_systemd_exists() -> None:
    there = {path.name for path in (DEPLOY / "systemd").iterdir() if path.is_file()} | OF_OTHERS
    for line in typed():
        for match in re.finditer(
            r"(?:systemctl (?:start|stop|restart|status|enable --now)|journalctl -f?u) ([^&;|#]+)", line
        ):
            for word in shlex.split(match[1]):
                if word.startswith("-") or "*" in word or word.isdigit():
                    continue
                unit = re.sub(r"@[^.]+", "@", word)
                assert {unit, f"{unit}.service"} & there, f"{line}: {word}"


DC = re.compile(r"(?:docker compose|\bdc)\b.*? (stop|start|restart|logs|exec|run --rm|up --detach)((?: [^`;|&]*)?)")


def test_every_service_of_compose_exists() -> None:
    services, found = set(composed()["services"]), 0
    volumes = {f"malpan_{name}" for name in composed()["volumes"]}
    for line in typed():
        for verb, rest in DC.findall(line):
            words = [word for word in rest.split() if not re.match(r"-|\d+m?$|…|worker-cpu=", word)]
            wanted = words if verb in ("stop", "start", "restart", "logs") else words[:1]
            assert set(wanted) <= services, line
            found += len(wanted)
    assert found > 8
    assert {"malpan_media", "malpan_embeddings"} <= volumes & set(re.findall(r"`(malpan_\w+)`", TEXT))


def test_every_resource_of_kubernetes_exists() -> None:
    kinds = {"deploy": "Deployment", "job": "Job", "cronjob": "CronJob"}
    there = {(each["kind"], each["metadata"]["name"]) for each in resources()}
    made = set(re.findall(r"create job (\w+) --from=cronjob/", TEXT))
    named = {(kind, name) for kind, name in re.findall(r" (deploy|job|cronjob)/([a-z]+)(?![a-z./-])", TEXT)}
    named |= {("cronjob", name) for name in re.findall(r"--from=cronjob/(\w+)", TEXT)}
    assert {("deploy", "web"), ("cronjob", "restore")} <= named
    assert {
        (kinds[kind], name) for kind, name in named if (kind, name) not in {("job", each) for each in made}
    } <= there
    assert ("ScaledObject", "worker") in there


def test_every_variable_is_a_setting() -> None:
    example = (DEPLOY / "env.example").read_text()
    known = set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", example, re.MULTILINE))
    known |= set(re.findall(r'"([A-Z][A-Z0-9_]+)"', SETTINGS)) | set(
        re.findall(r"^([A-Z][A-Z_]+)\b", SETTINGS, re.MULTILINE)
    )
    named = set(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])`", TEXT))
    of_others = {"BODY_RATE", "OTEL_TRACES_SAMPLER_ARG"}
    assert named - known - of_others == set()


def test_every_way_of_deployment_has_its_word_in_the_table_of_the_runbook() -> None:
    table = TEXT.partition("## Runbook")[2].partition("| | systemd | compose |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == [
        "what runs", "logs", "restart one", "SQL", "stop all", "start all",
    ]  # fmt: skip
    assert all(len(row) == 4 and all(cell.strip() for cell in row) for row in rows)


RUNBOOK = TEXT.partition("\n## Runbook\n")[2]
ENTRIES = re.findall(r"^### (.+)$", RUNBOOK, re.MULTILINE)


def test_the_runbook_is_the_last_chapter_and_has_an_entry_for_whatever_may_be_lost() -> None:
    assert "\n## " not in RUNBOOK
    assert len(ENTRIES) >= 12
    assert {"A worker is lost", "The database is lost", "A leak is suspected", "The last evening"} <= {*ENTRIES}


@pytest.mark.parametrize("title", ENTRIES)
def test_every_entry_goes_from_what_is_seen_to_what_to_do_to_how_one_sees_that_it_is_well_again(title: str) -> None:
    entry = " ".join(RUNBOOK.partition(f"\n### {title}\n")[2].partition("\n### ")[0].split())
    assert "*Seen*:" in entry
    assert "*To do*" in entry
    assert re.search(r"\*[Ww]ell again\*", entry)


def entry_of(title: str) -> str:
    return RUNBOOK.partition(f"\n### {title}\n")[2].partition("\n### ")[0]


IN_WEB = re.compile(r"malpan (?!-)|dc exec (?:web|chores|beat|worker-[a-z]+)\b|.*\bexec\b.* deploy/")


@pytest.mark.parametrize("title", [title for title in ENTRIES if re.search(r"\bstop all\b", entry_of(title))])
def test_nothing_is_run_in_a_program_that_the_same_entry_has_stopped(title: str) -> None:
    """In containers the word ``malpan`` is a command in ``web``; under systemd it is a process of its own."""
    meanwhile = re.split(r"\b[Ss]top all\b", entry_of(title), maxsplit=1)[1]
    meanwhile, started, _after = re.split(r"\b([Ss]tart all)\b", meanwhile, maxsplit=1)
    assert started
    for number, part in enumerate(re.split(r"^```.*$", meanwhile, flags=re.MULTILINE)):
        pieces = part.splitlines() if number % 2 else re.findall(r"`([^`]+)`", part.replace("\n", " "))
        of_containers = [each for each in pieces if not each.rpartition(" # ")[2].startswith("systemd")]
        assert [each for each in of_containers if IN_WEB.match(each)] == []


def test_after_a_restore_the_role_of_keda_gets_its_grant_again() -> None:
    [granted] = re.findall(r"^GRANT .* TO malpan_scaler;$", TEXT, re.MULTILINE)
    assert f"`{granted}`" in entry_of("The database is lost").partition("restore")[2]


def test_a_new_version_installs_what_the_first_install_took_out_of_the_code() -> None:
    install = TEXT.partition("\n### systemd and nginx\n")[2].partition("\n### ")[0]
    taken = re.findall(r"^(?:cp|sed|    deploy/)\b.*?(?=  |$)", install, re.MULTILINE)
    assert {line.split("/")[1].split(" ")[0] for line in taken if "deploy/" in line} == {"systemd", "nginx.conf"}
    steps = TEXT.partition("\n## A new version\n")[2].partition("\n## ")[0]
    for line in (*taken, "nginx -t && systemctl reload nginx"):
        assert line in steps


def test_no_volume_is_removed_that_a_program_still_has_and_what_a_full_disk_may_lose_is_emptied_by_a_command() -> None:
    users = {
        volume: {name for name, each in composed()["services"].items() if mounts(each, volume)}
        for volume in composed()["volumes"]
    }
    removed = re.findall(r"^(.*)docker volume rm malpan_(\w+)", TEXT, re.MULTILINE)
    assert removed
    for before, volume in removed:
        gone = re.findall(r"dc rm --stop --force ([a-z -]+)", before)
        assert users[volume] <= set(" ".join(gone).split()), volume
    commands = "".join(entry_of("A disk is full").split("```")[1::2])
    assert {"media", "embeddings"} <= set(re.findall(r"malpan_(\w+)", commands))


def mounts(service: dict[str, Any], volume: str) -> bool:
    return any(str(each).startswith(f"{volume}:") for each in service.get("volumes", []))


def defaults() -> dict[str, str]:
    """The default of every number among the settings that the environment sets, as it stands in the code."""
    return dict(re.findall(r'env\.(?:int|float)\(\s*"(\w+)", default=([\d_.]+)', SETTINGS))


LIMITS = {
    "REJECTIONS_PER_TEAM": "{} rejected files of a team",
    "REJECTIONS_PER_ADDRESS": "and {} of an address in ten minutes",
    "API_UPLOADS_PER_TEAM": "{} uploads of a team in a minute by API",
    "LOGINS_PER_ADDRESS": "{} log-ins of an address in a minute",
    "LOGIN_FAILURES_PER_ADDRESS": "{} failed ones of an address in ten minutes",
    "LOGIN_FAILURES_PER_ACCOUNT": "{} of an account from an address in five minutes",
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_last_evening_tells_the_limits_that_the_site_has(name: str) -> None:
    evening = " ".join(RUNBOOK.partition("\n### The last evening\n")[2].split())
    assert LIMITS[name].format(defaults()[name]) in evening
    assert f"`{name}`" in evening


def test_numbers_beside_the_name_of_a_setting_are_its_default() -> None:
    said = re.findall(r"`([A-Z][A-Z0-9_]+)`(?:, | \()(\d+)\b", TEXT)
    known = defaults()
    assert {(name, number) for name, number in said if name in known and number != known[name]} == set()
    assert {"JOB_LEASE_SECONDS", "LOGINS_PER_ADDRESS", "SCORER_SILENCE_SECONDS"} <= {name for name, _ in said}


def test_the_spans_of_these_limits_are_those_of_the_site() -> None:
    assert timedelta(minutes=10) == patience.WINDOW
    assert '"{LOGIN_FAILURES_PER_ACCOUNT}/5m/key,{LOGIN_FAILURES_PER_ADDRESS}/10m/ip"' in SETTINGS
    assert '"{LOGINS_PER_ADDRESS}/m/ip"' in SETTINGS
