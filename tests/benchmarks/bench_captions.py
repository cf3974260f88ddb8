"""Time and agreement of the captioning metrics that need no model, beside other implementations, in one run.

1,000 generated Korean captions of about 12 words with one to three references each, in two ways:

* metric by metric in this process, Okt started and warm. "Okt morphs" is the splitting of all texts, done once for all
  metrics, ours and the others; the other rows take known morphs. "first" is a submission with new references, "next"
  another one to the same references: then only the candidates are split. The others keep nothing, so their one time
  stands for both. "max |diff|" compares the values of the first submission; for BLEU and chrF the corpus's, else each
  item's. ROUGE-L has another rule in pycocoevalcap (beta 1.2, best precision and recall apart): compared in time only.
* as a user runs it: ``python -m scoring score --recipe captioning-lexical@1`` with all its metrics, and a script with
  konlpy, nltk, pycocoevalcap and sacrebleu (``caption_peers``), each a new process reading the same two files; the
  faster of two runs taken by turns. "start" is a process that imports what scoring needs, starts Okt and splits one
  word; "scoring" is the rest. The script has METEOR, CIDEr-D, BLEU, ROUGE-L and chrF only. What the recipe has besides
  costs it a second Okt analysis of every text: synonyms and particles want lemmas and parts of speech.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.metrics import CorpusMetric, PairMetric, load_metric
from scoring.tokenization import okt
from tests.benchmarks import caption_peers as peers
from tests.scoring.caption_items import Item, caption_items, changed

ROOT = Path(__file__).parents[2]
RECIPE = "captioning-lexical@1"
LIMIT = 1e-9
PEERS: dict[str, tuple[str, Callable[..., list[float]] | None]] = {
    "meteor": ("nltk", peers.meteor),
    "meteor_synonym": ("", None),
    "meteor_ko": ("", None),
    "spice_ko": ("", None),
    "cider": ("pycocoevalcap", peers.cider),
    "bleu": ("pycocoevalcap", peers.bleu),
    "okt_rouge_1": ("rouge-metric", peers.rouge_n(1)),
    "okt_rouge_2": ("rouge-metric", peers.rouge_n(2)),
    "okt_rouge_l": ("pycocoevalcap", peers.rouge_l),
    "chrf": ("sacrebleu", peers.chrf),
    "diversity": ("", None),
}
OTHER_RULE = frozenset({"okt_rouge_l"})


@dataclass(frozen=True)
class Row:
    """One line of the table; seconds, and the largest difference of a value where both have the same rule."""

    metric: str
    first_s: float
    next_s: float
    peer: str = ""
    peer_s: float = math.nan
    difference: float = math.nan


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables. Returns 0, or 1 if a value differs by more than 1e-9."""
    options = _options(arguments)
    count = 12 if options.quick else options.captions
    items = caption_items(count, options.seed, edges=False)
    source = random.Random(options.seed)
    following = [Item(item.references, changed(source, item.candidate)) for item in items]
    words = sum(len(item.references[0].split()) for item in items) / count
    texts = sum(len(item.references) for item in items)
    print(f"{count} captions of {words:.1f} words, {texts} references; load {os.getloadavg()[0]:.1f}", flush=True)
    start_okt(options.seed, 10 if options.quick else 300)
    rows = metric_rows(items, following)
    print_table(rows)
    processes(items, 1 if options.quick else 2)
    return 0 if all(not row.difference > LIMIT for row in rows) else 1


def start_okt(seed: int, texts: int) -> None:
    """Start Okt and let it warm up on words that the measured captions do not have, as they would be remembered."""
    _, start_s = timed(lambda: okt().morphs("가"))
    others = caption_items(texts, seed + 1)
    _, warm_s = timed(lambda: [okt().morphs(text[::-1]) for item in others for text in item.references])
    print(f"Okt: start {start_s:.2f} s, warming up {warm_s:.2f} s (not in the table)", flush=True)


def metric_rows(items: Sequence[Item], following: Sequence[Item]) -> list[Row]:
    """Okt, then every metric: ours, the other implementation, ours on the next submission."""
    okt_row, tokens, answers = okt_times(items, following)
    rows = [okt_row]
    texts, captions = [item.references for item in items], [item.candidate for item in items]
    for name, (peer, score_with_peer) in PEERS.items():
        metric = load_metric(name)
        values, first_s = timed(lambda metric=metric: our_values(metric, items))
        row = Row(name, first_s, timed(lambda metric=metric: our_values(metric, following))[1])
        if score_with_peer is not None:
            given = (texts, captions) if name == "chrf" else (tokens, answers)
            theirs, peer_s = timed(lambda score=score_with_peer, given=given: score(*given))
            difference = max(abs(one - other) for one, other in zip(values, theirs, strict=True))
            row = Row(name, row.first_s, row.next_s, peer, peer_s, math.nan if name in OTHER_RULE else difference)
        rows.append(row)
    return rows


