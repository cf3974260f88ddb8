"""A layer's products on the tile units."""

from __future__ import annotations

import torch

from scoring.models.kernel import amx
from scoring.models.products import Activation, FusedLinear


class AmxLinear(FusedLinear):
    """By the tile units."""

    name = "amx"

    @classmethod
    def can_run(cls, device: str, dtype: torch.dtype) -> bool:
        return device == "cpu" and dtype is torch.float32 and amx.kernel() is not None

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, activation: Activation | None = None) -> None:
        kernel = amx.kernel()
        assert kernel is not None, "the tile units cannot be used here"
        self._kernel = kernel
        super().__init__(weight, bias, activation)

    def added_to(self, states: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        return self._kernel.product(states, self._weight, self._bias, before)

    def _laid_out(self, weight: torch.Tensor) -> torch.Tensor:
        return self._kernel.split(weight)

    def _linear(self, states: torch.Tensor) -> torch.Tensor:
        return self._kernel.product(states, self._weight, self._bias)

    def _gelu(self, states: torch.Tensor) -> torch.Tensor:
        return self._kernel.product(states, self._weight, self._bias, gelu=True)
