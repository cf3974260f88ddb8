"""Time and agreement of the metrics that need no model beside other implementations, in interleaved rounds.

5,000 generated Korean captions of about 12 words with one to three references each. Three kinds of rows:

* a metric given known morphs: each side takes what the analyser found before, and computes. Of several references the
  best counts on both sides; BLEU and chrF are the corpus's, else every item's value is compared;
* with the analyser: Okt beside konlpy's on a fifth of the items (konlpy is slow), where ours gains as much as words
  come again: their number is noted, and people use more different ones than this generator; ROUGE-1 and ROUGE-2 on
  mecab-ko morphs as the contest has them, cleaning included. "next" is another submission to the same references,
  whose morphs the process remembers; the others keep nothing, so they do all anew;
* as a user runs it: ``python -m scoring score --recipe captioning-lexical@1``, with all its metrics, and a script with
  konlpy, nltk, pycocoevalcap and sacrebleu (``caption_peers``), each a new process that starts its JVM and reads the
  same two files. The script has METEOR, CIDEr-D, BLEU, ROUGE-L and chrF only; what the recipe has besides is extra.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scoring.metrics import CorpusMetric, PairMetric, load_metric
from scoring.metrics.rouge import Rouge1, Rouge2
from scoring.text.okt import okt, surfaces
from scoring.text.run_tokens import TEXT, RunTokens, forget
from tests.benchmarks import caption_peers as peers
from tests.benchmarks.tables import Row, deviation, interleaved
from tests.paths import ROOT
from tests.scoring.caption_items import Item, caption_items, changed

RECIPE = "captioning-lexical@1"
LIMIT = 1e-9
PEERS: dict[str, tuple[str, Callable[..., list[float]]]] = {
    "meteor": ("nltk", peers.meteor),
    "cider": ("pycocoevalcap", peers.cider),
    "bleu": ("pycocoevalcap", peers.bleu),
    "rouge1_okt": ("rouge-metric", peers.rouge_n(1)),
    "rouge2_okt": ("rouge-metric", peers.rouge_n(2)),
    "rougel_okt": ("rouge-metric", peers.rouge_l),
    "chrf": ("sacrebleu", peers.chrf),
}
MECAB_ROUGE = {1: Rouge1, 2: Rouge2}


class Morphs(NamedTuple):
    """Okt's morphs of every item: of its references, and of its candidate."""

    references: list[list[list[str]]]
    candidates: list[list[str]]


