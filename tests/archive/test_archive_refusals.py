"""An archive that was tampered with, is too large or does not fit here changes nothing."""

from __future__ import annotations

import io
import json
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.archive import crypto
from malpan.archive import format as form
from malpan.archive.errors import ArchiveRefused
from malpan.archive.importing import import_competition
from malpan.competitions.models import Competition
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.submissions.models import Submission
from tests.archive.full_competition import exported, members
from tests.archive.light_passphrase import KEY, LOCKED, PASSPHRASE
from tests.factories import PhaseFactory, publish

pytestmark = pytest.mark.django_db


def test_taken_slug_is_refused_and_another_one_taken(competition: Competition, empty_site: Callable[[], None]) -> None:
    archive = exported(competition)
    empty_site()
    PhaseFactory.create(track__competition__slug=competition.slug)
    assert refusal(archive) == "slug_taken"
    assert refusal(archive, slug="a b") == "slug_invalid"
    assert import_competition(file=archive, actor=None, slug="another").competition.slug == "another"


def test_same_competition_cannot_stand_here_twice(competition: Competition) -> None:
    """Said before the address, which another one would not mend."""
    assert refusal(exported(competition), slug="another") == "present"
    assert refusal(exported(competition)) == "present"


def refusal(archive: io.BytesIO, **options: Any) -> str:
    """The reason for which the archive is refused; nothing may have changed."""
    before = {model: model._default_manager.count() for model in (Competition, User, AuditEntry, Submission)}
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=archive, actor=None, **options)
    assert before == {model: model._default_manager.count() for model in before}
    return refused.value.params["reason"]


@pytest.fixture(scope="module")
def original(made: int) -> dict[str, bytes]:
    """What an archive of the competition holds."""
    return members(exported(Competition.objects.get(pk=made)))


