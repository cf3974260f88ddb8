"""``make bench``, or ``python -m tests.benchmarks [NAME [options] [--save]]``.

Comparisons time ours beside another implementation in interleaved rounds and print one table; without a name, all of
them. The others show one thing each: abuse of the API, people's votes, rankings of theirs, metrics beside them, designs
of campaigns, boards, curves, floods, fluency, the queue, ranks, web servers, shards, webhooks, a GPU.
``--save`` also writes what is printed into RESULTS.md, in the section of that name.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tests.benchmarks.results import save_section
from tests.benchmarks.tables import Row, comparison_table, environment


def _of(name: str, function: str) -> Callable[[Sequence[str]], Any]:
    """A function of the benchmark called ``name``, which is imported when it runs: most take a model library along."""
    return lambda options: getattr(import_module(f"tests.benchmarks.bench_{name}"), function)(options)


COMPARISONS: dict[str, Callable[[Sequence[str]], list[Row]]] = {
    name: _of(name, "rows") for name in ("bleurt", "bertscore", "run", "captions")
}
SHOWS: dict[str, Callable[[Sequence[str]], None]] = {
    name: _of(name, "show")
    for name in (
        *("api_abuse", "arena", "balance", "boards", "curve", "flood", "fluency", "gpu", "meta", "queue", "rankings"),
        *("ranks", "servers", "shards", "webhooks"),
    )
}
WITHOUT_MODELS = ("api_abuse", "queue", "servers", "webhooks")


def main(arguments: Sequence[str]) -> int:
    """Run one benchmark, or all comparisons. Returns 0, 1 if a value differs, or 2 for an unknown name."""
    name, options = (arguments[0], list(arguments[1:])) if arguments else ("", [])
    if name and name not in COMPARISONS and name not in SHOWS:
        print(
            f"usage: python -m tests.benchmarks [{'|'.join([*COMPARISONS, *SHOWS])} [options] [--save]]",
            file=sys.stderr,
        )
        return 2
    if "--save" not in options:
        return run(name, options)
    options.remove("--save")
    with contextlib.redirect_stdout(Tee()) as printed:
        status = run(name, options)
    save_section(name, options, printed.getvalue())
    return status


def run(name: str, options: Sequence[str]) -> int:
    """Print the environment, then what the benchmark called ``name`` finds; of all comparisons without a name."""
    os.environ.pop("MALPAN_EMBEDDINGS", None)  # embeddings on disk would be read instead of computed
    print(environment(has_models=name not in WITHOUT_MODELS), end="\n\n", flush=True)
    if name in SHOWS:
        SHOWS[name](options)
        return 0
    rows = [row for one in ([name] if name else COMPARISONS) for row in COMPARISONS[one](options)]
    print(f"\n{comparison_table(rows)}", flush=True)
    return 0 if all(row.agrees for row in rows) else 1


class Tee(io.StringIO):
    """Keeps what is printed and prints it as well."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
