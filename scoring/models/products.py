"""Matrix products of a layer: ``x @ weight.T + bias``, with the next step in the same pass if possible.

On a processor the bias is added and GELU applied, or the layer's input added, while a block of the result is still in
the cache: this saves a tenth of the time of a layer. Weights are stored once, in the order in which the kernels read
them. oneDNN multiplies, with the operators that torch.compile uses for processors (torch is pinned), unless a faster
kernel is registered. On GPUs, and in half formats, PyTorch's linear is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import torch
from torch.nn import functional

Activation = Callable[[torch.Tensor], torch.Tensor]


class Linear:
    """One product, by PyTorch: ``weight`` (outputs, inputs), ``bias`` (outputs,), and the activation."""

    name: ClassVar[str] = "torch"  # as reports name the kernel

    @classmethod
    def can_run(cls, device: str, dtype: torch.dtype) -> bool:
        """Whether this class can multiply matrices of ``dtype`` on ``device``."""
        return True

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


class FusedLinear(Linear):
    """A product on a processor that applies GELU itself."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, activation: Activation | None = None) -> None:
        super().__init__(weight, bias, activation)
        self._is_gelu = activation is not None and is_exact_gelu(activation)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        return self._gelu(states) if self._is_gelu else super().__call__(states)

    def _gelu(self, states: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


class OneDnnLinear(FusedLinear):
    """By oneDNN."""

    name = "onednn"

    @classmethod
    def can_run(cls, device: str, dtype: torch.dtype) -> bool:
        return device == "cpu" and dtype is torch.float32 and torch.backends.mkldnn.is_available()

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


# The fastest first; ``scoring.models.kernel`` puts itself before all others.
LINEARS: Final[list[type[Linear]]] = [OneDnnLinear, Linear]


def linear(*modules: Any, activation: Activation | None = None) -> Linear:
    """One product for linear modules with the same input, their weights stacked. The modules lose their weights."""
    weight, bias = (_joined([getattr(module, name) for module in modules]) for name in ("weight", "bias"))
    return fastest_linear(weight.device.type, weight.dtype)(weight, bias, activation)


def fastest_linear(device: str, dtype: torch.dtype) -> type[Linear]:
    """The fastest class that multiplies matrices of ``dtype`` on ``device``."""
    return next(kind for kind in LINEARS if kind.can_run(device, dtype))


def is_exact_gelu(activation: Activation) -> bool:
    """Whether ``activation`` is GELU by the error function, as in BERT, and not its approximation by tanh."""
    sample = torch.linspace(-6, 6, 49)
    return torch.equal(activation(sample), functional.gelu(sample))


def _joined(parameters: Sequence[torch.nn.Parameter]) -> torch.Tensor:
    """The parameters stacked; each is freed, so that they are in memory only once."""
    joined = torch.cat([parameter.data for parameter in parameters]) if len(parameters) > 1 else parameters[0].data
    for parameter in parameters:
        parameter.data = torch.empty(0)
    return joined
