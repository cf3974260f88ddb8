"""Matrix products of a layer: ``x @ weight.T + bias``, with what follows done in the same pass where that is possible.

On a processor the bias is added and GELU applied, or the layer's input added, while a block of the result is still in
the cache: a tenth of the time of a layer. Weights are kept once, in the order in which the kernels read them. The tile
units multiply where there are some (``amx``), else oneDNN by the operators that torch.compile puts into its own code
for processors; torch is pinned. On GPUs, and in half formats, the product is PyTorch's linear one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from scoring.models.kernel import amx

Activation = Callable[[torch.Tensor], torch.Tensor]


class Product:
    """One product, by PyTorch: ``weight`` (outputs, inputs), ``bias`` (outputs,), and what is applied to the result."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, activation: Activation | None = None) -> None:
        self.dtype, self.device = weight.dtype, weight.device
        self.inputs = weight.shape[1]
        self._activation = activation
        self._weight = self._laid_out(weight)
        self._bias = bias

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """(tokens, outputs), after the activation if there is one."""
        product = self._linear(states)
        return product if self._activation is None else self._activation(product)

    def added_to(self, states: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """The product, without an activation, plus ``before``; both are (tokens, outputs)."""
        return self._linear(states) + before

    def _laid_out(self, weight: torch.Tensor) -> torch.Tensor:
        return weight

    def _linear(self, states: torch.Tensor) -> torch.Tensor:
        return functional.linear(states, self._weight, self._bias)


class FusedProduct(Product):
    """A product on a processor that applies GELU itself."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, activation: Activation | None = None) -> None:
        super().__init__(weight, bias, activation)
        self._is_gelu = activation is not None and is_exact_gelu(activation)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        return self._gelu(states) if self._is_gelu else super().__call__(states)

    def _gelu(self, states: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


class OneDnnProduct(FusedProduct):
    """By oneDNN."""

    def added_to(self, states: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        operator = torch.ops.mkldnn._linear_pointwise.binary
        added: torch.Tensor = operator(states, before, self._weight, self._bias, "add")
        return added

    def _laid_out(self, weight: torch.Tensor) -> torch.Tensor:
        ordered: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
        return ordered

    def _linear(self, states: torch.Tensor) -> torch.Tensor:
        return self._pointwise(states, "none", None)

    def _gelu(self, states: torch.Tensor) -> torch.Tensor:
        return self._pointwise(states, "gelu", "none")

    def _pointwise(self, states: torch.Tensor, name: str, algorithm: str | None) -> torch.Tensor:
        operator = torch.ops.mkldnn._linear_pointwise
        product: torch.Tensor = operator(states, self._weight, self._bias, name, [], algorithm)
        return product


class AmxProduct(FusedProduct):
    """By the tile units."""

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


def product_of(*modules: Any, activation: Activation | None = None) -> Product:
    """One product of linear modules that read the same states, one below the other. Their own weights are given up."""
    weight, bias = (_joined([getattr(module, name) for module in modules]) for name in ("weight", "bias"))
    return fastest_product(weight.device.type, weight.dtype)(weight, bias, activation)


def fastest_product(device: str, dtype: torch.dtype) -> type[Product]:
    """Who multiplies matrices of ``dtype`` on ``device``."""
    if device != "cpu" or dtype is not torch.float32:
        return Product
    if amx.kernel() is not None:
        return AmxProduct
    return OneDnnProduct if torch.backends.mkldnn.is_available() else Product


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
