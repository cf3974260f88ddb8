"""The command as one file: for Python 3.9 and nothing else, the same that the site serves."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from malpan_client import VERSION, single_file
from malpan_client.single_file import CannotBeJoined
from tests.malpan_client.scripted import Answer, Script, history, scored, serving, submission, track
from tests.malpan_client.test_reviewing import comparison, difference, item
from tests.malpan_client.test_reviewing import page as items_page

OLDEST = (3, 9)
ID = submission()["id"]


@pytest.fixture(scope="module")
def built():
    return single_file.single_file().decode()


def test_it_is_read_by_the_oldest_python(built):
    ast.parse(built, feature_version=OLDEST)


def test_annotations_of_newer_forms_are_never_evaluated(built):
    """``int | None`` is read by Python 3.9, and fails where it is computed: outside annotations there is none."""
    assert "from __future__ import annotations" in built
    tree = ast.parse(built)
    annotations = {id(part) for node in ast.walk(tree) for part in annotated(node)}
    kinds = {"bytes", "str", "int", "float", "dict", "list", "None", "Path", "Body", "Any"}
    unions = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitOr)
        and id(node) not in annotations
        and kinds & {part.id for part in (node.left, node.right) if isinstance(part, ast.Name)}
    ]
    assert unions == []


def annotated(node):
    places = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [part for place in places if place for part in ast.walk(place)]


def test_it_imports_python_alone(built):
    names = set()
    for node in ast.walk(ast.parse(built)):
        if isinstance(node, ast.Import):
            names |= {each.name.partition(".")[0] for each in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    assert names - set(sys.stdlib_module_names) == {"scoring"}, "which only a local check asks for"


def test_it_runs_alone_in_an_empty_folder(built, tmp_path):
    (tmp_path / "malpan.py").write_text(built, encoding="utf-8")
    done = run([sys.executable, "-I", "malpan.py", "--help"], tmp_path)
    assert done.returncode == 0
    assert "submit" in done.stdout
    refused = run([sys.executable, "-I", "malpan.py", "whoami"], tmp_path)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)


@pytest.fixture(scope="module")
def oldest():
    """A Python of the oldest version that the command is for, wherever this machine has one."""
    found = [shutil.which("python3.9"), *sorted(Path.home().glob(".pyenv/versions/3.9.*/bin/python3.9"))]
    if shutil.which("uv"):
        found.append(run(["uv", "python", "find", "--offline", "3.9"]).stdout.strip())
    ask = "import sys; print(sys.version_info[:2])"
    for each in filter(None, found):  # a shim may be there without what it stands for
        if run([str(each), "-c", ask]).stdout.strip() == str(OLDEST):
            return str(each)
    pytest.skip("no Python 3.9 on this machine: only its grammar was held against the file")


def test_every_command_is_there_on_the_oldest_python(built, oldest, tmp_path):
    (tmp_path / "malpan.py").write_text(built, encoding="utf-8")
    assert run([oldest, "-I", "-W", "error", "malpan.py", "--help"], tmp_path).stderr == ""
    asked = "import malpan; print(*malpan.parser().format_help().split())"
    assert "submit" in run([oldest, "-c", asked], tmp_path).stdout.split()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["competitions"], 0, "봄 대회"),
        (["submit", "spring/main", "answers.json", "--wait", "--json"], 0, '"61.25"'),
        (["submissions", "spring/main"], 0, "제출"),
        (["items", ID], 0, "0.25–0.5"),
        (["compare", ID, ID, "--lang", "en"], 0, "may be chance"),
        (["create", "contest.toml"], 2, "3.11"),
        (["create", "contest.json", "--dry-run"], 6, ""),
        (["whoami"], 6, ""),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_the_oldest_python_runs_it_against_a_server(built, oldest, tmp_path, words, status, said):
    """The code that is behind each command, not its grammar alone: what a newer Python added fails here."""
    (tmp_path / "malpan.py").write_text(built, encoding="utf-8")
    (tmp_path / "answers.json").write_bytes(b"[]")
    (tmp_path / "contest.toml").write_text("slug = 'spring'", encoding="utf-8")
    (tmp_path / "contest.json").write_text('{"slug": "spring", "title_ko": "봄", "tracks": []}', encoding="utf-8")
    with serving(Script()) as script:
        spring = {"slug": "spring", "title": "봄 대회", "organiser": "주최"}
        script.on("GET", "competitions/", {"running": [spring], "upcoming": [], "past": [], "next": None})
        script.on("GET", "competitions/spring/tracks/main/", track())
        script.on("GET", "competitions/spring/tracks/main/submissions/", history())
        script.on("POST", "competitions/spring/tracks/main/submissions/", Answer(submission(), 201))
        script.on("GET", f"submissions/{ID}/", submission(run=scored()))
        script.on("GET", f"submissions/{ID}/items/", items_page(item("q1", low=0.25, high=0.5)))
        tested = difference(p=0.5, is_significant=False)
        script.on("GET", f"submissions/{ID}/compare/{ID}/", comparison(tested))
        done = run(
            [oldest, "-I", "-W", "error", "malpan.py", "--site", script.url, *words],
            tmp_path,
            MALPAN_TOKEN="mlp_token-of-the-test",
        )
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert said in done.stdout + done.stderr


def test_the_package_loads_no_django():
    code = "import sys, malpan_client.command; print({'django', 'celery', 'malpan'} & set(sys.modules))"
    assert run([sys.executable, "-c", code]).stdout == "set()\n"


def run(words, folder=None, **more):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder or "/nonexistent"),
        "PYTHONIOENCODING": "utf-8",
    } | more
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_site_serves_it_and_names_its_version_and_sha256(built, language):
    answer = Client().get("/api/malpan.py")
    assert (answer.status_code, answer.content.decode()) == (200, built)
    assert answer["Content-Type"].startswith("text/plain")
    page = Client().get("/api/docs/", headers={"Accept-Language": language}).content.decode()
    assert hashlib.sha256(answer.content).hexdigest() in page
    assert f"v{VERSION}" in page
    assert "/api/malpan.py" in page


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import malpan_client.words\nX = 1\n", "as a module"),
        ("from malpan_client.words import say as s\nX = 1\n", "another name"),
        ("def f():\n    from malpan_client.words import say\n", "not at the top"),
    ],
)
def test_what_one_file_could_not_have_is_refused(source, reason):
    with pytest.raises(CannotBeJoined, match=reason):
        single_file._imports_of_package(source)


def test_a_name_of_two_modules_is_refused():
    with pytest.raises(CannotBeJoined, match="defined twice: twice"):
        single_file._require_names_once(["def twice(): pass\n", "a, (twice, b) = 1, (2, 3)\n"])
