"""The demo models: made here, the same everywhere, and ordering Korean reasons as a reader would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.errors import ModelUnavailable
from scoring.metrics import load_metric
from scoring.models import demo
from scoring.models.demo import MANIFEST, demo_models_root, ensure_demo_models
from scoring.models.demo_weights import vocabulary
from scoring.models.store import ModelStore
from tests.paths import ROOT
from tests.scoring.tiny_models import one_thread

# Of the weight files, on every machine. A change of scoring/demo_weights.py changes them, and then the folder's name
# ("demo-1") and the revision in demo.toml must change too, so that no score stands beside one of another model.
WEIGHTS = {
    "demo-bertscore/model.safetensors": "7782dba6c86e049154d7c384b2211ace6b130f116c54c897b17db92065cf880b",
    "demo-bleurt/model.safetensors": "3ffa9bb6569fbed7277639e776b9e3a0c27f4754373807d887cbc159215ead33",
}

REFERENCE = (
    "'-대'는 다른 사람이 말한 내용을 간접적으로 전할 때 쓰는 말이다. '-데'는 자신이 겪은 일을 회상하여 말할 때 쓴다."
)
# From best to worst; each step is one a reader would take.
LADDER = (
    ("identical", REFERENCE),
    ("slips of spelling", REFERENCE.replace("겪은", "격은").replace("말할 때", "말할때")),
    ("same points in other words", "'-대'는 남이 말한 내용을 전할 때 쓰고, '-데'는 직접 겪은 일을 말할 때 쓴다."),
    ("same points, words far apart", "들은 이야기를 옮길 때에는 '-대'를, 몸소 겪은 일을 떠올릴 때에는 '-데'를 쓴다."),
    ("another rule", "사이시옷은 순우리말로 된 합성어에서 뒷말의 첫소리가 된소리로 날 때 받치어 적는다."),
    ("no rule at all", "오늘 서울의 날씨는 맑고 기온이 높아 야외 활동을 하기에 좋습니다."),
    ("another language", "The weather in Seoul is fine today and the temperature is high."),
    ("nothing", ""),
)
MARGIN = 0.01


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module", autouse=True)
def _models_of_this_test(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MALPAN_MODELS", str(tmp_path_factory.mktemp("models")))
        yield


@pytest.fixture(scope="module")
def store() -> ModelStore:
    return ModelStore("demo", "cpu")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALPAN_MODELS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["bertscore", "bleurt"])
def test_better_reasons_score_higher(store, name):
    texts = [text for _, text in LADDER]
    values = load_metric(name, store).score_pairs([REFERENCE] * len(texts), texts)
    steps = [(LADDER[i][0], LADDER[i + 1][0], values[i] - values[i + 1]) for i in range(len(values) - 1)]
    too_small = [step for step in steps if step[2] < (0 if step[1] == "nothing" and name == "bleurt" else MARGIN)]
    assert not too_small
    assert all(0 <= value <= 1 for value in values)


@pytest.mark.parametrize("name", ["bertscore", "bleurt"])
def test_a_short_or_stuffed_answer_scores_low(store, name):
    stuffed = "다 는 이 을 에 의 가 고 말 쓴다 이다"
    half, one, stuffing = load_metric(name, store).score_pairs(
        [REFERENCE] * 3, ["'-대'는 다른 사람이 말한 내용을 전할 때 쓴다.", "다", stuffed]
    )
    assert half > max(one, stuffing) + 0.2


@pytest.mark.parametrize("name", ["bertscore", "bleurt"])
@pytest.mark.parametrize("text", ["옳다", REFERENCE, " ".join([REFERENCE] * 3)])
def test_a_perfect_answer_scores_near_one_whatever_its_length(store, name, text):
    (value,) = load_metric(name, store).score_pairs([text], [text])
    assert value > 0.9


@pytest.mark.parametrize("text", ["😀😀😀", "今日はとても良い天気ですね", "\u200b", "[UNK] [SEP]"])
def test_text_outside_the_vocabulary_matches_nothing(store, text):
    """Two unknown words are the same token; they must not count as a match."""
    value, floor = load_metric("bleurt", store).score_pairs([text, text], [text, ""])
    assert value == pytest.approx(floor, abs=0.03)


def test_the_models_are_the_same_on_every_machine(elsewhere):
    manifest = json.loads((ensure_demo_models() / MANIFEST).read_text(encoding="utf-8"))
    assert {name: manifest[name] for name in WEIGHTS} == WEIGHTS


def test_making_them_takes_seconds_and_no_torch(elsewhere):
    """The first start of the whole site has a minute; the web process must never load torch."""
    script = "import sys, scoring.models.demo as d; d.ensure_demo_models(); assert 'torch' not in sys.modules"
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=os.environ | {"MALPAN_MODELS": str(elsewhere)}, check=True
    )
    assert time.monotonic() - started < 30
    assert (demo_models_root() / MANIFEST).is_file()


def test_models_already_made_are_left_alone(elsewhere):
    root = ensure_demo_models()
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert ensure_demo_models() == root
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


@pytest.mark.parametrize("damage", ["cut", "flip", "remove", "manifest"])
def test_a_damaged_file_is_made_again(elsewhere, damage):
    root = ensure_demo_models()
    weights = root / "demo-bleurt" / "model.safetensors"
    sound = weights.read_bytes()
    if damage == "cut":
        weights.write_bytes(sound[:-1])
    elif damage == "flip":
        weights.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    elif damage == "remove":
        weights.unlink()
    else:
        (root / MANIFEST).write_text("{", encoding="utf-8")
    assert ensure_demo_models() == root
    assert weights.read_bytes() == sound


def test_two_processes_at_once_make_them_once(elsewhere):
    """Each writes what it did; only one of them may have made the models, and both must see whole ones."""
    script = (
        "import scoring.models.demo as d\n"
        "make, made = d._make, []\n"
        "d._make = lambda root: made.append(root) or make(root)\n"
        "assert d._is_sound(d.ensure_demo_models())\n"
        "print(len(made))\n"
    )
    env = os.environ | {"MALPAN_MODELS": str(elsewhere)}
    both = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(int(output) for output in outputs) == 1
    assert [path.name for path in elsewhere.iterdir() if path.is_dir()] == ["demo-1"]


def test_a_making_that_breaks_off_leaves_nothing_behind(elsewhere, monkeypatch):
    def disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(demo, "_write_model", disk_full)
        with pytest.raises(OSError, match="No space left"):
            ensure_demo_models()
    assert not [path for path in elsewhere.iterdir() if path.is_dir()]
    assert demo._is_sound(ensure_demo_models())


def test_a_folder_that_cannot_be_written_is_an_error_that_names_the_variable(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("MALPAN_MODELS", str(tmp_path / "file"))
    with pytest.raises(ModelUnavailable, match="MALPAN_MODELS"):
        ModelStore("demo", "cpu").describe()


class TestPlace:
    def test_the_variable_decides(self, elsewhere):
        assert demo_models_root() == elsewhere / "demo-1"

    def test_a_site_keeps_them_where_it_writes(self, tmp_path, monkeypatch):
        monkeypatch.delenv("MALPAN_MODELS")
        monkeypatch.setenv("MALPAN_VAR", str(tmp_path))
        assert demo_models_root() == tmp_path / "models" / "demo-1"

    def test_a_checkout_keeps_them_under_var(self, monkeypatch):
        monkeypatch.delenv("MALPAN_MODELS")
        monkeypatch.delenv("MALPAN_VAR", raising=False)
        assert demo_models_root() == ROOT / "var" / "models" / "demo-1"

    def test_an_installed_package_keeps_them_in_the_users_cache(self, tmp_path, monkeypatch):
        monkeypatch.delenv("MALPAN_MODELS")
        monkeypatch.delenv("MALPAN_VAR", raising=False)
        monkeypatch.setattr(demo, "_CHECKOUT", tmp_path / "site-packages")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        assert demo_models_root() == tmp_path / "cache" / "malpan" / "models" / "demo-1"


def test_every_hangul_syllable_is_a_piece_of_its_own():
    pieces = vocabulary()
    assert len(set(pieces)) == len(pieces)
    assert {"가", "힣", "##가", "##힣", "뷁", "A", "##z", "0", "ㅏ"} <= set(pieces)


def test_the_packages_load_them_too_and_agree(store):
    """They are ordinary checkpoints: nothing in Malpan's code knows them."""
    import bert_score
    import torch
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    root = ensure_demo_models()
    texts = [text for _, text in LADDER]
    references = [REFERENCE] * len(texts)
    f1 = bert_score.score(texts, references, model_type=str(root / "demo-bertscore"), num_layers=1, device="cpu")[2]
    assert load_metric("bertscore", store).score_pairs(references, texts) == pytest.approx(f1.tolist(), abs=1e-5)
    tokenizer = BleurtTokenizer.from_pretrained(root / "demo-bleurt")
    model = BleurtForSequenceClassification.from_pretrained(root / "demo-bleurt").eval()
    with torch.no_grad():
        logits = model(**tokenizer(references, texts, padding="longest", return_tensors="pt")).logits.flatten()
    assert load_metric("bleurt", store).score_pairs(references, texts) == pytest.approx(logits.tolist(), abs=1e-5)
