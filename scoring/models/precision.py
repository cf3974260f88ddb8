"""The number format of the neural metrics, which is always recorded.

``fp32`` is the default and the format of the packages whose values are reproduced. The others are faster on a GPU, and
``bf16`` on processors with such units, and change scores: BLEURT by up to 2e-2 for a pair in bf16 with 12 layers. The
signature names the format, so scores in different ones are never ranked together; ``models verify`` measures how much
each format changes the scores of a profile on this machine.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

import torch

from scoring.errors import Message, ModelUnavailable, WordedError
from scoring.models.profile import PRECISIONS


class PrecisionUnavailable(WordedError, ModelUnavailable):
    """The device does not have the profile's number format."""

    code: ClassVar[str] = "precision_unavailable"
    words: ClassVar[Message] = Message(
        "이 장치({device})에서는 정밀도 {precision}(으)로 채점할 수 없습니다. 프로필의 precision을 고치거나 "
        "그 형식을 지원하는 장치에서 실행하십시오.",
        "This device ({device}) cannot score in {precision}. Change precision in the profile, or run on a device that "
        "has this format.",
    )


@dataclass(frozen=True, slots=True)
class Precision:
    """``weights`` is the format of weights and activations, ``matmul`` the precision of float32 matrix products."""

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
    """The precision called ``name``. Raises ``PrecisionUnavailable`` if ``device`` does not have it.

    TF32 is a mode of NVIDIA's matrix units; a processor would silently compute float32.
    """
    if name not in available_precisions(device):
        raise PrecisionUnavailable(device=device, precision=name)
    return _PRECISIONS[name]


def available_precisions(device: str) -> tuple[str, ...]:
    """Names of the precisions ``device`` ("cpu" or "cuda") computes in, fp32 first."""
    return tuple(name for name in PRECISIONS if name != "tf32" or device == "cuda")


class _Settings:
    """PyTorch's settings for float32 arithmetic. They are global, so threads that need different ones take turns.

    The first thread saves the previous setting and the last one restores it. While a thread waits for another setting
    no new thread enters: it waits for one forward pass, not for a whole scoring.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside, self._current = 0, ""
        self._waiting: Counter[str] = Counter()
        self._held = threading.local()
        self._before = ExitStack()

    @contextmanager
    def hold(self, matmul: str) -> Iterator[None]:
        """Inside, float32 products use ``matmul``, whatever other threads need."""
        held = getattr(self._held, "matmul", None)
        if held is not None:  # this thread is inside already and must not wait for itself
            if held != matmul:
                raise RuntimeError(f"a pass in '{held}' cannot hold one in '{matmul}'")
            yield
            return
        self._enter(matmul)
        self._held.matmul = matmul
        try:
            yield
        finally:
            self._held.matmul = None
            self._leave()

    def _enter(self, matmul: str) -> None:
        with self._changed:
            self._waiting[matmul] += 1
            self._changed.wait_for(lambda: self._may_enter(matmul))
            self._waiting[matmul] -= 1
            if not self._inside:
                self._set(matmul)
            self._inside += 1

    def _may_enter(self, matmul: str) -> bool:
        others_wait = any(count for name, count in self._waiting.items() if name != matmul)
        return not self._inside or (self._current == matmul and not others_wait)

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            if not self._inside:
                self._before.close()
            self._changed.notify_all()

    def _set(self, matmul: str) -> None:
        """Convolutions (CLIP cuts an image into patches by one) are true float32 in every precision."""
        self._current = matmul
        self._before.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        torch.set_float32_matmul_precision(matmul)
        flags = torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)
        self._before.enter_context(flags)


_settings: Final = _Settings()


@contextmanager
def exact_inference(precision: Precision = FP32) -> Iterator[None]:
    """One forward pass without gradients in exactly ``precision``: in fp32 no product inside is less exact."""
    with _settings.hold(precision.matmul), torch.no_grad():
        yield
