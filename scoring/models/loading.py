"""Loads tokenizers and models from a folder with transformers, completely or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from transformers.utils import import_utils

from scoring.errors import Message, ModelUnavailable, WordedError
from scoring.models.files import ModelDamaged

# Where they are installed, transformers imports them for decoding and for finding objects in images, which nothing here
# does: a second and a half, and 70 MB of every process that scores. Every use of transformers here comes after this.
for _unused in ("sklearn", "scipy"):
    setattr(import_utils, f"_{_unused}_available", False)


# While transformers makes a model, torch's functions for making tensors are other ones, in all threads: a second model
# made meanwhile has no weights.
_one_at_a_time: Final = threading.Lock()


class TooFewLayers(WordedError, ModelUnavailable):
    """The profile asks for a layer that the model does not have."""

    code: ClassVar[str] = "too_few_layers"
    words: ClassVar[Message] = Message(
        "프로필의 num_layers가 {wanted}인데 모델에는 층이 {has}개뿐입니다: {folder}. 프로필의 num_layers를 고치세요.",
        "The profile asks for num_layers = {wanted}, but the model has {has} layers: {folder}. Mend num_layers.",
    )


def load_tokenizer(loader: Any, folder: Path, **options: Any) -> Any:
    """The tokenizer in ``folder``. Raises ``ModelDamaged`` if its files are missing or do not parse."""
    try:
        with quiet_transformers():  # bleurt-pytorch tries one class after the other and each complains
            tokenizer = loader.from_pretrained(folder, local_files_only=True, **options)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ModelDamaged(folder=str(folder), what=f"tokenizer: {error}") from error
    # Said of every text that is longer than the model reads, as if it were not cut before the model.
    tokenizer.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return tokenizer


def load_pretrained(loader: Any, folder: Path, config: Any, optional: Iterable[str], **options: Any) -> Any:
    """A model in float32, ready for inference, with every weight from its file.

    transformers fills weights missing from a file with random numbers and only logs it; here that raises
    ``ModelDamaged``. ``optional`` are prefixes of names that may be missing, because they are unused or not trained.
    ``options`` are those of the model.
    """
    import torch
    from safetensors import SafetensorError

    try:
        with _one_at_a_time, quiet_transformers():  # weights of the layers left out would be reported as unused
            model, info = loader.from_pretrained(
                folder, config=config, dtype=torch.float32, local_files_only=True, output_loading_info=True, **options
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelDamaged(folder=str(folder), what=str(error)) from error
    missing = [name for name in info["missing_keys"] if not name.startswith(tuple(optional))]
    if missing or info["mismatched_keys"]:
        raise ModelDamaged(folder=str(folder), what=", ".join([*missing, *map(str, info["mismatched_keys"])][:3]))
    for parameter in model.parameters():
        # A safetensors file is mapped into memory with any alignment. The last bit of a matrix product depends on the
        # alignment of its operands; with a copy, values do not depend on the file format of the weights.
        parameter.data = parameter.data.clone()
    return model.eval()


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Only errors of transformers are logged inside."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
