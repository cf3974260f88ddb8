"""How the demo judge decides: by simple features of the fenced texts, and by nothing else.

It reads the fence from the system message, which no participant writes, and then only what is between the lines
with that fence. Sentences with fewer than two words in common with the source are ignored, so that no instruction in
them can matter. Its judgements order texts sensibly and mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_FENCE: Final = re.compile(r"\[\[([0-9a-f]{32}):[^\]\n]*:begin\]\]")
_WORD: Final = re.compile(r"[가-힣]{2,}|[A-Za-z]{3,}|\d+")
_SENTENCE: Final = re.compile(r"[.!?\n]+")
STEM_CHARS: Final = 2  # of a word: particles and endings follow
QUOTE_CHARS: Final = 8
SHARED_WORDS: Final = 2
ENOUGH_SENTENCES: Final = 3
ENOUGH_WORDS: Final = 8
MANY_WORDS: Final = 16


def texts_of(messages: list[Mapping[str, str]]) -> dict[str, str]:
    """The fenced texts of a chat, by role."""
    system = next((each["content"] for each in messages if each.get("role") == "system"), "")
    user = "\n".join(each["content"] for each in messages if each.get("role") == "user")
    declared = _FENCE.search(system)
    if declared is None:
        return {}
    fence = declared.group(1)
    blocks = re.compile(rf"^\[\[{fence}:(\w+):begin\]\]\n(.*?)\n\[\[{fence}:\1:end\]\]$", re.DOTALL | re.MULTILINE)
    return {found[1]: found[2] for found in blocks.finditer(user)}


def decide(texts: Mapping[str, str], task: str) -> dict[str, Any]:
    """The object of the answer."""
    if task == "choice":
        return _choice(texts)
    if "reference" not in texts:
        score, why = fluency(texts.get("candidate", ""))
    else:
        score, why = grounded(texts["reference"], texts.get("candidate", ""))
    return {"reason": why, "score": score}


def grounded(reference: str, candidate: str) -> tuple[int, str]:
    """1 to 5 by how much of ``candidate`` speaks of ``reference``, and why."""
    known = stems(reference)
    sentences = [part for part in _SENTENCE.split(candidate) if len(stems(part) & known) >= SHARED_WORDS]
    words = set().union(*(stems(part) & known for part in sentences)) if sentences else set()
    source = "".join(reference.split())
    quotes = sum(_quotes(part, source) for part in sentences)
    score = 1 + sum(
        [
            len(words) >= ENOUGH_WORDS,
            len(words) >= MANY_WORDS,
            len(set(sentences)) >= ENOUGH_SENTENCES,
            quotes > 0,
        ]
    )
    return score, f"글에 닿은 문장 {len(set(sentences))}개, 글의 낱말 {len(words)}개, 인용 {quotes}곳."


def fluency(text: str) -> tuple[int, str]:
    """1 to 5 by how varied the words are and whether sentences end as sentences do, and why."""
    words = _WORD.findall(text)
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    varied = len(set(words)) / len(words) if words else 0.0
    ended = sum(part[-1] in "다요까죠" for part in sentences) / len(sentences) if sentences else 0.0
    score = 1 + (varied >= 0.5) + (varied >= 0.75) + (ended >= 0.5) + (ended >= 0.9)
    return score, f"낱말 다양도 {varied:.2f}, 문장 끝맺음 {ended:.2f}."


def stems(text: str) -> set[str]:
    """The beginnings of the words of ``text``."""
    return {word[:STEM_CHARS] for word in _WORD.findall(text)}


def _choice(texts: Mapping[str, str]) -> dict[str, Any]:
    reference = texts.get("reference", "")
    first, second = (grounded(reference, texts.get(role, ""))[0] for role in ("first", "second"))
    choice = "tie" if first == second else "first" if first > second else "second"
    return {"reason": f"{first} : {second}", "choice": choice}


def _quotes(sentence: str, source: str) -> bool:
    """Whether ``sentence`` holds a passage of ``source``, white space aside."""
    letters = "".join(sentence.split())
    return any(letters[at : at + QUOTE_CHARS] in source for at in range(len(letters) - QUOTE_CHARS + 1))
