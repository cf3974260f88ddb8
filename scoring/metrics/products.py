"""Matrix products of a layer: ``x @ weight.T + bias``, with what follows done in the same pass where that is possible.

On a processor oneDNN is given the weights once in the order in which its kernels read them, and adds the bias, applies
GELU or adds the layer's input while a block of the result is still in the cache: a tenth of the time of a layer. These
are the operators that torch.compile puts into its own code for processors; torch is pinned. Elsewhere, and in half
formats, the product is PyTorch's linear one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

Activation = Callable[[torch.Tensor], torch.Tensor]


class Product:
    """One product with the weights of one or more linear modules, one below the other.

    The modules' own weights become views of the joined ones or, where oneDNN has its own copy, are given up: what is
    computed with them from then on is computed here.
    """

    def __init__(self, *modules: Any, activation: Activation | None = None) -> None:
        self._activation = activation
        self._is_gelu = activation is not None and is_exact_gelu(activation)
        self._weight = _one_tensor([module.weight for module in modules])
        self._bias = _one_tensor([module.bias for module in modules])
        self.dtype, self.device = self._weight.dtype, self._weight.device
        self.inputs = self._weight.shape[1]
        self._fused: torch.Tensor | None = None
        if fuses(self.device.type, self.dtype):
            self._fused = torch.ops.mkldnn._reorder_linear_weight(self._weight)
            self._weight = torch.empty(0)
            for module in modules:
                module.weight.data = self._weight

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """(tokens, outputs), after the activation if there is one."""
        if self._fused is None:
            product = functional.linear(states, self._weight, self._bias)
            return product if self._activation is None else self._activation(product)
        if self._activation is None:
            return self._pointwise(states, "none", None)
        if self._is_gelu:
            return self._pointwise(states, "gelu", "none")
        return self._activation(self._pointwise(states, "none", None))

    def added_to(self, states: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """The product plus ``before``, both (tokens, outputs)."""
        if self._fused is None:
            return functional.linear(states, self._weight, self._bias) + before
        added: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(states, before, self._fused, self._bias, "add")
        return added

    def _pointwise(self, states: torch.Tensor, name: str, algorithm: str | None) -> torch.Tensor:
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, self._fused, self._bias, name, [], algorithm)
        return product


def fuses(device: str, dtype: torch.dtype) -> bool:
    """Whether oneDNN multiplies here."""
    return device == "cpu" and dtype is torch.float32 and torch.backends.mkldnn.is_available()


def is_exact_gelu(activation: Activation) -> bool:
    """Whether ``activation`` is GELU by the error function, as BERT has it, and not its approximation by tanh."""
    sample = torch.linspace(-6, 6, 49)
    return torch.equal(activation(sample), functional.gelu(sample))


def _one_tensor(parameters: Sequence[torch.nn.Parameter]) -> torch.Tensor:
    """The parameters one below the other, each made a view of its part, so that the weights stand in memory once."""
    if len(parameters) == 1:
        return parameters[0].data
    joined = torch.cat([parameter.data for parameter in parameters])
    start = 0
    for parameter in parameters:
        stop = start + parameter.shape[0]
        parameter.data = joined[start:stop]
        start = stop
    return joined
