"""The whole of a contest by the command alone, as one file, against the site's own web server; the same on its pages.

A worker does the jobs beside them. What both contests show in the end is the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, Notice, Phase, ReferenceVersion
from malpan.core.models import AuditEntry
from malpan.submissions.models import RescoreBatch, Submission
from tests.factories import CANARY, UserFactory, file_bytes, rows
from tests.malpan_client.conftest import Outcome
from tests.paths import ROOT
from tests.waiting import wait_for
from tests.web.html import parse
from tests.web.manage_people import client_of

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS = 4
TEAMS = ("말모이", "가람", "누리")
RIGHT = (2, 1, 2)  # how many answers of each team are right, before one of the references is corrected
ERRATUM = "q4의 정답을 고쳤습니다."
REASON = "정답 정정"


def references(last: str = f"{CANARY}4") -> bytes:
    """Answers without reasons: scored without a model."""
    items = rows(ITEMS)
    for number, item in enumerate(items, start=1):
        item["output"]["answer"] = f"{CANARY}{number}가 옳다." if number < ITEMS else f"{last}가 옳다."
    return file_bytes(items)


def answers(right: int, last: str = "딴 말") -> bytes:
    items = rows(ITEMS)
    for number, item in enumerate(items, start=1):
        said = f"{CANARY}{number}" if number <= right else last
        item["output"]["answer"] = f"{said}가 옳다."
    return file_bytes(items)


FILES = [answers(RIGHT[0]), answers(RIGHT[1]), answers(RIGHT[2], "고친 말")]  # the last team is right in the end
SAMPLE = answers(0, "보기")
ONLY_BY_COMMAND = {"tables/rejections.jsonl", "tables/audit_log.jsonl"}  # a broken file, a limit that was changed
NOW = datetime.now().astimezone().replace(second=0, microsecond=0)
STARTS, ENDS = NOW - timedelta(hours=1), NOW + timedelta(days=2)
CONTEST = f"""
slug = "by-command"
title_ko = "봄 대회"
title_en = "Spring"
summary_ko = "소개"
description_ko_file = "description.md"
organiser_ko = "국립국어원"
team_size_max = 5
prize_places = [3, 1]
terms_ko = "약관"

[[tracks]]
slug = "main"
title_ko = "어문 규범"
recipe = "rag-qa@1"
profile = "demo"
score_scale = 100
score_decimals = 4

[[tracks.targets]]
kind = "baseline"
label_ko = "기준"
value = 0.1

[[tracks.files]]
path = "sample.json"
kind = "sample"
title_ko = "예시"

[[tracks.phases]]
slug = "open"
title_ko = "본선"
starts_at = {STARTS.isoformat()}
ends_at = {ENDS.isoformat()}
daily_limit = 2
finals_limit = 1
references = "references.json"
erratum_ko = "{ERRATUM}"
"""


@pytest.fixture
def command(by_person: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """In the place of the one that asks a scripted server."""
    return by_person


@pytest.fixture
def owner() -> User:
    found = UserFactory.create(name="운영자")
    found.user_permissions.add(Permission.objects.get(codename="add_competition"))
    return found


@pytest.fixture
def people() -> list[User]:
    return [UserFactory.create(name=f"{name} 팀장") for name in TEAMS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A contest in a repository."""
    found = tmp_path / "contest"
    found.mkdir()
    (found / "contest.toml").write_text(CONTEST, encoding="utf-8")
    (found / "description.md").write_text("# 안내\n", encoding="utf-8")
    (found / "references.json").write_bytes(references())
    (found / "sample.json").write_bytes(SAMPLE)
    for name, data in zip(TEAMS, FILES, strict=True):
        (found / f"{name}.json").write_bytes(data)
    return found


def steps(done: Outcome) -> list[tuple[str, str]]:
    return [(each["kind"], each["place"]) for each in done.json["steps"]]


def test_a_contest_by_the_command_is_the_same_as_on_the_pages(
    command: Callable[..., Outcome], worker: None, owner: User, people: list[User], folder: Path
) -> None:
    shown = by_command(command, owner, people, folder)
    by_pages(owner, people)
    assert shown == what_is_shown(command, owner, "by-pages", folder)
    assert [(rank, team, scores["exact_match"]) for rank, team, scores in shown["final"]] == [
        (1, "누리", 0.75),
        (2, "말모이", 0.5),
        (3, "가람", 0.25),
    ]
    assert shown["tables"]["tables/submissions.jsonl"] == len(TEAMS)
    assert CANARY not in json.dumps(shown, ensure_ascii=False)