def okt_times(items: Sequence[Item], following: Sequence[Item]) -> tuple[Row, list[list[list[str]]], list[list[str]]]:
    """The row of the splitting, and konlpy's morphs of the first submission for the others."""
    ours, theirs = okt().morphs, peers.okt_morphs()
    seconds = {ours: 0.0, theirs: 0.0}
    found: list[list[list[str]]] = []
    different = 0
    for number, item in enumerate(items):  # each first by turns: the JVM is faster with what it has just seen
        tokens = {}
        for morphs in (ours, theirs) if number % 2 else (theirs, ours):
            tokens[morphs], took = timed(
                lambda split=morphs, texts=item: [list(split(text)) for text in texts_of(texts)]
            )
            seconds[morphs] += took
        different += tokens[ours] != tokens[theirs]
        found.append(tokens[theirs])
    _, next_s = timed(lambda: [ours(text) for item in following for text in texts_of(item)])
    row = Row("Okt morphs", seconds[ours], next_s, "konlpy", seconds[theirs], float(different))
    return row, [item[:-1] for item in found], [item[-1] for item in found]


def texts_of(item: Item) -> tuple[str, ...]:
    return (*item.references, item.candidate)


def our_values(metric: PairMetric | CorpusMetric, items: Sequence[Item]) -> list[float]:
    """Each item's value, or the corpus's scores of a metric without such: as the engine asks for them."""
    if hasattr(metric, "score_pairs"):
        pairs = [(reference, item.candidate) for item in items for reference in item.references]
        values = iter(metric.score_pairs([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
        return [max(next(values) for _ in item.references) for item in items]
    ids = [str(number) for number in range(len(items))]
    rows = metric.statistics(ids, [item.references for item in items], [item.candidate for item in items])
    return [row[0] for row in rows] if metric.has_item_values else list(metric.aggregate(rows).values())


def processes(items: Sequence[Item], rounds: int = 2) -> None:
    """Both as a user starts them, by turns, and what starting alone takes."""
    start = "from scoring.tokenization import okt; import scoring.engine, scoring.metrics.meteor; okt().morphs('가')"
    other_start = "from tests.benchmarks.caption_peers import okt_morphs; okt_morphs()('가')"
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        names = [str(Path(folder) / name) for name in ("references.json", "predictions.json")]
        contents = ({str(n): item[part] for n, item in enumerate(items)} for part in (0, 1))
        for name, content in zip(names, contents, strict=True):
            Path(name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        files = ["--references", names[0], "--predictions", names[1], "--output", str(Path(folder) / "out.json")]
        commands = {
            "python -m scoring": (["-m", "scoring", "score", "--recipe", RECIPE, *files], ["-c", start]),
            "nltk + pycocoevalcap": (["-m", "tests.benchmarks.caption_peers", *names], ["-c", other_start]),
        }
        runs: dict[str, list[float]] = {f"{name} {part}": [] for name in commands for part in ("all", "start")}
        for _ in range(rounds):
            for name, both in commands.items():
                for part, arguments in zip(("all", "start"), both, strict=True):
                    runs[f"{name} {part}"].append(timed(lambda given=arguments: _run(given))[1])
    print(f"\n{'new process':<24} {'all':>9} {'start':>9} {'scoring':>9}")
    for name in commands:
        whole_s, start_s = (min(runs[f"{name} {part}"]) for part in ("all", "start"))
        print(f"{name:<24} {whole_s:>7.2f} s {start_s:>7.2f} s {whole_s - start_s:>7.2f} s", flush=True)


def _run(arguments: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{arguments[:2]} ended with {done.returncode}: {done.stderr}")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What ``work`` returns, and the seconds it took."""
    started = time.perf_counter()
    values = work()
    return values, time.perf_counter() - started


def print_table(rows: Sequence[Row]) -> None:
    print(
        f"\n{'metric':<15} {'first':>9} {'next':>9} {'other':>9}  {'other implementation':<20}"
        f" {'first':>7} {'next':>7} {'max |diff|':>11}"
    )
    for row in rows:
        line = f"{row.metric:<15} {row.first_s:>7.2f} s {row.next_s:>7.2f} s"
        if row.peer:
            line += f" {row.peer_s:>7.2f} s  {row.peer:<20} {row.peer_s / row.first_s:>6.2f}x"
            line += f" {row.peer_s / row.next_s:>6.2f}x"
            line += f" {'other rule' if row.metric in OTHER_RULE else format(row.difference, '.1e'):>11}"
        print(line)
    both = [row for row in rows if row.peer]
    first, following, theirs = (
        math.fsum(getattr(row, name) for row in both) for name in ("first_s", "next_s", "peer_s")
    )
    print(
        f"{'with another':<15} {first:>7.2f} s {following:>7.2f} s {theirs:>7.2f} s  {'all that have one':<20}"
        f" {theirs / first:>6.2f}x {theirs / following:>6.2f}x"
    )
    print(
        f"{'all':<15} {sum(row.first_s for row in rows):>7.2f} s {sum(row.next_s for row in rows):>7.2f} s", flush=True
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks captions", description=__doc__.splitlines()[0])
    parser.add_argument("--captions", type=int, default=1_000, help="captions of a submission (default: 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="12 captions: only to see that it works")
    return parser.parse_args(arguments)
