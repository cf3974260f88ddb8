"""The command as one file: for Python 3.9 and nothing else, the same that the site serves."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys

import pytest
from django.test import Client

from malpan_client import VERSION, single_file
from malpan_client.single_file import CannotBeJoined

OLDEST = (3, 9)


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


def test_the_package_loads_no_django():
    code = "import sys, malpan_client.command; print({'django', 'celery', 'malpan'} & set(sys.modules))"
    assert run([sys.executable, "-c", code]).stdout == "set()\n"


def run(words, folder=None):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder or "/nonexistent"), "PYTHONIOENCODING": "utf-8"}
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
