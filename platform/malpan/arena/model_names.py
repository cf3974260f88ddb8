"""What teams call their models: by the name that boards show, and by the address where the model is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

# Words that models of anybody are called: a name of nothing else says nothing, and would hide them in every output.
_GENERIC: Final = frozenset(
    {
        *("base", "large", "small", "medium", "mini", "tiny", "nano", "micro", "big", "xl", "xxl", "full", "light"),
        *("model", "models", "baseline", "system", "ensemble", "llm", "slm", "lm", "nlp", "ai"),
        *("instruct", "instruction", "chat", "sft", "dpo", "ppo", "rlhf", "lora", "qlora", "ft", "finetune"),
        *("finetuned", "fine", "tuned", "tune", "tuning", "pretrained", "merged", "quantized", "fp16", "bf16"),
        *("final", "best", "new", "our", "ours", "my", "test", "main", "master", "default", "none", "unknown"),
        *("v", "ver", "version", "release", "ko", "kor", "korean", "en", "english", "the", "of", "for", "and"),
        *(
            "모델",
            "모형",
            "베이스",
            "베이스라인",
            "기본",
            "기준",
            "최종",
            "시험",
            "테스트",
            "우리",
            "없음",
            "미정",
            "한국어",
        ),
    }
)
_WORDS: Final = re.compile(r"\w+")
_FIGURES: Final = re.compile(r"v?\d+[bkm]?")  # versions and sizes
_KINDS_OF_PLACE: Final = frozenset({"models", "datasets", "spaces"})
_OF_REPOSITORIES: Final = ("huggingface.co", "hf.co", "github.com", "gitlab.com", "modelscope.cn", "bitbucket.org")


def telling(name: str) -> bool:
    """Whether ``name`` has a word that not everybody's model is called."""
    plain = unicodedata.normalize("NFKC", name).casefold().replace("_", " ")
    return any(word not in _GENERIC and not _FIGURES.fullmatch(word) for word in _WORDS.findall(plain))


def names_at(address: str) -> Iterator[str]:
    """What the address of a model calls it: the repository with its owner and alone, elsewhere the last part."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return
    places = [unquote(each) for each in parts.path.split("/") if each]
    if places and places[0] in _KINDS_OF_PLACE:
        del places[0]
    if host not in _OF_REPOSITORIES:
        places = places[-1:]
    yield from ("/".join(places[:2]), *places[1:2]) if len(places) > 1 else places


def model_names(name: str, address: str) -> Iterator[str]:
    """The names of a team's model by which it could be told, as far as the team says them."""
    yield from filter(telling, (name, *(each.removesuffix(".git") for each in names_at(address))))
