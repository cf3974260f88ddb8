"""A file is there whole and sound, or not at all; what was cut off is resumed."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest

from tests.malpan_client.scripted import Answer, Script, problem, serving, submission, track

DATA = bytes(range(256)) * 4000
DIGEST = hashlib.sha256(DATA).hexdigest()
RESUMED = {"Accept-Ranges": "bytes"}
TRACK = "competitions/spring/tracks/main/"


def file(data=DATA, name="자료.json", **more):
    found = {
        "id": 7,
        "kind": "data",
        "title": "자료",
        "file_name": name,
        "file_size": len(data),
        "address": "/api/v1/files/7/",
    }
    return found | {"file_sha256": hashlib.sha256(data).hexdigest()} | more


@pytest.fixture
def folder(home):
    path = home / "files"
    path.mkdir()
    return path


@pytest.fixture
def get(command, script, folder):
    script.on("GET", TRACK, track(files=[file()]))
    return lambda *words: command("download", "spring/main", "--to", str(folder), *words)


def test_a_file_is_fetched_once(get, script, folder):
    script.on("GET", "files/7/", Answer(DATA))
    first, second = get("--json"), get("--json")
    assert (folder / "자료.json").read_bytes() == DATA
    assert [each.json["files"][0]["is_new"] for each in (first, second)] == [True, False]
    assert len(script.asked("GET", "/files/7/")) == 1
    assert [each.name for each in folder.iterdir()] == ["자료.json"]


def test_a_download_is_resumed_where_it_was_cut_off(get, script, folder, waits):
    cut = [Answer(DATA, headers=RESUMED, writes=400_000), Answer(DATA, headers=RESUMED, writes=400_000)]
    script.on("GET", "files/7/", *cut, Answer(DATA, headers=RESUMED))
    assert get().status == 0
    assert (folder / "자료.json").read_bytes() == DATA
    asked = [each.headers.get("Range") for each in script.asked("GET", "/files/7/")]
    assert asked == [None, "bytes=400000-", "bytes=800000-"]
    assert waits == [1.0, 1.0], "each time something came"


def test_a_command_goes_on_where_another_one_ended(get, script, folder):
    script.on("GET", "files/7/", Answer(DATA, headers=RESUMED, writes=400_000), problem(503, "storage_unavailable"))
    assert get("--max-wait", "2").status == 5
    assert not (folder / "자료.json").exists()
    script.on("GET", "files/7/", Answer(DATA, headers=RESUMED))
    assert get().status == 0
    assert script.asked("GET", "/files/7/")[-1].headers["Range"] == "bytes=400000-"


def test_a_server_that_cannot_resume_sends_the_whole_again(get, script, folder):
    script.on("GET", "files/7/", Answer(DATA, writes=400_000), Answer(DATA))
    assert get().status == 0
    assert (folder / "자료.json").read_bytes() == DATA


def test_what_arrives_damaged_is_fetched_once_more_and_never_kept(get, script, folder):
    script.on("GET", "files/7/", Answer(b"x" * len(DATA)), Answer(DATA))
    assert get().status == 0
    assert (folder / "자료.json").read_bytes() == DATA

    script.on("GET", TRACK, track(files=[file(name="b")]))
    script.on("GET", "files/7/", Answer(b"x" * len(DATA)))
    done = get()
    assert (done.status, "sha256" in done.err) == (5, True)
    assert [each.name for each in folder.iterdir()] == ["자료.json"]


def test_more_than_there_is_is_not_asked_for_again(get, script, folder):
    (folder / f".자료.json.{DIGEST[:12]}.part").write_bytes(DATA + b"more")
    script.on("GET", "files/7/", Answer(b"<Error/>", 416), Answer(DATA))
    assert get().status == 0


def test_a_part_that_is_whole_is_not_fetched(get, script, folder):
    (folder / f".자료.json.{DIGEST[:12]}.part").write_bytes(DATA)
    assert get().status == 0
    assert script.asked("GET", "/files/7/") == []


def test_another_file_of_the_name_is_replaced_only_by_force(get, script, folder):
    (folder / "자료.json").write_bytes(b"mine")
    script.on("GET", "files/7/", Answer(DATA))
    refused = get()
    assert (refused.status, (folder / "자료.json").read_bytes()) == (1, b"mine")
    assert get("--force").status == 0
    assert (folder / "자료.json").read_bytes() == DATA


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\a.json", "a.json"),
        (".bashrc", "bashrc"),
        ("..", "file"),
        ("a\x1b:b", "a__b"),
    ],
)
def test_a_file_goes_into_the_folder_whatever_its_name(get, script, folder, name, local):
    script.on("GET", TRACK, track(files=[file(name=name)]))
    script.on("GET", "files/7/", Answer(DATA))
    assert get().status == 0
    assert [each.name for each in folder.iterdir()] == [local]


def test_files_are_chosen_by_name_or_number(get, script, folder):
    script.on("GET", "files/7/", Answer(DATA))
    assert get("자료.json").status == 0
    assert get("7").status == 0
    done = get("없는 것")
    assert (done.status, "없는 것" in done.err) == (6, True)
    assert get("--to", str(folder / "nothing")).status == 1


def test_the_store_behind_the_site_gets_no_token(get, script, folder):
    with serving(Script()) as store:
        store.on("GET", "/bucket/key", Answer(DATA, headers=RESUMED, writes=1000), Answer(DATA, headers=RESUMED))
        script.on("GET", "files/7/", Answer(b"", 302, {"Location": f"{store.url}/bucket/key?signature=1"}))
        assert get().status == 0
        assert [each.headers.get("Range") for each in store.requests] == [None, "bytes=1000-"]
        assert all("Authorization" not in each.headers for each in store.requests)
    assert (folder / "자료.json").read_bytes() == DATA


def test_a_file_that_cannot_be_written_is_named(get, script, folder):
    script.on("GET", "files/7/", Answer(DATA))
    (folder / "자료.json").mkdir()
    done = get("--json")
    assert (done.status, done.json["error"]["exit_status"]) == (1, 1)
    assert "자료.json" in done.err


def test_an_archive_is_there_whole_or_not_at_all(command, script, folder):
    script.on("POST", "competitions/spring/manage/export/", Answer(DATA, writes=1000), Answer(DATA))
    words = ["export", "spring", "--to", str(folder / "spring.zip")]
    assert (command(*words).status, [*folder.iterdir()]) == (5, [])
    assert command(*words).status == 0
    assert (folder / "spring.zip").read_bytes() == DATA
    assert [each.name for each in folder.iterdir()] == ["spring.zip"]
    assert command(*words).status == 1, "it is there"


def test_a_large_file_takes_no_memory(get, script, folder):
    large = bytes(32 * 2**20)
    script.on("GET", TRACK, track(files=[file(large)]))
    script.on("GET", "files/7/", Answer(large, headers=RESUMED, writes=20 * 2**20), Answer(large, headers=RESUMED))
    tracemalloc.start()
    done = get()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.status == 0
    assert peak < 16 * 2**20


def test_the_file_of_a_submission_comes_back(command, script, folder):
    there = submission(file_sha256=DIGEST, file="/api/v1/submissions/1/file/")
    script.on("GET", "submissions/1/", there)
    script.on("GET", "submissions/1/file/", Answer(DATA))
    assert command("fetch", "1", "--to", str(folder)).status == 0
    assert (folder / "answers.json").read_bytes() == DATA
