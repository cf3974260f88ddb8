"""Float32 products on a processor's tile units (Intel AMX): faster than its float32 units, at smaller errors.

The kernel is ``amx_product.c``, which explains the method. It is compiled when a process first needs it (half a second)
by the machine's C compiler, which ``CC`` may name, and compared with PyTorch before it is used. Without such a
processor, a compiler or permission to use the tiles there is no kernel, and oneDNN multiplies.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shlex
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import torch
from torch.nn import functional

logger = logging.getLogger(__name__)

SOURCE: Final = Path(__file__).with_name("amx_product.c")
NEEDED: Final = ("avx512_f", "avx512_bw", "avx512_dq", "avx512_vl", "avx512_bf16", "amx_tile", "amx_bf16")
OPTIONS: Final = (
    "-O3",
    "-fopenmp",
    "-shared",
    "-fPIC",
    *(f"-m{name}" for name in ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16", "amx-tile", "amx-bf16")),
)
COMPILING_SECONDS: Final = 60
# Polynomials of the normal distribution, as the kernel reads them: pieces of 0 to GELU_END, GELU_TERMS for each.
GELU_PIECES: Final = 32
GELU_TERMS: Final = 5
GELU_END: Final = 6.0


class Kernel:
    """The compiled kernel, loaded into this process. Raises ``OSError`` if ``library`` cannot be loaded."""

    def __init__(self, library: Path) -> None:
        loaded = ctypes.CDLL(str(library))
        pointer, count, number = ctypes.c_void_p, ctypes.c_long, ctypes.c_int
        self._request_tiles = loaded.request_tiles
        self._weight_bytes = loaded.weight_bytes
        self._weight_bytes.argtypes, self._weight_bytes.restype = [count] * 2, count
        self._split_weight = loaded.split_weight
        self._split_weight.argtypes, self._split_weight.restype = [pointer, count, count, pointer, number], None
        self._product = loaded.product
        self._product.argtypes = [pointer] * 6 + [count] * 3 + [number]
        self._gelu = gelu_terms()

    def has_tiles(self) -> bool:
        """Request the tile registers; returns whether this process, with its threads and children, may use them."""
        return bool(self._request_tiles() == 0)

    def split(self, weight: torch.Tensor) -> torch.Tensor:
        """``weight``, float32 (outputs, inputs), in three parts of bfloat16 as tiles: six bytes for each weight."""
        weight = weight.contiguous()
        tiles = torch.empty(self._weight_bytes(*weight.shape), dtype=torch.uint8)
        self._split_weight(weight.data_ptr(), *weight.shape, tiles.data_ptr(), torch.get_num_threads())
        return tiles

    def product(
        self,
        states: torch.Tensor,
        tiles: torch.Tensor,
        bias: torch.Tensor,
        before: torch.Tensor | None = None,
        gelu: bool = False,
    ) -> torch.Tensor:
        """``states @ weight.T + bias + before``, then GELU if wanted: (rows, outputs). ``tiles`` is ``split(weight)``.

        All float32 except ``tiles``. Raises ``ValueError`` if shapes do not match: the kernel would read out of bounds.
        Raises ``MemoryError``.
        """
        (rows, inputs), (outputs,) = states.shape, bias.shape
        numbers = (states, bias) if before is None else (states, bias, before)
        if any(part.dtype is not torch.float32 or part.device.type != "cpu" for part in numbers):
            raise ValueError("states, bias and what is added must be float32 on the processor")
        if tiles.numel() != self._weight_bytes(outputs, inputs):
            raise ValueError(f"these are not the tiles of {outputs} x {inputs} weights")
        if before is not None and before.shape != (rows, outputs):
            raise ValueError(f"to a product of shape {(rows, outputs)} nothing of shape {tuple(before.shape)} is added")
        states, bias = states.contiguous(), bias.contiguous()
        before = None if before is None else before.contiguous()
        out = states.new_empty(rows, outputs)
        if rows and self._product(
            states.data_ptr(),
            tiles.data_ptr(),
            bias.data_ptr(),
            None if before is None else before.data_ptr(),
            self._gelu.data_ptr() if gelu else None,
            out.data_ptr(),
            rows,
            outputs,
            inputs,
            torch.get_num_threads(),
        ):
            raise MemoryError(f"no memory for a product of {rows} rows of {inputs} numbers")
        return out


@cache
def kernel() -> Kernel | None:
    """The kernel of this machine, compiled once for each process; ``None`` if it cannot run."""
    has = torch.cpu.get_capabilities()
    if not all(has.get(name) for name in NEEDED):
        return None
    found: Kernel | None
    try:
        found = compiled()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        found, why = None, f"{reason(error)} (needed: a C compiler with OpenMP, such as gcc; CC may name it)"
    else:
        why = reason_not_to_use(found)
    if why:
        logger.warning("The processor's AMX units are not used, scoring is slower than it could be: %s", why)
        return None
    return found


def reason_not_to_use(found: Kernel) -> str:
    """Why ``found`` must not be used; empty if it may."""
    if not found.has_tiles():
        return "the system does not grant the registers"
    return "" if is_exact(found) else "its products are not those of PyTorch"


def compiled() -> Kernel:
    """Compile and load the kernel.

    Raises ``OSError`` without a compiler, ``SubprocessError`` if it fails, ``ValueError`` for an unreadable ``CC``.
    """
    compiler = shlex.split(os.environ.get("CC") or "cc")
    with TemporaryDirectory(prefix="malpan-amx-") as folder:
        library = Path(folder) / "amx_product.so"
        command = [*compiler, *OPTIONS, str(SOURCE), "-o", str(library)]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMPILING_SECONDS)  # noqa: S603
        return Kernel(library)  # once it is loaded, the file is no longer needed


def reason(error: Exception) -> str:
    """One line: the first error that the compiler named, or why it could not be started."""
    output = getattr(error, "stderr", None) or ""
    return next((line for line in output.splitlines() if "error:" in line.lower()), str(error))


def is_exact(found: Kernel) -> bool:
    """Whether ``found`` agrees with PyTorch on a small sample of every kind of product."""
    random = torch.Generator().manual_seed(1)
    states, weight, bias, before = (
        torch.randn(shape, generator=random) for shape in ((65, 1000), (70, 1000), (70,), (65, 70))
    )
    expected = functional.linear(states.double(), weight.double(), bias.double())
    tiles = found.split(weight)
    given = found.product(states, tiles, bias), found.product(states, tiles, bias, before, gelu=True)
    wanted = expected, functional.gelu(expected + before)
    return all(torch.allclose(one, other.float(), atol=1e-4) for one, other in zip(given, wanted, strict=True))


def gelu_terms() -> torch.Tensor:
    """Polynomials of the normal distribution over equal pieces of 0 to ``GELU_END``, the highest term first.

    (terms, pieces), float32; within a piece the argument runs from 0 to 1. Interpolated in float64 at Chebyshev's
    nodes, with an error below 1e-8 before rounding.
    """
    steps = torch.arange(GELU_TERMS, dtype=torch.float64)
    nodes = (torch.cos(torch.pi * (steps + 0.5) / GELU_TERMS) + 1) / 2
    pieces = torch.arange(GELU_PIECES, dtype=torch.float64)
    at = (pieces + nodes[:, None]) * GELU_END / GELU_PIECES
    powers = torch.stack([nodes**power for power in reversed(range(GELU_TERMS))], dim=1)
    terms: torch.Tensor = torch.linalg.solve(powers, torch.special.ndtr(at))
    return terms.float().contiguous()
