"""The wheel ``malpan-scoring``: what it holds, what it needs, and that an environment without extras scores with it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import scoring
from scoring import __version__
from scoring.extras import MODULES
from tests.paths import ROOT
from tests.scoring.package_sizes import table

SCORING = ROOT / "scoring"
PROJECT = tomllib.loads((SCORING / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BASE = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {name: [Requirement(line) for line in lines] for name, lines in PROJECT["optional-dependencies"].items()}
ADAPTED = {"evaluate", "datasets", "lm_eval", "pandas"}  # the programs of the adapters, and what shows a table
# tried in a process that has nothing else
TRY = """
import scoring
result = scoring.score(["푸른 파도가 친다"], [["파란 파도가 친다", "바다"]], metrics=["chrf", "rouge1_mecab"])
print(scoring.__file__, *map(repr, result.scores.values()))
for name in ("meteor_ko", "bertscore"):
    try:
        scoring.score(["파도"], ["파도"], metrics=[name], models="official")
    except scoring.WrongArgument as error:
        raise SystemExit("refused for its arguments") from error
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return folder / built("build_wheel", SCORING, folder)


def built(hook: str, source: Path, folder: Path) -> str:
    """The file that the build backend makes of ``source``, as pip runs it; its name."""
    code = f"from hatchling.build import {hook}; print({hook}({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def names(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def kept_files() -> set[str]:
    """What the package must hold: all of the folder that is under version control, but what only builds it."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=SCORING, capture_output=True, text=True, check=False)
    files = listed.stdout.splitlines() if listed.returncode == 0 else []
    files = files or [str(path.relative_to(SCORING)) for path in SCORING.rglob("*") if path.is_file()]
    ours = (name for name in files if "__pycache__" not in name and name not in ("pyproject.toml", "README.md"))
    return {f"scoring/{name}" for name in ours}


def test_the_wheel_holds_the_whole_instrument_and_nothing_of_the_site(wheel: Path) -> None:
    assert names(wheel) == kept_files()
    metadata = zipfile.ZipFile(wheel).read(f"malpan_scoring-{__version__}.dist-info/METADATA").decode()
    assert f"Version: {__version__}" in metadata
    assert "konlpy, the extra `okt`, is GPL-3" in metadata
    points = zipfile.ZipFile(wheel).read(f"malpan_scoring-{__version__}.dist-info/entry_points.txt").decode()
    assert "malpan-score = scoring.cli:main" in points


@pytest.mark.parametrize(
    ("source", "packages"), [("scoring", {"scoring"}), (".", {"malpan", "malpan_client", "scoring"})]
)
def test_pip_builds_a_wheel_of_each_folder_without_a_network(source: str, packages: set[str], tmp_path: Path) -> None:
    """``pip wheel ./scoring`` is the package for everybody; ``pip wheel .`` the site with it."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), f"./{source}"], cwd=ROOT, check=True)
    [made] = tmp_path.glob("*.whl")
    assert {name.partition("/")[0] for name in names(made)} == packages
    if source == "scoring":
        assert names(made) == kept_files()
    else:
        _holds_the_site(made, tmp_path)


def _holds_the_site(made: Path, folder: Path) -> None:
    """Every file of the packages that is under version control, and a command that starts from it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT / "platform", capture_output=True, text=True, check=False)
    files = set(listed.stdout.splitlines()) or {
        str(path.relative_to(ROOT / "platform"))
        for path in (ROOT / "platform").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - names(made) == set()
    zipfile.ZipFile(made).extractall(folder / "site")
    [points] = (folder / "site").glob("malpan-*.dist-info/entry_points.txt")
    assert "malpan = malpan_client.command:main" in points.read_text(encoding="utf-8")
    code = "import sys; from malpan_client.command import main; sys.exit(main(['--version']))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=folder, env={"PYTHONPATH": str(folder / "site")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.startswith("malpan ")) == (0, True), done.stderr


def test_the_sizes_that_are_told_are_those_of_the_closures() -> None:
    sizes = {name: (count, size) for name, count, size in table()}
    base = sizes.pop("–")
    assert sizes.keys() == EXTRAS.keys()
    assert all(count > base[0] and size > base[1] > 1 for count, size in sizes.values())
    assert sizes["clip"] > sizes["neural"]


def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = tmp_path / built("build_sdist", SCORING, tmp_path)
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(tmp_path)], check=True)
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    again = tmp_path / built("build_wheel", unpacked, tmp_path)
    assert names(again) == names(wheel)


def test_without_extras_it_scores_by_lexical_metrics_and_says_what_the_others_need(wheel: Path, tmp_path: Path) -> None:
    """The environment is made of the wheel and of the distributions that its base names, with what those need."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    for place in installed_for(BASE):
        (site / place.name).symlink_to(place)
    done = subprocess.run(
        [sys.executable, "-S", "-c", TRY],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    scored, okt, neural = done.stdout.splitlines()
    assert scored.split()[0] == str(site / "scoring/__init__.py")
    assert okt.startswith("ExtraMissing")
    assert "malpan-scoring[okt]" in okt
    assert neural.startswith("ExtraMissing")
    assert "malpan-scoring[neural]" in neural
    here = scoring.score(["푸른 파도가 친다"], [["파란 파도가 친다", "바다"]], metrics=["chrf", "rouge1_mecab"])
    assert scored.split()[1:] == list(map(repr, here.scores.values()))


def installed_for(requirements: list[Requirement]) -> set[Path]:
    """The folders and files at the top of site-packages that belong to these distributions and what they need."""
    from importlib.metadata import distribution

    found: set[Path] = set()
    waiting = [requirement.name for requirement in requirements]
    seen: set[str] = set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        installed = distribution(name)
        root = Path(str(installed.locate_file("")))
        found |= {root / file.parts[0] for file in installed.files or () if file.parts[0] != ".."}
        needs = map(Requirement, installed.requires or ())
        waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return {place for place in found if place.exists() and place.name != "__pycache__"}


def test_every_library_that_is_imported_is_declared() -> None:
    owner = packages_distributions()
    declared = {canonicalize_name(each.name) for each in [*BASE, *(each for of in EXTRAS.values() for each in of)]}
    for module in imported():
        owners = {canonicalize_name(name) for name in owner.get(module, [module])}
        # a part of another one that the extra names: JPype of konlpy
        assert owners & declared or module in {*ADAPTED, "jpype"}, module


def test_the_libraries_that_an_extra_is_asked_for_are_declared() -> None:
    owner = packages_distributions()
    for extra, modules in MODULES.items():
        declared = {canonicalize_name(each.name) for each in EXTRAS[extra]}
        for module in set(modules) - {"jpype"}:
            assert {canonicalize_name(name) for name in owner[module]} & declared, (extra, module)


def test_what_the_site_pins_is_within_the_ranges_of_the_package() -> None:
    files = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "constraints.txt"))
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", files, re.MULTILINE))
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    wanted = [*BASE, *(each for of in EXTRAS.values() for each in of if each.name != "malpan-scoring")]
    for requirement in wanted:
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def imported() -> set[str]:
    """The top modules from elsewhere that some module of the instrument imports."""
    return {
        module
        for path in SCORING.rglob("*.py")
        for module in of_file(ast.parse(path.read_text(encoding="utf-8")))
        if module not in sys.stdlib_module_names and module != "scoring"
    }


def of_file(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
