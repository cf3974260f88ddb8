"""Texts and files for the tests of the instrument: made in memory, the same in every run."""

import hashlib
import json
import random
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from scoring.records import Item, Items

GOLDEN = json.loads((Path(__file__).parent / "golden_contest.json").read_text(encoding="utf-8"))

WORDS = tuple(
    re.findall(
        r"\S+",
        """
        그는 밤새 책을 읽었대 안개가 걷히자 산이 보였다 두 사람은 금실이 좋다 한글 맞춤법 제1항을 받침 있는 어간 뒤에는
        명사형 어미 결합한다 오랜만에 만났다 웬만하면 가자 짜장면 자장면 Wi-Fi 5GHz 대역을 쓴다 수와 단위는 띄어 쓰는
        것이 원칙이다 다만, 숫자와 어울려 쓰이는 경우에는 붙여 쓸 수 있다. '-대'는 “인용” 漢字 😀 ㅋㅋㅋ ABC abc 2026년
        3.14% 않았다 안 되 돼
        """,
    )
)


def sentence(source: random.Random, longest: int = 25) -> str:
    """Up to ``longest`` random words, now and then on several lines; sometimes none."""
    words = [source.choice(WORDS) for _ in range(source.randint(0, longest))]
    return "".join(word + source.choice(["  ", "\n"] if source.random() < 0.1 else [" "]) for word in words)


def random_pairs(count: int, seed: int = 20261120) -> list[tuple[str, str]]:
    """(reference, candidate) pairs that share words: candidates are shuffled, cut or unrelated references."""
    source = random.Random(seed)
    pairs = []
    for _ in range(count):
        reference = sentence(source)
        words = reference.split(" ")
        source.shuffle(words)
        cut = " ".join(words[: source.randint(0, len(words))])
        pairs.append((reference, source.choice([cut, sentence(source), reference, cut + " " + sentence(source, 5)])))
    return pairs


def answer_file(rows: Iterable[tuple[str, str] | tuple[str, str, str]]) -> Items:
    """A validated file of (id, text[, question type]) rows."""
    answers = tuple(
        Item(
            id=row[0],
            text=(text := unicodedata.normalize("NFC", row[1])),
            line=line,
            question_type=(*row, None)[2],
            raw=(row[1],) if text != row[1] else (),
        )
        for line, row in enumerate(rows, start=1)
    )
    digest = hashlib.sha256(repr(answers).encode()).hexdigest()
    return Items(items=answers, format="json-array", sha256=digest)


def contest_json(rows: Iterable[tuple[str, str] | tuple[str, str, str]]) -> str:
    """(id, text[, question type]) rows in the official JSON format."""
    items = [
        {
            "id": row[0],
            "input": {"question_type": (*row, "선택형")[2], "question": "옳은 것을 고르고 이유를 쓰세요."},
            "output": {"answer": row[1]},
        }
        for row in rows
    ]
    return json.dumps(items, ensure_ascii=False)