@pytest.fixture
def forged(db: None, original: dict[str, bytes], empty_site: Callable[[], None]) -> Callable[..., io.BytesIO]:
    """Make an archive with members changed, or columns of all ``rows`` of a table.

    Its manifest fits again unless told otherwise; the site is empty.
    """
    empty_site()

    def forge(
        changes: dict[str, Any],
        *,
        fits: bool = True,
        manifest: dict[str, Any] | None = None,
        rows: dict[str, dict[str, Any]] | None = None,
    ) -> io.BytesIO:
        for table, columns in (rows or {}).items():
            lines = [json.loads(line) | columns for line in original[f"tables/{table}.jsonl"].splitlines()]
            changes = changes | {f"tables/{table}.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines)}
        changed = {name: data for name, data in {**original, **changes}.items() if data is not None}
        body = json.loads(original[form.MANIFEST]) | (manifest or {})
        if fits:
            body["members"] = [
                {"name": name, "size": len(data), "sha256": sha256(data).hexdigest()}
                for name, data in changed.items()
                if name != form.MANIFEST
            ]
        changed[form.MANIFEST] = json.dumps(body).encode()
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in changed.items():
                archive.writestr(name, data)
        return target

    return forge


def test_forged_archive_that_changes_nothing_is_taken(forged: Callable[..., io.BytesIO]) -> None:
    done = import_competition(file=forged({}), actor=None)
    assert list(Competition.objects.all()) == [done.competition]


@pytest.mark.parametrize(
    ("changes", "options", "reason"),
    [
        ({"tables/teams.jsonl": b""}, {"fits": False}, "damaged"),
        ({"tables/teams.jsonl": None}, {"fits": True}, "damaged"),
        ({"files/" + "0" * 64: b"x"}, {"fits": False}, "damaged"),
        ({"files/" + "0" * 64: b"x"}, {"fits": True}, "damaged"),
        ({"../outside": b"x"}, {}, "name"),
        ({"files/../../outside": b"x"}, {}, "name"),
        ({"/etc/passwd": b"x"}, {}, "name"),
        ({"files/UPPER": b"x"}, {}, "name"),
        ({"tables/teams.jsonl": b"not json\n"}, {}, "rows"),
        ({"tables/teams.jsonl": b'{"id": 2}\n'}, {}, "rows"),
        ({"tables/teams.jsonl": b""}, {}, "rows"),
        ({"tables/competitions.jsonl": b""}, {}, "slug_invalid"),
        ({"tables/notices.jsonl": b'{"id": 1, "competition": 7}\n'}, {}, "rows"),
        ({"tables/notices.jsonl": b'{"id": 1, "competition": 1, "no_such_column": 1}\n'}, {}, "rows"),
        ({"tables/notices.jsonl": b'{"id": 1, "competition": 1, "title_ko": "\\u0000"}\n'}, {}, "rows"),
        ({"people.jsonl": b'{"id": 1, "email": null, "name": null}\n'}, {}, "rows"),
        ({}, {"manifest": {"version": 1}}, "version_older"),  # as it was before age
        ({}, {"manifest": {"version": 2}}, "version_older"),  # as it was while an item value had a part, not a split
        ({}, {"manifest": {"version": 3}}, "version_older"),  # as it was before stages
        ({}, {"manifest": {"version": 4}}, "version_older"),  # as it was before the times of final choices
        ({}, {"manifest": {"version": 5}}, "version_older"),  # as it was before human evaluation
        ({}, {"manifest": {"version": 6}}, "version_older"),  # as it was before awards
        ({}, {"manifest": {"version": 7}}, "version_older"),  # as it was before rescoring from scratch
        ({}, {"manifest": {"version": 9}}, "version_newer"),
        ({}, {"manifest": {"version": "8"}}, "version"),
        ({}, {"manifest": {"format": "other"}}, "unreadable"),
        ({}, {"manifest": {"members": "none"}, "fits": False}, "unreadable"),
        ({}, {"manifest": {"members": [{"name": 5, "size": 1, "sha256": "0"}]}, "fits": False}, "unreadable"),
        ({}, {"manifest": {"members": [{"name": "a", "size": 1e999, "sha256": "0"}]}, "fits": False}, "unreadable"),
        ({}, {"manifest": {"missing_files": 5}}, "unreadable"),
    ],
)
def test_archive_that_was_tampered_with_changes_nothing(
    forged: Callable[..., io.BytesIO], changes: dict[str, Any], options: dict[str, Any], reason: str
) -> None:
    assert refusal(forged(changes, **options)) == reason


@pytest.mark.parametrize("value", ["\ud800", "\u202e", "\x00"])
def test_what_a_manifest_says_of_itself_can_be_shown_and_stored(forged: Callable[..., io.BytesIO], value: str) -> None:
    for manifest, fits in (
        ({"version": value}, True),
        ({"members": [{"name": value, "size": 0, "sha256": ""}]}, False),
    ):
        with pytest.raises(ArchiveRefused) as refused:
            import_competition(file=forged({}, manifest=manifest, fits=fits), actor=None)
        assert text_of(refused.value).isprintable()
    import_competition(file=forged({}, manifest={"made_at": value}), actor=None)
    assert AuditEntry.objects.get(action="competition.import").after["made_at"].isprintable()


@pytest.mark.parametrize("column", ["job", "fair_tag", "not_before"])
def test_archive_cannot_say_whose_turn_it_is_here(forged: Callable[..., io.BytesIO], column: str) -> None:
    value = timezone.now().isoformat() if column == "not_before" else 2**63 - 1
    assert refusal(forged({}, rows={"runs": {column: value}})) == "rows"


@pytest.mark.parametrize("columns", [{"value": 33.6}, {"value": "삼할"}, {"label_ko": ""}, {"kind": "else"}])
def test_archive_cannot_bring_a_target_that_no_board_can_draw(
    forged: Callable[..., io.BytesIO], columns: dict[str, Any]
) -> None:
    assert refusal(forged({}, rows={"track_targets": columns})) == "rows"


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("phases", "starts_at", "0001-01-01T00:00:00+09:00"),
        ("phases", "slug", "a/b"),
        ("phases", "board", "nowhere"),
        ("runs", "final_score", "NaN"),
        ("runs", "final_score", "1e999"),
    ],
)
def test_archive_cannot_bring_a_value_that_pages_cannot_show(
    forged: Callable[..., io.BytesIO], table: str, column: str, value: str
) -> None:
    assert refusal(forged({}, rows={table: {column: value}})) == "rows"


