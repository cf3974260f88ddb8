"""The device on which a score is computed: a processor or a GPU, and which one. torch is imported at the first call."""

from __future__ import annotations

from typing import ClassVar, Literal

from scoring.errors import Message, ScoringFault, WordedError

DeviceName = Literal["auto", "cpu", "cuda"]


class DeviceUnavailable(WordedError, ScoringFault):
    """CUDA was requested by name and is not available."""

    code: ClassVar[str] = "device_unavailable"
    words: ClassVar[Message] = Message(
        "CUDA 장치를 쓸 수 없습니다. 드라이버와 CUDA용 torch를 확인하거나 --device cpu로 실행하십시오.",
        "No CUDA device can be used. Check the driver and the CUDA build of torch, or run with --device cpu.",
    )


def resolve_device(wanted: DeviceName) -> Literal["cpu", "cuda"]:
    """``"cuda"`` if wanted or, for ``"auto"``, if available; else ``"cpu"``. Raises ``DeviceUnavailable``."""
    if wanted == "cpu":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if wanted == "cuda":
        raise DeviceUnavailable
    return "cpu"


def use_gpu(worker: int) -> int | None:
    """If there are several GPUs, let the calling thread compute on that of worker number ``worker``.

    Returns the GPU's number, or ``None`` without a choice. ``CUDA_VISIBLE_DEVICES`` decides which GPUs a process sees.
    """
    import torch

    count = torch.cuda.device_count()
    if count < 2:
        return None
    torch.cuda.set_device(worker % count)
    return worker % count


def gpu_memory(gpu: int) -> tuple[int, int] | None:
    """The bytes in use and in all on GPU number ``gpu``, by whomever; ``None`` where this process uses no GPU."""
    import torch

    if not torch.cuda.is_initialized():
        return None
    free, total = torch.cuda.mem_get_info(gpu)
    return total - free, total