@pytest.mark.parametrize("document", ["README.md", "README.ko.md"])
def test_the_contest_file_of_the_readme_makes_a_contest(
    command: Callable[..., Outcome], owner: User, folder: Path, document: str
) -> None:
    [text] = re.findall(r"^```toml\n(slug = .*?)^```$", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)
    example = folder / "example.toml"
    example.write_text(text, encoding="utf-8")
    made = steps(command(owner, "create", str(example), "--json"))
    assert {place for _kind, place in made} >= {"spring", "main", "main/open", "main/open/references"}
    phase = Phase.objects.get(track__competition__slug="spring")
    assert (phase.daily_limit, phase.reference_versions.get().is_current) == (5, True)
    assert steps(command(owner, "create", str(example), "--json")) == []


def what_is_shown(command: Callable[..., Outcome], owner: User, slug: str, folder: Path) -> dict[str, Any]:
    """What a contest looks like, but for its name, ids and moments."""
    board = command(owner, "board", slug, "--json", "--all").json
    archive = folder / f"{slug}.zip"
    command(owner, "export", slug, "--to", str(archive), "--json")
    with zipfile.ZipFile(archive) as found:
        names = {name for name in found.namelist() if name.endswith(".jsonl")} - ONLY_BY_COMMAND
        tables = {name: len(found.read(name).splitlines()) for name in names}
    settings = command(owner, "settings", "get", slug, "--json").json
    for phase in settings["tracks"][0]["phases"]:
        del phase["ends_at"]  # closed at some moment
    return {
        "settings": {**settings, "slug": ""},
        "public": [(row["rank"], row["team"], row["shown"], row["submission_count"]) for row in board["rows"]],
        "final": [(row["rank"], row["team"], row["scores"]) for row in board["final"]["rows"]],
        "tables": tables,
        "notices": list(
            Notice.objects.filter(competition__slug=slug).order_by("pk").values_list("title_ko", "body_ko")
        ),
    }


# --- by the command ---------------------------------------------------------------------------------------------------
def by_command(command: Callable[..., Outcome], owner: User, people: list[User], folder: Path) -> dict[str, Any]:
    set_up(command, owner, folder)
    take_part(command, people, folder)
    correct(command, owner, folder)
    finish(command, owner, people)
    return what_is_shown(command, owner, "by-command", folder)


def set_up(command: Callable[..., Outcome], owner: User, folder: Path) -> None:
    contest = str(folder / "contest.toml")
    planned = steps(command(owner, "create", contest, "--dry-run", "--json"))
    assert ("created", "main/open") in planned
    command(owner, "settings", "update", contest, status=6)  # it makes none
    made = steps(command(owner, "create", contest, "--json"))
    assert {place for _kind, place in made} >= {"by-command", "main", "main/open", "main/open/references"}
    assert steps(command(owner, "create", contest, "--json")) == []

    written = folder / "written.toml"
    written.write_text(command(owner, "settings", "get", "by-command").out, encoding="utf-8")
    assert steps(command(owner, "create", str(written), "--json")) == []

    (folder / "contest.toml").write_text(CONTEST.replace("daily_limit = 2", "daily_limit = 1"), encoding="utf-8")
    changed = command(owner, "settings", "update", contest, "--json").json["steps"]
    assert changed == [{"kind": "updated", "place": "main/open", "fields": {"daily_limit": [2, 1]}, "note": ""}]
    misspelled = folder / "misspelled.toml"
    misspelled.write_text(CONTEST.replace("daily_limit", "daly_limit"), encoding="utf-8")
    assert "daly_limit" in command(owner, "create", str(misspelled), status=1).err

    command(owner, "publish", "contest", "by-command")