@pytest.mark.parametrize("value", [None, [], "x", 0.5, {"exact_match": "x"}, {"exact_match": None}])
def test_archive_cannot_bring_scores_that_are_no_numbers_by_name(forged: Callable[..., io.BytesIO], value: Any) -> None:
    assert refusal(forged({}, rows={"runs": {"scores": value}})) == "rows"


@pytest.mark.parametrize(("table", "column"), [("runs", "warnings"), ("competitions", "prize_places")])
def test_archive_cannot_bring_an_object_where_a_list_is_read(
    forged: Callable[..., io.BytesIO], table: str, column: str
) -> None:
    assert refusal(forged({}, rows={table: {column: {}}})) == "rows"


@pytest.mark.parametrize(
    "change",
    [
        {"rank": "1"},
        {"rank": True},
        {"rank": 0},
        {"team": None},
        {"team_number": "1"},
        {"scores": {"a": None}},
        {"scores": ["a"]},
        {"final_score": "0.5"},
        {"final_score": None},
        {"is_baseline": 1},
        {"submitted_at": "yesterday"},
        {"submitted_at": "2026-11-01T00:00:00"},
        {"submitted_at": "0001-01-01T00:00:00+09:00"},
        {"composite": {"value": 1.0}},
    ],
    ids=str,
)
def test_archive_cannot_bring_a_published_board_with_a_row_that_is_none(
    forged: Callable[..., io.BytesIO], original: dict[str, bytes], change: dict[str, Any]
) -> None:
    [row] = json.loads(original["tables/board_snapshots.jsonl"].splitlines()[0])["rows"]
    assert refusal(forged({}, rows={"board_snapshots": {"rows": [row | change]}})) == "rows"


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("board_snapshots", "rows", [None]),
        ("board_snapshots", "rows", [{}]),
        ("board_snapshots", "rows", [[1]]),
        ("board_snapshots", "components", [{"score": "a"}]),
        ("stage_snapshots", "rows", [None]),
        ("stage_snapshots", "rows", [{"rank": 1, "team": "가", "team_number": 1}]),
        ("stage_snapshots", "rule", {}),
        ("stage_tables", "rows", [{"team_number": 1}]),
        ("stage_tables", "rows", [{"team_number": 1, "score": "9"}]),
    ],
)
def test_archive_cannot_bring_published_results_that_pages_cannot_read(
    forged: Callable[..., io.BytesIO], table: str, column: str, value: Any
) -> None:
    assert refusal(forged({}, rows={table: {column: value}})) == "rows"


def test_archive_of_a_recipe_that_is_not_installed_here_is_refused_by_its_name(
    forged: Callable[..., io.BytesIO],
) -> None:
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=forged({}, rows={"tracks": {"recipe": "plug-in-of-others@1"}}), actor=None)
    assert refused.value.params["reason"] == "recipe"
    assert "plug-in-of-others@1" in text_of(refused.value)
    assert not Competition.objects.exists()


def test_what_is_no_archive_is_refused() -> None:
    assert refusal(io.BytesIO(b"PK not a zip")) == "unreadable"
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    assert refusal(empty) == "unreadable"


