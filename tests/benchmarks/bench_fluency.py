"""What fluency costs beside BERTScore: CPU seconds of one thread for 1,000 captions, with the size of BERT-base.

The peer computes fluency directly with transformers: the rows of a caption, each with another piece masked, are a
batch. Multilingual BERT's vocabulary is as wide as here; its weights would take as long as these random ones.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from scoring.metrics import load_metric
from scoring.models.store import ModelStore
from tests.benchmarks.tables import deviation, markdown_table
from tests.scoring.caption_items import caption_items
from tests.scoring.tiny_models import make_masked_bert, one_thread, write_profile

PIECES = 119_547  # of multilingual BERT
LAYER = 9


def show(arguments: Sequence[str]) -> None:
    """Print a row for each of BERTScore, fluency and the peer."""
    options = _options(arguments)
    pairs = [(item.references[0], item.candidate) for item in caption_items(options.items, edges=False)]
    texts = [candidate for _, candidate in pairs]
    size = {"layers": 2, "hidden": 32} if options.quick else {"layers": 12, "hidden": 768, "pieces": PIECES}
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder, one_thread():
        bert = make_masked_bert(Path(folder) / "bert", **size)
        profile = write_profile(Path(folder) / "p.toml", bertscore=bert, num_layers=min(LAYER, size["layers"]))
        store = ModelStore(profile, "cpu")
        fluency, bertscore, peer = load_metric("fluency", store), load_metric("bertscore", store), directly(bert)
        for warm in (fluency, bertscore):  # loads the models
            warm.score_pairs(["글"], ["말"])
        pieces = sum(len(ids) - 2 for ids in store.bertscore_tokenizer.encode_all(texts)) / len(texts)
        of_pairs, _ = cpu_seconds(lambda: bertscore.score_pairs(*map(list, zip(*pairs, strict=True))))
        ours, values = cpu_seconds(lambda: fluency.score_pairs([""] * len(texts), texts))
        theirs, expected = cpu_seconds(lambda: list(map(peer, texts)))
    print(f"{len(texts)} captions of {pieces:.1f} pieces on average, one reference each\n")
    rows = [
        ("BERTScore, first submission", of_pairs, ""),
        ("fluency", ours, f"{deviation(values, expected):.1e}"),
        ("fluency, transformers caption by caption", theirs, ""),
    ]
    header = ("what", "CPU s for 1,000 captions", "times BERTScore", "max diff")
    scale = 1_000 / len(texts)
    print(markdown_table(header, [[name, f"{s * scale:.0f}", f"{s / of_pairs:.1f}", diff] for name, s, diff in rows]))


def cpu_seconds(work: Callable[[], list[float]]) -> tuple[float, list[float]]:
    began = time.process_time()
    values = work()
    return time.process_time() - began, values


def directly(folder: Path) -> Callable[[str], float]:
    """The mean log-probability of the pieces of a text, as one would write it with transformers."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()

    def value(text: str) -> float:
        ids = tokenizer(text, return_tensors="pt")["input_ids"][0]
        places = torch.arange(1, len(ids) - 1)
        rows = ids.repeat(len(places), 1)
        rows[torch.arange(len(places)), places] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(rows).logits[torch.arange(len(places)), places]
        return float(logits.log_softmax(-1).gather(1, ids[places][:, None]).mean())

    return value


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks fluency", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100, help="captions (default: 100)")
    parser.add_argument("--quick", action="store_true", help="a tiny model: only to see that it works")
    return parser.parse_args(arguments)