def take_part(command: Callable[..., Outcome], people: list[User], folder: Path) -> None:
    for name, person in zip(TEAMS, people, strict=True):
        file = str(folder / f"{name}.json")
        assert "malpan terms" in command(person, "team", "by-command", "--create", name, status=3).err
        version = command(person, "terms", "by-command", "--json").json["version"]
        command(person, "terms", "by-command", "--accept", str(version))
        command(person, "team", "by-command", "--create", name)
        command(person, "download", "by-command", "--to", str(folder), "--force")
        assert command(person, "check", "by-command", file, "--json").json["item_count"] == ITEMS
        sent = command(person, "submit", "by-command/main", file, "--wait", "--json").json
        assert (sent["is_new"], sent["submission"]["run"]["state"]) == (True, "finished")
        again = command(person, "submit", "by-command/main", file, "--json").json
        assert (again["is_new"], again["submission"]["id"]) == (False, sent["submission"]["id"])
        assert "1 / 1" not in command(person, "limits", "by-command").out
        command(person, "submit", "by-command", file, "--again", status=4)
    assert Submission.objects.count() == len(TEAMS)
    assert (folder / "sample.json").read_bytes() == SAMPLE
    broken = folder / "broken.json"
    broken.write_bytes(file_bytes([*rows(ITEMS), {"id": "x1", "output": {"answer": 7}}]))
    assert "x1" in command(people[0], "check", "by-command", str(broken), status=1).err


def correct(command: Callable[..., Outcome], owner: User, folder: Path) -> None:
    (folder / "references.json").write_bytes(references("고친 말"))
    done = command(owner, "create", str(folder / "contest.toml"), "--json")
    assert steps(done) == [("drafted", "main/open/references")]
    assert steps(command(owner, "create", str(folder / "contest.toml"), "--json")) == [("kept", "main/open/references")]
    draft = ReferenceVersion.objects.get(published_at=None)
    assert "고친 말" in command(owner, "references", "diff", "by-command", str(draft.pk)).out
    command(owner, "references", "publish", "by-command", str(draft.pk), status=4)

    words = ["--reason", REASON, "--references", "draft", "--wait", "--json"]
    batch = command(owner, "rescore", "start", "by-command/main/open", *words).json
    assert (batch["state"], batch["finished"]) == ("ready", len(TEAMS))
    seen = command(owner, "rescore", "preview", "by-command", str(batch["id"]), "--json").json
    assert [(each["team"], each["before"], each["after"]) for each in seen["moves"] if each["team"] == "누리"] == [
        ("누리", 2, 1)
    ]
    command(owner, "rescore", "apply", "by-command", str(batch["id"]), status=2)  # nobody has agreed
    command(owner, "rescore", "apply", "by-command", str(batch["id"]), "--seen", "0-x", status=4)
    notice = ["--title-ko", "재채점", "--body-ko", "정답을 고쳤습니다."]
    number = ("by-command", str(batch["id"]))
    command(owner, "rescore", "order", *number, status=2)
    order = command(owner, "rescore", "order", *number, *notice, "--guard", "2", "--grant", "1", "--yes", "--json").json
    assert [order["order"][name] for name in ("state", "guarded_places", "grants_slots")] == ["waiting", 2, 1]
    assert "대기 중" in command(owner, "rescore", "show", *number).out
    command(owner, "rescore", "order", *number, "--yes", status=4)
    assert "거둠" in command(owner, "rescore", "withdraw", *number).out
    command(owner, "rescore", "withdraw", *number, status=4)
    applied = command(
        owner, "rescore", "apply", "by-command", str(batch["id"]), "--seen", seen["seen"], *notice, "--json"
    )
    assert applied.json["state"] == "applied"


def finish(command: Callable[..., Outcome], owner: User, people: list[User]) -> None:
    history = command(people[0], "submissions", "by-command", "--json").json["history"]
    [chosen] = [each["id"] for each in history if each["kind"] == "submission"]
    assert chosen in command(people[0], "final", "by-command", chosen).out
    command(owner, "publish", "board", "by-command", "--yes", status=4)  # the phase is still running
    assert "그 전에는 발표할 수 없습니다" in command(owner, "publish", "board", "by-command", "--dry-run", status=4).out
    command(owner, "close", "by-command/main/open", "--yes")
    command(owner, "publish", "board", "by-command", "--dry-run")
    command(owner, "publish", "board", "by-command", "--note-ko", "축하합니다", "--yes")
    assert "최종 순위표" in command(people[0], "board", "by-command").out


