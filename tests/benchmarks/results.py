"""RESULTS.md: the last measured tables, each in a section of its own with the date and the command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import takewhile
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
OWN = ("--layers", "--parts")  # with another value of these it is another section


def save_section(name: str, options: Sequence[str], printed: str, path: Path = RESULTS) -> None:
    """Put ``printed`` in the place of its section of the document, or at the end where there is none.

    A section is marked with the benchmark's name, or with name and all that is named after ``--layers`` or ``--parts``:
    tables of several parts never replace those of the first.
    """
    command = " ".join(["python -m tests.benchmarks", *filter(None, [name]), *options])
    own = [word for each in OWN if each in options for word in (each, *_values(options[options.index(each) + 1 :]))]
    mark = f"<!-- {' '.join([name or 'all', *own])} -->"
    section = f"{mark}\n`{command}`, {date.today()}: {printed.strip()}\n<!-- end -->"
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(rf"{re.escape(mark)}\n.*?<!-- end -->", re.DOTALL)
    replaced, count = pattern.subn(lambda _: section, text)
    path.write_text(replaced if count else f"{text.rstrip()}\n\n{section}\n", encoding="utf-8")


def _values(words: Sequence[str]) -> Iterator[str]:
    """The words before the next option."""
    return takewhile(lambda word: not word.startswith("--"), words)