def rows(arguments: Sequence[str] = ()) -> list[Row]:
    """Measure; a row for each metric with known morphs, each analyser, and the whole as a user runs it."""
    options = _options(arguments)
    count = 12 if options.quick else options.captions
    items = caption_items(count, options.seed, edges=False)
    peers.meteor([], [])  # imports nltk: not in a timed round, after which CIDEr took a third longer on both sides
    start_okt(options.seed, 10 if options.quick else 300)
    morphs = morphs_of(items)
    return [
        *(metric_row(name, items, morphs, options.rounds) for name in PEERS),
        okt_row(items[: max(1, count // 5)], options.rounds),
        *(row for n in MECAB_ROUGE for row in mecab_rows(n, items, options.rounds)),
        process_row(items, options.rounds),
    ]


def start_okt(seed: int, texts: int) -> None:
    """Start Okt and let the JVM warm up on words that the measured captions do not have."""
    for item in caption_items(texts, seed + 1):
        for text in item.references:
            okt().morphs(text[::-1])


def morphs_of(items: Sequence[Item]) -> Morphs:
    """Ours, which are konlpy's (``okt_row`` compares them)."""
    split = okt().morphs
    references = [[list(split(text)) for text in item.references] for item in items]
    return Morphs(references, [list(split(item.candidate)) for item in items])


def metric_row(name: str, items: Sequence[Item], morphs: Morphs, rounds: int) -> Row:
    """One metric beside its peer, both given the morphs; chrF takes texts."""
    peer, score_with_peer = PEERS[name]
    texts = [item.references for item in items], [item.candidate for item in items]
    metric, tokens = load_metric(name), RunTokens()
    if metric.reads != TEXT:
        texts_read = (text for item in items for text in (*item.references, item.candidate))
        tokens.add(metric.reads, (piece for text in texts_read for piece in metric.pieces(text)), lambda _: None)
    ways = interleaved(
        {
            "ours": lambda: our_values(metric, items, tokens),
            peer: lambda: score_with_peer(*(texts if name == "chrf" else morphs)),
        },
        rounds,
    )
    ours, theirs = ways["ours"], ways[peer]
    difference = deviation(ours.result, theirs.result)
    return Row(f"{name}, {len(items)} items", ours.median_s, peer, theirs.median_s, difference, LIMIT)


def our_values(metric: PairMetric | CorpusMetric, items: Sequence[Item], tokens: RunTokens) -> list[float]:
    """Each item's value, or the corpus's scores of a metric without such: as a run asks for them."""
    given = {} if metric.reads == TEXT else {"tokenize": tokens.tokenize(metric.reads)}
    if isinstance(metric, CorpusMetric):
        ids = [str(number) for number in range(len(items))]
        references, candidates = [item.references for item in items], [item.candidate for item in items]
        found = metric.statistics(ids, references, candidates, **given)
        return [row[0] for row in found] if metric.has_item_values else list(metric.aggregate(found).values())
    pairs = [(reference, item.candidate) for item in items for reference in item.references]
    values = iter(metric.score_pairs([pair[0] for pair in pairs], [pair[1] for pair in pairs], **given))
    return [max(next(values) for _ in item.references) for item in items]


def okt_row(items: Sequence[Item], rounds: int) -> Row:
    """Splitting every text anew, with our Okt and konlpy's. The difference is in texts."""
    texts = [text for item in items for text in (*item.references, item.candidate)]
    theirs = peers.okt_morphs()

    def ours() -> list[tuple[str, ...]]:
        return [surfaces(tokens) for tokens in okt().tokenize_all(texts, lambda _: None)]

    ways = interleaved({"ours": ours, "konlpy": lambda: [tuple(theirs(text)) for text in texts]}, rounds)
    different = sum(one != other for one, other in zip(ways["ours"].result, ways["konlpy"].result, strict=True))
    words = [word for text in texts for word in text.split()]
    return Row(
        f"Okt morphs, {len(texts)} texts",
        ways["ours"].median_s,
        "konlpy",
        ways["konlpy"].median_s,
        float(different),
        0.0,
        note=f"{len(words)} words, {len(set(words))} different",
    )


def mecab_rows(n: int, items: Sequence[Item], rounds: int) -> list[Row]:
    """ROUGE-N of texts on mecab-ko morphs: new references, then other candidates to the same ones."""
    source = random.Random(n)
    references = [item.references[0] for item in items]
    first = [item.candidate for item in items]
    following = [changed(source, text) for text in references]
    peer = peers.mecab_rouge_n(n)
    metric = MECAB_ROUGE[n]()

    def ours(candidates: Sequence[str]) -> list[float]:
        tokens = RunTokens()
        pieces = (piece for text in (*references, *candidates) for piece in metric.pieces(text))
        tokens.add(metric.reads, pieces, lambda _: None)
        return metric.score_pairs(references, candidates, tokenize=tokens.tokenize(metric.reads))

    def ours_first() -> list[float]:
        forget()
        return ours(first)

    ways = interleaved(
        {
            "first": ours_first,
            "first, rouge-metric": lambda: peer(references, first),
            "next": lambda: ours(following),
            "next, rouge-metric": lambda: peer(references, following),
        },
        rounds,
        in_order=True,
    )
    return [
        Row(
            f"rouge_{n} with mecab-ko, {len(items)} pairs, {part}",
            ways[part].median_s,
            "rouge-metric",
            ways[f"{part}, rouge-metric"].median_s,
            deviation(ways[part].result, ways[f"{part}, rouge-metric"].result),
            LIMIT,
        )
        for part in ("first", "next")
    ]


def process_row(items: Sequence[Item], rounds: int) -> Row:
    """The recipe and the script as a user starts them; the scores that both have are compared."""
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        names = [str(Path(folder) / name) for name in ("references.json", "predictions.json", "scores.json")]
        for part, name in enumerate(names[:2]):
            content = {str(number): item[part] for number, item in enumerate(items)}
            Path(name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        files = ["--references", names[0], "--predictions", names[1], "--output", names[2]]

        def ours() -> Mapping[str, float]:
            _run(["-m", "scoring", "score", "--recipe", RECIPE, *files])
            scores: Mapping[str, float] = json.loads(Path(names[2]).read_text(encoding="utf-8"))["scores"]
            return scores

        def script() -> Mapping[str, float]:
            scores: Mapping[str, float] = json.loads(_run(["-m", "tests.benchmarks.caption_peers", *names[:2]]))
            return scores

        ways = interleaved({"ours": ours, "script": script}, rounds)
    found, expected = ways["ours"].result, ways["script"].result
    shared = sorted(found.keys() & expected.keys())
    return Row(
        f"{RECIPE} in a new process, {len(items)} items",
        ways["ours"].median_s,
        "konlpy + nltk + pycocoevalcap + sacrebleu",
        ways["script"].median_s,
        deviation([found[name] for name in shared], [expected[name] for name in shared]),
        LIMIT,
        note=f"{len(shared)} scores in both, ours has {len(found) - len(shared)} more",
    )


def _run(arguments: list[str]) -> str:
    environment = dict(os.environ)
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{arguments[:2]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks captions", description=__doc__.splitlines()[0])
    parser.add_argument("--captions", type=int, default=5_000, help="captions of a submission (default: 5000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="12 captions: only to see that it works")
    return parser.parse_args(arguments)