# --- on the pages -----------------------------------------------------------------------------------------------------
def by_pages(owner: User, people: list[User]) -> None:
    organiser = Pages(client_of(owner), "/competitions/by-pages/")
    phase = set_up_on_pages(organiser)
    members = [Pages(client_of(person), "/competitions/by-pages/") for person in people]
    for name, data, member in zip(TEAMS, FILES, members, strict=True):
        member.post("terms/", {"version": "1", "confirm": "on"})
        member.post("team/create/", {"name": name})
        member.post("submit/", {"track": "main", "memo": "", "file": SimpleUploadedFile(f"{name}.json", data)})
    scored(phase)
    draft = {
        "phase": phase.pk,
        "file": SimpleUploadedFile("references.json", references("고친 말")),
        "erratum_ko": ERRATUM,
    }
    organiser.post("manage/references/", draft)
    version = ReferenceVersion.objects.get(phase=phase, published_at=None)
    organiser.post(f"manage/rescoring/start/{phase.pk}/", {"reason": REASON, "reference_version": version.pk})
    batch = RescoreBatch.objects.get(phase=phase)
    scored(phase)
    page = parse(organiser.get(f"manage/rescoring/{batch.pk}/"))
    seen = str(page.one("input", name="seen").attributes["value"])
    notice = {"title_ko": "재채점", "body_ko": "정답을 고쳤습니다."}
    organiser.post(f"manage/rescoring/{batch.pk}/apply/", {"confirm": "on", "seen": seen, **notice})
    first = Submission.objects.get(phase=phase, team__name=TEAMS[0])
    members[0].post("submissions/finals/", {"track": "main", "phase": "open", "chosen": [str(first.public_id)]})
    organiser.post(f"manage/phases/{phase.pk}/close/", {"confirm": "on"})
    organiser.post(f"manage/phases/{phase.pk}/publish/", {"word": "open", "note_ko": "축하합니다"})


def set_up_on_pages(organiser: Pages) -> Phase:
    organiser.post("/manage/new/", {"title_ko": "봄 대회", "title_en": "Spring", "slug": "by-pages"})
    texts = {
        "title_ko": "봄 대회",
        "title_en": "Spring",
        "slug": "by-pages",
        "summary_ko": "소개",
        "description_ko": "# 안내",
    }
    more = {"organiser_ko": "국립국어원", "team_size_max": "5", "prize_places": "3, 1", "terms_ko": "약관"}
    organiser.post("manage/setup/texts/", texts | more)
    track = {"title_ko": "어문 규범", "slug": "main", "recipe": "rag-qa@1", "profile": "demo", "position": "0"}
    organiser.post("manage/setup/new-track/", track | {"score_scale": "100", "score_decimals": "4"})
    target = {"kind": "baseline", "label_ko": "기준", "value": "0.1", "is_comparable": "on", "score": "final_score"}
    rows_of_the_form = {f"form-0-{name}": value for name, value in target.items()}
    counts = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "0"}
    organiser.post("manage/setup/tracks/main/targets/", rows_of_the_form | counts)
    times = {
        "starts_at": f"{timezone.localtime(STARTS):%Y-%m-%dT%H:%M}",
        "ends_at": f"{timezone.localtime(ENDS):%Y-%m-%dT%H:%M}",
    }
    limits = {"daily_limit": "1", "finals_limit": "1", "shows_own_score": "on", "position": "0", "min_interval": "0"}
    organiser.post("manage/phases/new/main/", {"title_ko": "본선", "slug": "open", **times, **limits})
    phase = Phase.objects.get(track__competition__slug="by-pages")
    file = {"file": SimpleUploadedFile("references.json", references())}
    organiser.post(f"manage/setup/phases/{phase.pk}/references/", file)
    sample = {"kind": "sample", "title_ko": "예시", "file": SimpleUploadedFile("sample.json", SAMPLE)}
    organiser.post("manage/setup/tracks/main/new-file/", sample)
    organiser.post("manage/setup/publish/", {"accepts_gaps": "on"})
    return phase


class Pages:
    """Somebody who fills in forms."""

    def __init__(self, client: Client, home: str) -> None:
        self._client = client
        self._home = home

    def post(self, page: str, form: dict[str, Any]) -> None:
        answer = self._client.post(page if page.startswith("/") else self._home + page, form)
        assert answer.status_code == 302, (page, re.findall(r"errorlist.*?</ul>", answer.content.decode(), re.S))

    def get(self, page: str) -> str:
        return self._client.get(self._home + page).content.decode()


