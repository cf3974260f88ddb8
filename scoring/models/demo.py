"""The demo models on disk: made once by this machine, atomically, under a lock, and checked whenever they are loaded.

With them the first start shows a working board without downloading gigabytes; ``scoring.models.demo_weights`` describes
what they measure. Nothing here imports torch, so any process may ask for their folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

DEMO_FOLDERS: Final[Mapping[str, str]] = {"bertscore": "demo-bertscore", "bleurt": "demo-bleurt"}
MANIFEST: Final = "manifest.json"
_CHECKOUT: Final = Path(__file__).resolve().parents[2]


def demo_models_root() -> Path:
    """The folder of the demo models, whether they exist yet or not.

    ``MALPAN_MODELS`` if set; else ``models`` in ``MALPAN_VAR``, where a site writes; else ``var/models`` of the
    checkout this file belongs to; else, where Malpan is installed as a package, the user's cache folder.
    """
    if configured := os.environ.get("MALPAN_MODELS"):
        root = Path(configured).expanduser().resolve()
    elif site := os.environ.get("MALPAN_VAR"):
        root = Path(site).expanduser().resolve() / "models"
    elif (_CHECKOUT / "manage.py").is_file():
        root = _CHECKOUT / "var" / "models"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "malpan" / "models"
    return root / "demo-1"


def ensure_demo_models() -> Path:
    """Make the demo models if they are missing or damaged, and return the folder that holds them.

    Safe to call from several processes at once: the first makes them, the others wait.
    """
    root = demo_models_root()
    if _is_sound(root):
        return root
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(root.parent / f"{root.name}.lock"):
        if not _is_sound(root):
            _make(root)
    return root


def _is_sound(root: Path) -> bool:
    """Whether every file exists with its original checksum."""
    try:
        manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest) and all(_sha256(root / name) == digest for name, digest in manifest.items())
    except (OSError, ValueError, AttributeError):
        return False


def _make(root: Path) -> None:
    """Write all files to a temporary folder, then rename it to ``root``."""
    with tempfile.TemporaryDirectory(prefix=f"{root.name}-", dir=root.parent) as temporary:
        fresh = Path(temporary) / "fresh"
        _write_models(fresh)
        names = sorted(str(path.relative_to(fresh)) for path in fresh.rglob("*") if path.is_file())
        manifest = {name: _sha256(fresh / name) for name in names}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if root.exists():
            root.rename(Path(temporary) / "damaged")
        fresh.rename(root)


def _write_models(fresh: Path) -> None:
    from scoring.models.demo_weights import bertscore_tensors, bleurt_tensors, vocabulary

    bertscore, bleurt = (fresh / DEMO_FOLDERS[role] for role in ("bertscore", "bleurt"))
    pieces = vocabulary()
    vocab = "".join(f"{piece}\n" for piece in pieces)
    for folder, config, tensors in (
        (bertscore, _config("bert", "BertModel", len(pieces), layers=1), bertscore_tensors()),
        (bleurt, _config("bleurt", "BleurtForSequenceClassification", len(pieces), layers=3), bleurt_tensors()),
    ):
        _write_model(folder, config, vocab, tensors)


def _write_model(folder: Path, config: Mapping[str, Any], vocab: str, tensors: Mapping[str, Any]) -> None:
    from safetensors.numpy import save_file

    folder.mkdir(parents=True)
    tokenizer = {
        "tokenizer_class": "BertTokenizer" if config["model_type"] == "bert" else "BleurtTokenizer",
        "do_lower_case": False,
        "strip_accents": False,  # it would take Hangul syllables apart into jamo
        "model_max_length": config["max_position_embeddings"],
    }
    (folder / "vocab.txt").write_text(vocab, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=1), encoding="utf-8")
    save_file(dict(tensors), folder / "model.safetensors", metadata={"format": "pt"})


def _config(model_type: str, architecture: str, vocab_size: int, layers: int) -> dict[str, Any]:
    from scoring.models.demo_weights import FEED_FORWARD, HEADS, HIDDEN, MAX_POSITIONS

    config: dict[str, Any] = {
        "model_type": model_type,
        "architectures": [architecture],
        "vocab_size": vocab_size,
        "hidden_size": HIDDEN,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "intermediate_size": FEED_FORWARD,
        "hidden_act": "gelu",
        "max_position_embeddings": MAX_POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }
    return config | ({"num_labels": 1} if model_type == "bleurt" else {})


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
