"""Which models score: a profile names them, with the exact revision of each.

A profile is a TOML file: ``name``, then ``[bertscore] model, revision, num_layers``, ``[bleurt] model, revision`` and
optionally ``[clip] model, revision``, ``precision``, the number format of BERTScore and BLEURT, and ``[judge]``, an
LLM behind a server (``scoring.judging.spec``). With ``without_models = true`` it names none: what has models cannot be
scored. ``model`` is a name on the Hugging Face hub or a path relative to the profile file. Three profiles come with
Malpan (``scoring/profiles``); any other is named by its path.

Nothing here imports torch, so the web process and the command line load profiles quickly.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from scoring.errors import Message, ModelUnavailable, ScoringError, WordedError
from scoring.judging.spec import JudgeSpec, read_judge
from scoring.models.demo import DEMO_FOLDERS, demo_models_root

ModelRole = Literal["bertscore", "bleurt", "clip"]

PROFILES_ROOT: Final = Path(__file__).resolve().parents[1] / "profiles"
ROLES: Final[tuple[ModelRole, ...]] = ("bertscore", "bleurt", "clip")
TEXT_ROLES: Final[tuple[ModelRole, ...]] = ("bertscore", "bleurt")  # of models that read texts only
_KEYS: Final[Mapping[ModelRole, frozenset[str]]] = {
    "bertscore": frozenset({"model", "revision", "num_layers"}),
    "bleurt": frozenset({"model", "revision"}),
    "clip": frozenset({"model", "revision"}),
}
PRECISIONS: Final = ("fp32", "tf32", "bf16", "fp16")
JUDGE: Final = "judge"  # the section of the model that is behind a server
WITHOUT: Final = "without_models"  # said by a profile for recipes that need no model
_TOP_KEYS: Final = frozenset({"name", "is_demo", "precision", WITHOUT, JUDGE, *ROLES})
_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.\-]*(/[A-Za-z0-9][\w.\-]*)?")


class UnknownProfile(WordedError, ScoringError):
    """No profile has this name, and no file has this path."""

    code = "unknown_profile"
    words = Message(
        "모델 프로필 '{name}'을(를) 찾을 수 없습니다. {known} 가운데 하나 또는 TOML 파일의 경로를 지정하십시오.",
        "There is no model profile '{name}'. Name one of {known}, or the path of a TOML file.",
    )


class InvalidProfile(WordedError, ScoringError):
    """The profile file is invalid; ``where`` is its path, ``key`` the key in it."""

    code = "invalid_profile"
    words = Message(
        "모델 프로필이 잘못되었습니다: {where} 파일의 {key} — {what_ko}. 파일을 고친 뒤 다시 실행하십시오.",
        "The model profile is not valid: {key} in {where} - {what_en}. Mend the file and run again.",
    )


class ModelNotFetched(WordedError, ModelUnavailable):
    """A model of the profile is not on this machine."""

    code = "model_not_fetched"
    words = Message(
        "{role} 모델 '{model}' (revision {revision})이 이 컴퓨터에 없습니다. 먼저 실행하십시오: {command}",
        "The {role} model '{model}' (revision {revision}) is not on this machine. Run first: {command}",
    )


class ModelFolderMissing(WordedError, ModelUnavailable):
    """The profile names a model by path, but there is no such folder."""

    code = "model_folder_missing"
    words = Message(
        "{role} 모델 폴더가 없습니다: {path}. 프로필의 경로를 고치거나 그 자리에 모델을 두세요.",
        "The folder of the {role} model does not exist: {path}. Mend the path in the profile or put the model there.",
    )


class ModelNotConfigured(WordedError, ModelUnavailable):
    """The recipe needs a model for which the profile has no section."""

    code = "model_not_configured"
    words = Message(
        "모델 프로필 '{profile}'에 [{role}] 항목이 없습니다. 항목을 더하거나 다른 프로필을 지정하십시오.",
        "The model profile '{profile}' has no section [{role}]. Add it or name another profile.",
    )


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model of a profile. ``folder`` is set if the profile names it by path; ``num_layers`` for BERTScore."""

    role: ModelRole
    model: str
    revision: str
    num_layers: int | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The models of one way of scoring. ``path`` is the TOML file; ``is_demo`` marks the generated demo models.

    ``precision``, one of ``PRECISIONS``, is the number format in which BERTScore and BLEURT are computed.
    """

    name: str
    path: Path
    is_demo: bool
    precision: str = "fp32"
    bertscore: ModelSpec | None = None
    bleurt: ModelSpec | None = None
    clip: ModelSpec | None = None
    judge: JudgeSpec | None = None

    def spec(self, role: ModelRole) -> ModelSpec:
        """The model of ``role``. Raises ``ModelNotConfigured``."""
        found: ModelSpec | None = getattr(self, role)
        if found is None:
            raise ModelNotConfigured(profile=self.name, role=role)
        return found

    def judge_spec(self) -> JudgeSpec:
        """The judge. Raises ``ModelNotConfigured``."""
        if self.judge is None:
            raise ModelNotConfigured(profile=self.name, role=JUDGE)
        return self.judge

    def specs(self) -> tuple[ModelSpec, ...]:
        """The models of this profile that are files, in the order of ``ROLES``."""
        return tuple(spec for role in ROLES if (spec := getattr(self, role)) is not None)

    @property
    def reference(self) -> str:
        """How the command line names this profile: its name if it comes with Malpan, else its path."""
        return self.name if self.path.parent == PROFILES_ROOT else str(self.path)


def profile_names() -> tuple[str, ...]:
    """The profiles that come with Malpan, ``official`` first."""
    names = sorted(path.stem for path in PROFILES_ROOT.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: ("official", "small", "demo", name).index(name)))


def load_profile(name_or_path: str | Path) -> Profile:
    """Read the profile called ``name_or_path``, or the one in that file.

    Raises ``UnknownProfile`` and ``InvalidProfile``; does not check whether the models are there.
    """
    path = _profile_path(name_or_path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _invalid(
            path, "TOML", f"TOML로 읽을 수 없습니다({error})", f"it cannot be read as TOML ({error})"
        ) from error
    _refuse_unknown_keys(path, "", table, _TOP_KEYS)
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise _invalid(path, "name", "이름이 없습니다", "the name is missing")
    is_demo = table.get("is_demo", False)
    if not isinstance(is_demo, bool):
        raise _invalid(path, "is_demo", "true 또는 false여야 합니다", "it must be true or false")
    precision = _read_precision(path, table)
    specs = {role: _read_spec(path, role, table[role], is_demo) for role in ROLES if role in table}
    judge = read_judge(table[JUDGE], path.parent, partial(_invalid, path)) if JUDGE in table else None
    without = table.get(WITHOUT, False)
    if not isinstance(without, bool):
        raise _invalid(path, WITHOUT, "true 또는 false여야 합니다", "it must be true or false")
    if without and specs:
        raise _invalid(path, WITHOUT, "모델이 있는데 true입니다", "it is true, but the file names models")
    if not without and not specs and JUDGE not in table:
        raise _invalid(
            path,
            "[bertscore]",
            f"모델이 하나도 없습니다(모델을 쓰지 않는 채점 방식만 쓰려면 {WITHOUT} = true)",
            f"it names no model at all (for recipes that need none: {WITHOUT} = true)",
        )
    return Profile(name=name, path=path, is_demo=is_demo, precision=precision, judge=judge, **specs)


def _read_precision(path: Path, table: Mapping[str, Any]) -> str:
    precision = table.get("precision", "fp32")
    if precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise _invalid(path, "precision", f"{known} 가운데 하나여야 합니다", f"it must be one of {known}")
    return str(precision)


def _profile_path(name_or_path: str | Path) -> Path:
    known = profile_names()
    if str(name_or_path) in known:
        return PROFILES_ROOT / f"{name_or_path}.toml"
    path = Path(name_or_path).expanduser()
    if not path.is_file():
        raise UnknownProfile(name=str(name_or_path), known=", ".join(known))
    return path.resolve()


def _read_spec(path: Path, role: ModelRole, table: Any, is_demo: bool) -> ModelSpec:
    if not isinstance(table, dict):
        raise _invalid(path, f"[{role}]", "표(table)여야 합니다", "it must be a table")
    _refuse_unknown_keys(path, f"{role}.", table, _KEYS[role])
    model, revision = table.get("model"), table.get("revision", "")
    if not isinstance(model, str) or not model:
        raise _invalid(path, f"{role}.model", "모델 이름이 없습니다", "the model's name is missing")
    if not isinstance(revision, str):
        raise _invalid(path, f"{role}.revision", "문자열이어야 합니다", "it must be a string")
    folder = _demo_folder(path, role, model) if is_demo else _local_folder(path, model)
    if folder is None and not _HUB_NAME.fullmatch(model):
        what_ko, what_en = f"모델 이름도 있는 폴더도 아닙니다({model})", f"'{model}' is no model name and no folder"
        raise _invalid(path, f"{role}.model", what_ko, what_en)
    if folder is None and not revision:
        what_ko, what_en = "허브의 모델에는 revision이 필요합니다", "a model from the hub needs its exact revision"
        raise _invalid(path, f"{role}.revision", what_ko, what_en)
    num_layers = _read_num_layers(path, table) if role == "bertscore" else None
    return ModelSpec(role=role, model=model, revision=revision, num_layers=num_layers, folder=folder)


def _read_num_layers(path: Path, table: Mapping[str, Any]) -> int:
    """BERTScore has no sensible default layer for most models: the profile must say it (``klue/bert-base`` too)."""
    num_layers = table.get("num_layers")
    if not isinstance(num_layers, int) or isinstance(num_layers, bool) or num_layers < 1:
        what_ko, what_en = "1 이상의 정수가 필요합니다", "a whole number of at least 1 is needed"
        raise _invalid(path, "bertscore.num_layers", what_ko, what_en)
    return num_layers


def _local_folder(path: Path, model: str) -> Path | None:
    """The folder ``model`` names relative to the profile file, or ``None`` for a name on the hub.

    A name that starts with ``.``, ``/`` or ``~`` can only be a path, even if it does not exist, so that the error names
    the path and not a model to download.
    """
    folder = (path.parent / Path(model).expanduser()).resolve()
    return folder if folder.is_dir() or model.startswith((".", "/", "~")) else None


def _demo_folder(path: Path, role: ModelRole, model: str) -> Path:
    if DEMO_FOLDERS.get(role) != model:
        what_ko = f"데모 모델은 {DEMO_FOLDERS.get(role)}뿐입니다"
        raise _invalid(path, f"{role}.model", what_ko, f"the only demo model is {DEMO_FOLDERS.get(role)}")
    return demo_models_root() / model


def _refuse_unknown_keys(path: Path, prefix: str, table: Mapping[str, Any], known: frozenset[str]) -> None:
    """A misspelt key must not be ignored: ``num_layer = 9`` would score with another layer."""
    for key in table:
        if key not in known:
            raise _invalid(path, f"{prefix}{key}", "모르는 항목입니다", "it is not a key of a profile")


def _invalid(path: Path, key: str, what_ko: str, what_en: str) -> InvalidProfile:
    return InvalidProfile(where=str(path), key=key, what_ko=what_ko, what_en=what_en)