def scored(phase: Phase) -> None:
    running = ("queued", "running")
    wait_for(
        lambda: not Submission.objects.filter(phase=phase, runs__state__in=running).exists(), "everything is scored"
    )


# --- bringing what is there to its file -------------------------------------------------------------------------------
def test_a_file_changes_what_differs_and_says_what_only_the_site_has(
    command: Callable[..., Outcome], owner: User, folder: Path
) -> None:
    contest = folder / "contest.toml"
    command(owner, "create", str(contest))
    (folder / "sample.json").write_bytes(answers(0, "다른 보기"))
    changed = CONTEST.replace('title_ko = "예시"', 'title_ko = "새 예시"').replace("value = 0.1", "value = 0.2")
    renewed = changed.replace('terms_ko = "약관"', 'terms_ko = "새 약관"\nrenews_terms = true')
    contest.write_text(renewed, encoding="utf-8")
    planned = steps(command(owner, "create", str(contest), "--dry-run", "--json"))
    done = steps(command(owner, "create", str(contest), "--json"))
    assert planned == done
    assert done == [
        ("updated", "by-command"),
        ("updated", "main/targets"),
        ("uploaded", "main/files/sample.json"),
        ("removed", "main/files/sample.json"),
    ]
    files = command(owner, "files", "by-command", "--json").json["files"]
    assert [(each["title"], each["file_sha256"]) for each in files] == [
        ("새 예시", hashlib.sha256(answers(0, "다른 보기")).hexdigest())
    ]
    assert command(owner, "terms", "by-command", "--json").json["version"] == 2
    assert steps(command(owner, "create", str(contest), "--json")) == [], "the terms are not renewed again"

    contest.write_text(changed.replace("새 예시", "또 예시").replace('"open"', '"second"'), encoding="utf-8")
    done = steps(command(owner, "create", str(contest), "--json"))
    assert ("kept", "main/open") in done
    assert ("created", "main/second") in done
    assert ("updated", "main/files/sample.json") in done


@pytest.mark.parametrize("is_dry", [True, False])
def test_everything_that_the_site_would_refuse_is_said_at_once_and_nothing_is_begun(
    command: Callable[..., Outcome], owner: User, folder: Path, is_dry: bool
) -> None:
    wrong = CONTEST.replace("daily_limit = 2", "daily_limit = -2").replace("rag-qa@1", "no-such@1")
    wrong = wrong.replace("team_size_max = 5", "team_size_max = 0").replace('kind = "baseline"', 'kind = "base"')
    (folder / "contest.toml").write_text(wrong, encoding="utf-8")
    asked = ["create", str(folder / "contest.toml"), *(["--dry-run"] if is_dry else [])]
    said = command(owner, *asked, status=1).err
    for fault in ("by-command: team_size_max", "main/open: daily_limit", "main: targets.0.kind", "no-such@1"):
        assert fault in said
    assert "아무것도 바꾸지 않았습니다" in said
    assert "만듦" not in said
    assert len(command(owner, *asked, "--json", status=1).json["error"]["errors"]) == 4
    assert not Competition.objects.exists()

    (folder / "contest.toml").write_text(CONTEST, encoding="utf-8")
    command(owner, "create", str(folder / "contest.toml"))
    late = CONTEST.replace(ENDS.isoformat(), (STARTS - timedelta(days=1)).isoformat())
    (folder / "contest.toml").write_text(late.replace("봄 대회", "여름 대회"), encoding="utf-8")
    said = command(owner, *asked, status=1).err
    assert "    main/open\n" in said
    assert "마감은 시작보다 뒤여야" in said
    assert Competition.objects.get().title_ko == "봄 대회"


def test_what_stops_half_way_says_what_was_done_and_goes_on_afterwards(
    command: Callable[..., Outcome], owner: User, folder: Path
) -> None:
    contest = str(folder / "contest.toml")
    for name in ("references.json", "sample.json"):
        (folder / name).rename(folder / "elsewhere")
        assert name in command(owner, "create", contest, status=1).err
        (folder / "elsewhere").rename(folder / name)
    assert not Competition.objects.exists()

    (folder / "references.json").write_bytes(b"[]")
    stopped = command(owner, "create", contest, status=1)
    assert "만듦  main/open" in stopped.err
    assert "같은 명령을 다시" in stopped.err
    (folder / "references.json").write_bytes(references())
    assert {place for _kind, place in steps(command(owner, "create", contest, "--json"))} == {
        "main/open/references",
        "main/files/sample.json",
    }


