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
    """One product: ``weight`` (outputs, inputs), ``bias`` (outputs,), and what is applied to the result.

    Where oneDNN multiplies, it has a copy of the weights of its own.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, activation: Activation | None = None) -> None:
        self.dtype, self.device = weight.dtype, weight.device
        self.inputs = weight.shape[1]
        self._activation = activation
        self._is_gelu = activation is not None and is_exact_gelu(activation)
        self._is_fused = fuses(weight.device.type, weight.dtype)
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self._is_fused else weight
        self._bias = bias

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """(tokens, outputs), after the activation if there is one."""
        if self._is_fused and self._is_gelu:
            return self._pointwise(states, "gelu", "none")
        product = self._pointwise(states, "none", None) if self._is_fused else self._linear(states)
        return product if self._activation is None else self._activation(product)

    def added_to(self, states: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """The product, without an activation, plus ``before``; both are (tokens, outputs)."""
        if not self._is_fused:
            return self._linear(states) + before
        operator = torch.ops.mkldnn._linear_pointwise.binary
        added: torch.Tensor = operator(states, before, self._weight, self._bias, "add")
        return added

    def _linear(self, states: torch.Tensor) -> torch.Tensor:
        return functional.linear(states, self._weight, self._bias)

    def _pointwise(self, states: torch.Tensor, name: str, algorithm: str | None) -> torch.Tensor:
        operator = torch.ops.mkldnn._linear_pointwise
        product: torch.Tensor = operator(states, self._weight, self._bias, name, [], algorithm)
        return product


def product_of(*modules: Any, activation: Activation | None = None) -> Product:
    """One product of linear modules that read the same states, one below the other. Their own weights are given up."""
    weight, bias = (_joined([getattr(module, name) for module in modules]) for name in ("weight", "bias"))
    return Product(weight, bias, activation)


def fuses(device: str, dtype: torch.dtype) -> bool:
    """Whether oneDNN multiplies here."""
    return device == "cpu" and dtype is torch.float32 and torch.backends.mkldnn.is_available()


def is_exact_gelu(activation: Activation) -> bool:
    """Whether ``activation`` is GELU by the error function, as BERT has it, and not its approximation by tanh."""
    sample = torch.linspace(-6, 6, 49)
    return torch.equal(activation(sample), functional.gelu(sample))


def _joined(parameters: Sequence[torch.nn.Parameter]) -> torch.Tensor:
    """The parameters one below the other, in memory once: each is given up."""
    joined = torch.cat([parameter.data for parameter in parameters]) if len(parameters) > 1 else parameters[0].data
    for parameter in parameters:
        parameter.data = torch.empty(0)
    return joined