def test_zip_bomb_is_refused_before_it_is_unpacked(
    forged: Callable[..., io.BytesIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = forged({"files/" + sha256(b"0" * 30_000_000).hexdigest(): b"0" * 30_000_000})
    monkeypatch.setattr(form, "RATIO_FREE_BYTES", 1_000_000)
    assert refusal(bomb) == "too_large"
    monkeypatch.setattr(form, "RATIO_FREE_BYTES", 10**9)
    monkeypatch.setattr(form, "TOTAL_MAX_BYTES", 1_000_000)
    assert refusal(bomb) == "too_large"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_zipfile_would_unpack_without_a_limit_is_refused(forged: Callable[..., io.BytesIO], method: int) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as packed:
        for name, data in members(forged({})).items():
            packed.writestr(name, data)
    assert refusal(archive) == "damaged"


def test_row_of_more_values_than_fit_into_memory_is_refused(
    forged: Callable[..., io.BytesIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = forged({"tables/notices.jsonl": b'{"id": 1, "title_ko": [' + b"[]," * 20_000 + b"[]]}\n"})
    decoded: list[int] = []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda text, **options: (decoded.append(len(text)), loads(text, **options))[1])
    monkeypatch.setattr(form, "VALUES_MAX", 20_000)
    assert refusal(archive) == "rows"
    assert max(decoded) < 60_000


def test_key_that_would_take_gigabytes_to_try_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crypto.pyrage.passphrase, "decrypt", lambda *_: pytest.fail("tried"))
    costly = b64decode(LOCKED["key"]).replace(b" 1\n", b" 23\n", 1)
    with pytest.raises(ArchiveRefused) as refused:
        crypto.unlocked_key({"key": b64encode(costly).decode()}, PASSPHRASE)
    assert refused.value.params["reason"] == "unreadable"


def test_archive_cannot_name_a_stored_file_of_this_site_that_it_does_not_bring(
    forged: Callable[..., io.BytesIO],
) -> None:
    theirs = PhaseFactory.create()
    answers = publish(theirs).file_sha256
    line = {"id": 1, "track": 1, "kind": "data", "title_ko": "가", "file_name": "q", "file_sha256": answers}
    line |= {"file_size": 1, "created_at": timezone.now().isoformat()}
    archive = forged({"tables/data_files.jsonl": json.dumps(line).encode() + b"\n"})
    assert refusal(archive, slug="another") == "foreign_file"


def test_encrypted_file_that_was_changed_or_cut_short_does_not_open() -> None:
    key, data = crypto.new_key(), bytes(range(256)) * 1000
    with crypto.encrypted(io.BytesIO(data), key) as file:
        sealed = file.read()
    with crypto.decrypted(io.BytesIO(sealed), key) as file:
        assert file.read() == data
    middle = len(sealed) // 2
    changed = sealed[:middle] + bytes([sealed[middle] ^ 1]) + sealed[middle + 1 :]
    for forged in (changed, sealed[:-1], sealed[: 64 * 1024 + 300], b"", data):
        with pytest.raises(ArchiveRefused) as refused, crypto.decrypted(io.BytesIO(forged), key):
            pass
        assert refused.value.params["reason"] == "passphrase"
    with pytest.raises(ArchiveRefused), crypto.decrypted(io.BytesIO(sealed), crypto.new_key()):
        pass


def test_sealed_answers_in_the_place_of_others_are_refused(
    competition: Competition, empty_site: Callable[[], None], passphrase: str
) -> None:
    """They open with the same key, but the name says the sha256 of what was sealed there."""
    files = members(exported(competition, passphrase))
    [name] = [each for each in files if each.startswith("references/")]
    with crypto.encrypted(io.BytesIO(b"other answers"), crypto.Key.from_str(KEY)) as sealed:
        files[name] = sealed.read()
    body = json.loads(files.pop(form.MANIFEST))
    body["members"] = [
        {"name": each, "size": len(data), "sha256": sha256(data).hexdigest()} for each, data in files.items()
    ]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for each, data in {**files, form.MANIFEST: json.dumps(body).encode()}.items():
            archive.writestr(each, data)
    empty_site()

    assert refusal(target, passphrase=passphrase) == "damaged"


def test_key_opens_by_its_passphrase_alone() -> None:
    key = crypto.new_key()
    locked = crypto.locked_key(key, PASSPHRASE)
    assert str(crypto.unlocked_key(locked, PASSPHRASE)) == str(key)
    *_others, salt, work = b64decode(locked["key"]).splitlines()[1].split()
    assert (len(salt), int(work) >= 15) == (22, True), "nobody tries many passphrases a second"
    assert str(crypto.unlocked_key(LOCKED, PASSPHRASE)) == KEY
    broken = {"key": LOCKED["key"][:-8] + "AAAAAAA="}
    for body, passphrase, reason in (
        (LOCKED, "다른 암호 구문", "passphrase"),
        (broken, PASSPHRASE, "passphrase"),
        ({"key": "no base64"}, "암호", "unreadable"),
        ({"key": 7}, "암호", "unreadable"),
        ({"salt": "00", "n": 2**17}, "암호", "unreadable"),
        ([], "암호", "unreadable"),
    ):
        with pytest.raises(ArchiveRefused) as refused:
            crypto.unlocked_key(body, passphrase)
        assert refused.value.params["reason"] == reason