# --- what is left behind ----------------------------------------------------------------------------------------------
def test_a_log_in_keeps_the_token_for_its_owner_alone_and_everything_is_in_the_audit_log(
    malpan: ModuleType,
    command: Callable[..., Outcome],
    tokens: dict[int, str],
    owner: User,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command(owner, "create", str(folder / "contest.toml"))
    assert {*AuditEntry.objects.filter(actor=owner).values_list("action", flat=True)} >= {
        *("competition.create", "competition.update", "track.create", "phase.create", "reference_version.publish"),
    }
    monkeypatch.delenv("MALPAN_TOKEN")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{tokens[owner.pk]}\n"))
    assert malpan.main(["login"]) == 0
    kept = tmp_path / "config/malpan/sites.json"
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    assert malpan.main(["settings", "get", "by-command"]) == 0


@pytest.mark.parametrize("words", [["--dry-run"], []])
def test_who_may_not_make_contests_is_told_so_and_by_whom_it_is_granted(
    command: Callable[..., Outcome], folder: Path, words: list[str]
) -> None:
    said = command(UserFactory.create(), "create", str(folder / "contest.toml"), *words, status=3).err
    assert "대회를 만들 권한이 없습니다" in said
    assert "사이트 관리자" in said
    assert "건너뛰고" not in said


FAULTS = {  # what is written instead, and what is said of it
    "an address that cannot be": ('slug = "by-command"', 'slug = "Spring Kontest!"', "slug"),
    "no title": ('title_ko = "본선"', 'title_ko = ""', "main/open: title_ko"),
    "a misspelled name": ("finals_limit", "finals_limt", "finals_limt"),
    "references that are not there": ('"references.json"', '"none.json"', "none.json"),
    "teams of less than nobody": ("team_size_max = 5", "team_size_max = -3", "team_size_max"),
    "a number for a text": ('terms_ko = "약관"', "terms_ko = 5", "terms_ko"),
    "no such recipe": ("rag-qa@1", "rag-qa@9", "rag-qa@9"),
    "too many digits": ("score_decimals = 4", "score_decimals = 99", "score_decimals"),
    "a kind of target": ('kind = "baseline"', 'kind = "smple"', "targets.0.kind"),
    "a time of no place": (f"starts_at = {STARTS.isoformat()}", "starts_at = 2026-11-01T09:00:00", "시간대"),
    "a text of no place": (f"starts_at = {STARTS.isoformat()}", 'starts_at = "2026-11-01T09:00:00"', "시간대"),
    "an end before the start": (f"ends_at = {ENDS.isoformat()}", "ends_at = 2001-11-01T09:00:00Z", "뒤여야"),
    "less than no submissions": ("daily_limit = 2", "daily_limit = -5", "daily_limit"),
    "more than all": ("daily_limit = 2", "public_percent = 150", "public_percent"),
    "answers for download": ('path = "sample.json"', 'path = "references.json"', "정답 파일과 같은"),
}


@pytest.mark.parametrize(("there", "wrong", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_before_anything_is_made(
    command: Callable[..., Outcome], owner: User, folder: Path, there: str, wrong: str, said: str
) -> None:
    assert there in CONTEST
    (folder / "contest.toml").write_text(CONTEST.replace(there, wrong), encoding="utf-8")
    for more in (["--dry-run"], []):
        assert said in command(owner, "create", str(folder / "contest.toml"), *more, status=1).err
    assert not Competition.objects.exists()


def test_faults_of_the_file_and_refusals_of_the_site_are_told_together(
    command: Callable[..., Outcome], owner: User, folder: Path
) -> None:
    text = CONTEST
    names = ("an address that cannot be", "a misspelled name", "references that are not there", "no such recipe")
    more = ("less than no submissions", "a time of no place", "a kind of target", "a number for a text")
    for name in (*names, *more):
        text = text.replace(FAULTS[name][0], FAULTS[name][1])
    (folder / "contest.toml").write_text(text, encoding="utf-8")
    refused = command(owner, "create", str(folder / "contest.toml"), "--json", status=1)
    assert refused.json["error"]["total"] == 8, refused.err
    for name in (*names, *more):
        assert FAULTS[name][2] in refused.err
