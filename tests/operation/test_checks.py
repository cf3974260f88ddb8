"""``manage.py check --deploy``: each mistake of an operator has its warning, and a sound site none."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from malpan.operation import checks

SOUND: dict[str, Any] = {
    "SITE_URL": "https://malpan.example.org",
    "ALLOWED_HOSTS": ["malpan.example.org"],
    "ADMINS": [("a@example.org", "a@example.org")],
    "MAILS_ARE_PRINTED": False,
    "SITE_OPERATOR": "말판 운영팀",
    "SITE_CONTACT": "privacy@example.org",
    "METRICS_TOKEN": "token",
    "MALPAN_STORAGE": "",
    "ALLAUTH_TRUSTED_PROXY_COUNT": 1,
}


@pytest.fixture(autouse=True)
def _sound(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SOUND.items():
        setattr(settings, name, value)
    settings.PRIVATE_ROOT = tmp_path / "private"
    settings.PRIVATE_ROOT.mkdir(mode=0o700)
    monkeypatch.setattr(checks, "kind_of_file_system", lambda path: "tmpfs" if path.name == "memory" else "ext4")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.2")


def found() -> set[int]:
    ours = [each for each in run_checks(include_deployment_checks=True) if str(each.id).startswith("malpan.")]
    assert all(each.hint for each in ours)
    return {int(str(each.id).removeprefix("malpan.W")) for each in ours}


def test_a_sound_site_has_no_warning() -> None:
    assert found() == set()


@pytest.mark.parametrize(
    ("mistake", "numbers"),
    [
        ({"SITE_URL": "http://malpan.example.org"}, {1}),
        ({"SITE_URL": "https://malpan.example.org/malpan"}, {2}),
        ({"SITE_URL": "https://malpan.example.org/"}, set()),
        ({"ALLOWED_HOSTS": ["*"]}, {3}),
        ({"SITE_URL": "http://127.0.0.1:8000"}, {1, 4}),
        ({"ADMINS": []}, {5}),
        ({"MAILS_ARE_PRINTED": True}, {6}),
        ({"SITE_CONTACT": ""}, {7}),
        ({"METRICS_TOKEN": ""}, {8}),
        ({"PRIVATE_ROOT": Path("/nowhere/memory")}, {10}),
        ({"PRIVATE_ROOT": Path("/nowhere/memory"), "MALPAN_STORAGE": "s3://bucket/prefix"}, set()),
        ({"ALLAUTH_TRUSTED_PROXY_COUNT": 0}, {11}),
    ],
)
def test_each_mistake_has_its_warning(mistake: dict[str, Any], numbers: set[int], settings: Any) -> None:
    for name, value in mistake.items():
        setattr(settings, name, value)
    assert found() == numbers


def test_files_that_others_can_read_are_noticed(settings: Any) -> None:
    settings.PRIVATE_ROOT.chmod(0o750)
    assert found() == {9}


def test_the_file_system_of_a_path_is_that_of_the_mount_it_would_be_on() -> None:
    assert checks.kind_of_file_system.__name__ == "<lambda>"  # the fixture's; the real one:
    assert _real(Path("/proc/self/nothing/here")) == "proc"
    assert _real(Path("/")) not in ("", "proc")


_real = checks.kind_of_file_system


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seconds", "40", "--teams", "0"), "at least 1"),
        (("--seconds", "40", "--submissions", "0"), "at least 1"),
        (("--seconds", "40", "--late-share", "1.5"), "between 0 and 1"),
        (("--seconds", "40", "--target", "0"), "above 0"),
        (("--seconds", "40", "--times", "0"), "at least 1"),
        (("--seconds", "40", "--teams", "100", "--submissions", "50", "--times", "1"), "fewer submissions than teams"),
        (("--seconds", "0.01", "--submissions", "300", "--times", "1"), "less than a second"),
    ],
)
def test_capacity_refuses_or_warns_of_what_makes_its_answer_worth_nothing(words: tuple[str, ...], said: str) -> None:
    done = StringIO()
    try:
        call_command("capacity", *words, stderr=done)
    except CommandError as error:
        done.write(str(error))
    assert said in done.getvalue()


def test_what_prints_mails_is_named_as_it_may_be_set(settings: Any) -> None:
    settings.MAILS_ARE_PRINTED = True
    [warning] = [each for each in run_checks(include_deployment_checks=True) if each.id == "malpan.W006"]
    assert "EMAIL_URL is unset or consolemail://" in warning.msg
