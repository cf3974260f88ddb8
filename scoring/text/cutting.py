"""What an analyser or a model sees of a very long text: its beginning.

A model that does not stop writes one answer of 13,000 characters among 600 good ones. It is scored by its beginning:
the first ``READ_CHARS`` characters and, of a run without white space in them, the first ``READ_RUN_CHARS``. Time grows
with the square of an unbroken run: measured on one core, python-mecab-ko takes 0.02 s for 2,500 characters and 0.1 s
for 10,000. Metrics that only compare texts (``Metric.reads_whole``) see all of it.
"""

from __future__ import annotations

import re
from typing import Final

READ_CHARS: Final = 10_000
READ_RUN_CHARS: Final = 2_500

_LONG_RUN: Final = re.compile(rf"(\S{{{READ_RUN_CHARS}}})\S+")


def beginning(text: str) -> str:
    """What is read of ``text``: the same object unless it is too long. ``beginning(beginning(text))`` changes nothing.

    >>> len(beginning("ㅋ" * 13_000)), len(beginning("아 " * 6_500))
    (2500, 10000)
    """
    if len(text) <= READ_RUN_CHARS:
        return text
    start = text[:READ_CHARS]
    return _LONG_RUN.sub(r"\1", start) if any(len(run) > READ_RUN_CHARS for run in start.split()) else start
