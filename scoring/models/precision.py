"""The number format of the neural metrics: a recorded choice, never a shortcut taken in silence.

``fp32`` is the default and the format of the packages whose values are reproduced. The others are faster on a GPU, and
``bf16`` on processors with such units, and move scores: BLEURT by up to 2e-2 a pair in bf16 with 12 layers. The
signature names the format, so runs in different ones never rank against each other; ``models verify`` measures by how
much each format moves the models of a profile on the machine at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

import torch

from scoring.errors import Message, ModelUnavailable
from scoring.models.profile import PRECISIONS, WordedError


class PrecisionUnavailable(WordedError, ModelUnavailable):
    """The profile asks for a number format that this device does not have."""

    code: ClassVar[str] = "precision_unavailable"
    words: ClassVar[Message] = Message(
        "이 장치({device})에서는 정밀도 {precision}(으)로 채점할 수 없습니다. 프로필의 precision을 고치거나 "
        "그 형식을 지원하는 장치에서 실행하십시오.",
        "This device ({device}) cannot score in {precision}. Change precision in the profile, or run on a device that "
        "has this format.",
    )


@dataclass(frozen=True, slots=True)
class Precision:
    """``weights`` is the format of weights and activations, ``matmul`` what float32 matrix products may use."""

    name: str
    weights: torch.dtype
    matmul: str
    dtype: str  # as signatures spell it


_PRECISIONS: Final = {
    "fp32": Precision("fp32", torch.float32, "highest", "float32"),
    "tf32": Precision("tf32", torch.float32, "high", "tf32"),
    "bf16": Precision("bf16", torch.bfloat16, "highest", "bfloat16"),
    "fp16": Precision("fp16", torch.float16, "highest", "float16"),
}
FP32: Final = _PRECISIONS["fp32"]


def precision_on(name: str, device: str) -> Precision:
    """The precision called ``name``. Raises ``PrecisionUnavailable`` where ``device`` does not have it.

    TF32 is a mode of NVIDIA's matrix units; a processor would silently compute float32.
    """
    if name not in available_precisions(device):
        raise PrecisionUnavailable(device=device, precision=name)
    return _PRECISIONS[name]


def available_precisions(device: str) -> tuple[str, ...]:
    """Names of the precisions ``device`` ("cpu" or "cuda") computes in, fp32 first."""
    return tuple(name for name in PRECISIONS if name != "tf32" or device == "cuda")


@contextmanager
def exact_inference(precision: Precision = FP32) -> Iterator[None]:
    """Inference without gradients in exactly ``precision``: in fp32 no matrix product takes a shortcut inside."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision.matmul)
    try:
        with torch.no_grad():  # nested tensors of the GPU's attention cannot be made in inference mode
            yield
    finally:
        torch.set_float32_matmul_precision(before)
