"""Models made in the test: random weights, real architectures, real tokenizers, saved as the hub's are.

Random weights are as good as learnt ones for parity: both implementations must compute the same function of them. Small
models have theirs spread wider (``SPREAD`` at a width of 32, 0.02 at that of BLEURT-20) so that the values of different
pairs differ clearly.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from scoring.models.demo_weights import vocabulary

SPREAD = 0.12
SENTENCES = (
    "'-대'는 다른 사람이 말한 내용을 간접적으로 전할 때 쓰는 말이다.",
    "'-데'는 자신이 겪은 일을 회상하여 말할 때 쓴다.",
    "사이시옷은 순우리말로 된 합성어에서 뒷말의 첫소리가 된소리로 날 때 받치어 적는다.",
    "'안'은 '아니'의 준말이고 '않'은 '아니하'의 준말이므로 서술어 앞에서는 '안'을 쓴다.",
    "조사는 앞말에 붙여 쓰고, 의존 명사는 앞말과 띄어 쓴다.",
    "어간의 끝소리가 모음일 때에는 '-ㄹ게'로 적으며 된소리로 나더라도 예사소리로 적는다.",
    "'되'와 '어'가 결합하면 '돼'로 줄어들므로 문장 끝에는 '돼'가 옳다.",
    "The quick brown fox jumps over the lazy dog, 1,234.5% of the time.",
)
STRANGE = (
    "",
    " ",
    " \n\t　",
    "다",
    "a",
    "?",
    "ㄱ",
    "\u1100\u1161\u11a8",  # conjoining jamo of 각: NFD
    "한글 맞춤법",
    "cafe\u0301 naïve CAFÉ",
    "한국어と日本語と中文 mixed Русский العربية",
    "😀👍🏽👨‍👩‍👧‍👦 이모지 🇰🇷",
    "줄\n바꿈\r\n셋째\t칸",
    "[SEP] 특수 [CLS] 토큰 [UNK] [MASK] [PAD]",
    "\u200b\ufeff보이지\u00a0않는\u2028글자\u00ad",
    "가" * 150,
    "z" * 150,
    "뷁쀍 됬다 왤케 읃",
    "①②③ ㎏ ½ ﬁ ﾊﾝｸﾞﾙ",
    "“따옴표” ‘작은’ … · 「낫표」 — 줄표~",
)


@contextmanager
def one_thread() -> Iterator[None]:
    """Tiny models gain nothing from a second thread, and on a busy machine each waits for the other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def contest_like(rng: random.Random, sentences: int) -> str:
    """A reason like those of the contest: ``sentences`` sentences about spelling, words varied."""
    words = [rng.choice(SENTENCES).split() for _ in range(sentences)]
    return " ".join(" ".join(rng.sample(part, len(part)) if rng.random() < 0.3 else part) for part in words)


def strange_pairs(count: int = 220, seed: int = 7) -> list[tuple[str, str]]:
    """(reference, candidate) pairs: every strange text in both places, 2,000 characters, and ordinary reasons."""
    rng = random.Random(seed)
    ordinary = [contest_like(rng, rng.randint(1, 4)) for _ in range(60)]
    long = [(contest_like(rng, 60) + "😀")[:2000], "가나다라마바사아자차 " * 200, "a1" * 1000]
    pool = [*STRANGE, *ordinary, *long]
    pairs = [(text, text) for text in (*STRANGE, *long)]
    pairs += [(text, rng.choice(ordinary)) for text in (*STRANGE, *long)]
    pairs += [(rng.choice(ordinary), text) for text in (*STRANGE, *long)]
    while len(pairs) < count:
        pairs.append((rng.choice(pool), rng.choice(pool)))
    return pairs


def make_bert(
    folder: Path,
    *,
    layers: int = 3,
    hidden: int = 32,
    lower_case: bool = False,
    with_length: bool = True,
    seed: int = 1,
) -> Path:
    """A BERT with a WordPiece tokenizer in ``folder``; without ``model_max_length`` unless ``with_length``."""
    from transformers import BertConfig, BertModel, BertTokenizer

    length: dict[str, Any] = {"model_max_length": 512} if with_length else {}
    _save_wordpiece(BertTokenizer, folder, do_lower_case=lower_case, **length)
    torch.manual_seed(1)
    BertModel(BertConfig(**_shape(layers, hidden, len(vocabulary())))).eval().save_pretrained(folder)
    return folder


def make_masked_bert(folder: Path, *, layers: int = 3, hidden: int = 32, pieces: int | None = None) -> Path:
    """A BERT with a head for masked words and the pieces of ``make_bert``; ``pieces`` widens its vocabulary."""
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    _save_wordpiece(BertTokenizer, folder, do_lower_case=False, model_max_length=512)
    torch.manual_seed(3)
    config = BertConfig(**_shape(layers, hidden, pieces or len(vocabulary())))
    BertForMaskedLM(config).eval().save_pretrained(folder)
    return folder


def make_wordpiece_bleurt(folder: Path, *, layers: int = 2, hidden: int = 32, **changes: Any) -> Path:
    """A BLEURT of the first kind (BERT-like, WordPiece)."""
    from bleurt_pytorch.bleurt.tokenization_bleurt_fast import BleurtTokenizerFast

    _save_wordpiece(BleurtTokenizerFast, folder, do_lower_case=True, model_max_length=512)
    return _save_bleurt(folder, **{**_shape(layers, hidden, len(vocabulary())), **changes})


def make_sentencepiece_bleurt(
    folder: Path, *, layers: int = 2, hidden: int = 64, pieces: str = "unigram", **changes: Any
) -> Path:
    """A BLEURT of the second kind (RemBERT-like: SentencePiece, embeddings narrower than the layers)."""
    import sentencepiece
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "training.model"
    rng = random.Random(3)
    with model.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([*SENTENCES, *(contest_like(rng, 2) for _ in range(200))]),
            model_writer=file,
            model_type=pieces,
            vocab_size=400,
            hard_vocab_limit=False,
            num_threads=1,
            minloglevel=2,
            pad_id=0,
            unk_id=1,
            bos_id=-1,
            eos_id=-1,
            pad_piece="[PAD]",
            unk_piece="[UNK]",
            control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        )
    tokenizer = BleurtSPTokenizer(str(model), model_max_length=512)
    tokenizer.save_pretrained(folder)
    model.unlink()
    shape = _shape(layers, hidden, len(tokenizer))
    return _save_bleurt(folder, **{**shape, "embedding_size": hidden // 2, **changes})


def make_clip(folder: Path, *, positions: int = 77, seed: int = 5) -> Path:
    """A CLIP that reads 77 tokens (one a byte of UTF-8) and images of 32 x 32."""
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPTokenizerFast
    from transformers.models.clip.tokenization_clip import bytes_to_unicode

    folder.mkdir(parents=True, exist_ok=True)
    letters = list(bytes_to_unicode().values())
    pieces = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    vocab, merges = folder / "vocab.json", folder / "merges.txt"
    vocab.write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}), encoding="utf-8")
    merges.write_text("#version: 0.2\n", encoding="utf-8")
    CLIPTokenizerFast(str(vocab), str(merges), model_max_length=positions).save_pretrained(folder)
    size = {"height": 32, "width": 32}
    CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=size).save_pretrained(folder)
    last = len(pieces) - 1
    text = {"max_position_embeddings": positions, "bos_token_id": last - 1, "eos_token_id": last, "pad_token_id": last}
    torch.manual_seed(seed)
    config = CLIPConfig(
        text_config=_half() | text | {"vocab_size": len(pieces), "projection_dim": 16},
        vision_config=_half() | {"image_size": 32, "patch_size": 8, "projection_dim": 16},
        projection_dim=16,
    )
    CLIPModel(config).eval().save_pretrained(folder)
    return folder


def make_siglip(folder: Path, *, positions: int = 64, seed: int = 6) -> Path:
    """A SigLIP that reads 64 SentencePiece tokens and images of 32 x 32."""
    import sentencepiece
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(4)
    pieces = folder / "training.model"
    with pieces.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([*SENTENCES, *(contest_like(rng, 2) for _ in range(200))]),
            model_writer=file,
            vocab_size=400,
            hard_vocab_limit=False,
            num_threads=1,
            minloglevel=2,
            unk_id=0,
            eos_id=1,
            bos_id=-1,
        )
    tokenizer = SiglipTokenizer(str(pieces), model_max_length=positions, model_input_names=["input_ids"])
    tokenizer.save_pretrained(folder)
    pieces.unlink()
    SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    torch.manual_seed(seed)
    config = SiglipConfig(
        text_config=_half() | {"vocab_size": len(tokenizer), "max_position_embeddings": positions},
        vision_config=_half() | {"image_size": 32, "patch_size": 8},
    )
    SiglipModel(config).eval().save_pretrained(folder)
    return folder


def write_profile(
    path: Path,
    *,
    bertscore: Path | None = None,
    num_layers: int = 2,
    bleurt: Path | None = None,
    clip: Path | None = None,
) -> Path:
    """A profile file that names the models by paths relative to itself."""
    lines = [f'name = "{path.stem}"']
    if bertscore is not None:
        relative = bertscore.relative_to(path.parent)
        lines += ["[bertscore]", f'model = "{relative}"', 'revision = "test"', f"num_layers = {num_layers}"]
    if bleurt is not None:
        lines += ["[bleurt]", f'model = "{bleurt.relative_to(path.parent)}"', 'revision = "test"']
    if clip is not None:
        lines += ["[clip]", f'model = "{clip.relative_to(path.parent)}"', 'revision = "test"']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write(path: Path, text: str) -> Path:
    """``text`` as the file ``path``, in UTF-8."""
    path.write_text(text, encoding="utf-8")
    return path


def _save_wordpiece(tokenizer: Any, folder: Path, **options: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    vocab = folder / "vocab.txt"
    vocab.write_text("".join(f"{piece}\n" for piece in vocabulary()), encoding="utf-8")
    tokenizer(str(vocab), **options).save_pretrained(folder)


def _save_bleurt(folder: Path, **shape: Any) -> Path:
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification

    torch.manual_seed(2)
    BleurtForSequenceClassification(BleurtConfig(**shape)).eval().save_pretrained(folder)
    return folder


def _half() -> dict[str, Any]:
    """The text half or the image half of a CLIP or SigLIP, small."""
    return {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def _shape(layers: int, hidden: int, vocab_size: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab_size,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": max(1, hidden // 64) if hidden >= 128 else 4,
        "intermediate_size": hidden * 4 if hidden >= 128 else hidden * 2,
        "max_position_embeddings": 512,
        "initializer_range": SPREAD * (32 / hidden) ** 0.5,
    }
