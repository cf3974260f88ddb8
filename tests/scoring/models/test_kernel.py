"""Float32 products on tile units: as exact as float32, the same for a row whatever stands beside it, or not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading

import pytest
import torch
from torch.nn import functional

from scoring.models.kernel import amx

HAS_UNITS = all(torch.cpu.get_capabilities().get(name) for name in amx.NEEDED)
HAS_COMPILER = shutil.which(os.environ.get("CC") or "cc") is not None

needs_kernel = pytest.mark.skipif(amx.kernel() is None, reason="no tile units, or no compiler")

# rows, inputs, outputs: one of each, odd ones, several blocks of inputs and strips of rows, and what layers have
SHAPES = [
    (1, 1, 1),
    (1, 768, 768),
    (5, 40, 24),
    (16, 32, 16),
    (17, 33, 31),
    (33, 100, 50),
    (129, 1000, 70),
    (300, 1600, 300),
    (260, 768, 2304),
    (64, 3072, 768),
]


@pytest.fixture
def _fresh():
    """The kernel is looked for anew in the test, and again after it."""
    amx.kernel.cache_clear()
    yield
    amx.kernel.cache_clear()


def normal(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def units() -> amx.Kernel:
    found = amx.kernel()
    assert found is not None
    return found


@pytest.mark.skipif(not (HAS_UNITS and HAS_COMPILER), reason="no tile units, or no compiler")
def test_a_machine_with_units_and_a_compiler_has_the_kernel():
    assert amx.kernel() is not None


@pytest.mark.skipif(not HAS_UNITS or shutil.which("gcc") is None, reason="no tile units, or no gcc")
def test_the_source_compiles_without_a_warning(monkeypatch):
    monkeypatch.setenv("CC", "gcc -std=gnu11 -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror")
    amx.compiled()


@needs_kernel
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e15])
def test_products_are_as_near_to_the_exact_ones_as_those_of_pytorch(shape, scale):
    rows, inputs, outputs = shape
    states, weight = normal(rows, inputs) * scale, normal(outputs, inputs, seed=2)
    bias = normal(outputs, seed=3) * scale
    exact = functional.linear(states.double(), weight.double(), bias.double())
    size = functional.linear(states.double().abs(), weight.double().abs(), bias.double().abs())
    error = (units().product(states, units().split(weight), bias) - exact).abs()
    theirs = (functional.linear(states, weight, bias) - exact).abs()
    assert (error <= size * 2e-7).all()  # each number within a few roundings of float32
    assert error.mean() <= max(1.2 * theirs.mean(), 2e-8 * size.mean())  # of one row PyTorch sums in more parts


@needs_kernel
@pytest.mark.parametrize("shape", SHAPES)
def test_what_follows_is_done_in_order_addition_then_gelu(shape):
    rows, inputs, outputs = shape
    states, weight, bias, before = (
        normal(rows, inputs),
        normal(outputs, inputs, seed=2),
        normal(outputs, seed=3),
        normal(rows, outputs, seed=4),
    )
    tiles, kept = units().split(weight), before.clone()
    sums = functional.linear(states.double(), weight.double(), bias.double()) + before
    size = functional.linear(states.double().abs(), weight.double().abs(), bias.double().abs()) + before.abs()
    assert ((units().product(states, tiles, bias, before) - sums).abs() <= size * 2e-7).all()
    found = units().product(states, tiles, bias, before, gelu=True)
    assert ((found - functional.gelu(sums)).abs() <= size * 3e-7 + 1e-7).all()
    assert torch.equal(before, kept)


@needs_kernel
def test_gelu_is_that_of_pytorch_over_all_numbers():
    tiles, bias = units().split(torch.ones(1, 1)), torch.zeros(1)

    def gelu(numbers: torch.Tensor) -> torch.Tensor:
        return units().product(numbers[:, None], tiles, bias, gelu=True)[:, 0]

    numbers = torch.linspace(-8, 8, 160_001)
    exact = functional.gelu(numbers.double())
    assert (gelu(numbers) - exact).abs().max() <= (functional.gelu(numbers) - exact).abs().max()
    edges = torch.tensor([-1e30, -50.0, -6.0, 0.0, 1e-30, 5.9999995, 6.0, 50.0, 1e30, float("inf"), float("nan")])
    assert torch.allclose(gelu(edges), functional.gelu(edges), rtol=2e-7, atol=1e-8, equal_nan=True)


def test_polynomials_follow_the_normal_distribution():
    terms = amx.gelu_terms().double()
    at = torch.linspace(0, amx.GELU_END, 5001, dtype=torch.float64)[:-1]
    piece = (at * amx.GELU_PIECES / amx.GELU_END).long()
    within = at * amx.GELU_PIECES / amx.GELU_END - piece
    found = sum(terms[term, piece] * within ** (amx.GELU_TERMS - 1 - term) for term in range(amx.GELU_TERMS))
    assert (found - torch.special.ndtr(at)).abs().max() < 5e-8


@needs_kernel
def test_a_row_does_not_depend_on_the_others_their_number_or_the_threads():
    states, tiles, bias = normal(300, 1600), units().split(normal(300, 1600, seed=2)), normal(300, seed=3)
    whole = units().product(states, tiles, bias)
    threads = torch.get_num_threads()
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            assert torch.equal(units().product(states, tiles, bias), whole)
    finally:
        torch.set_num_threads(threads)
    for rows in (slice(0, 1), slice(17, 150), slice(299, 300)):
        assert torch.equal(units().product(states[rows], tiles, bias), whole[rows])
    assert torch.equal(units().product(states.flip(0), tiles, bias).flip(0), whole)


@needs_kernel
def test_no_number_stays_in_its_row():
    states, tiles, bias = normal(40, 64), units().split(normal(20, 64, seed=2)), normal(20, seed=3)
    fine = units().product(states, tiles, bias)
    states[3, 5], states[20, 63] = float("nan"), float("inf")
    found = units().product(states, tiles, bias)
    others = [row for row in range(40) if row not in (3, 20)]
    assert not found[[3, 20]].isfinite().any()
    assert torch.equal(found[others], fine[others])


@needs_kernel
def test_states_need_not_lie_in_one_piece_and_may_be_none():
    wide, tiles, bias = normal(9, 80), units().split(normal(20, 40, seed=2)), normal(20, seed=3)
    assert torch.equal(
        units().product(wide[:, 40:], tiles, bias), units().product(wide[:, 40:].contiguous(), tiles, bias)
    )
    assert torch.equal(units().split(normal(40, 20, seed=5).T), units().split(normal(40, 20, seed=5).T.contiguous()))
    assert units().product(wide[:0, 40:], tiles, bias).shape == (0, 20)


@needs_kernel
def test_what_does_not_belong_together_is_refused_and_not_read_beyond_its_end():
    states, tiles, bias = normal(4, 40), units().split(normal(20, 40)), normal(20)
    for wrong in (
        lambda: units().product(normal(4, 80), tiles, bias),
        lambda: units().product(states, tiles, normal(70)),
        lambda: units().product(states, tiles, bias, before=normal(3, 20)),
        lambda: units().product(states.double(), tiles, bias),
        lambda: units().product(states, tiles, bias.bfloat16()),
        lambda: units().product(states, tiles, bias, before=normal(4, 20).double()),
    ):
        with pytest.raises(ValueError):
            wrong()


@needs_kernel
def test_without_memory_a_product_says_so(monkeypatch):
    monkeypatch.setattr(units(), "_product", lambda *_: 1)
    with pytest.raises(MemoryError, match="4 rows"):
        units().product(normal(4, 40), units().split(normal(20, 40)), normal(20))


@needs_kernel
def test_threads_multiply_at_once():
    states, tiles, bias = normal(200, 768), units().split(normal(768, 768, seed=2)), normal(768, seed=3)
    whole = units().product(states, tiles, bias)
    same: list[bool] = []

    def multiply() -> None:
        for _ in range(20):
            same.append(torch.equal(units().product(states, tiles, bias), whole))

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 80


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("compiler", ["false", "no-such-compiler --option", "'gcc"])
def test_without_a_compiler_there_is_no_kernel_and_the_log_says_why(monkeypatch, caplog, compiler):
    monkeypatch.setenv("CC", compiler)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(amx.NEEDED, True))
    assert amx.kernel() is None
    assert "AMX units are not used" in caplog.text
    assert "CC may name it" in caplog.text
    assert (compiler.split()[0] in caplog.text) or "No closing quotation" in caplog.text


def test_the_log_names_the_error_that_the_compiler_named():
    said = "a.c: In function 'f':\na.c:1:2: error: unknown type\na.c:3: note: more\n"
    assert amx.reason(subprocess.CalledProcessError(1, ["cc"], stderr=said)) == "a.c:1:2: error: unknown type"


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("missing", amx.NEEDED)
def test_a_processor_without_one_of_the_units_has_no_kernel(monkeypatch, missing):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {name: name != missing for name in amx.NEEDED})
    monkeypatch.setattr(amx, "compiled", lambda: pytest.fail("compiled for a processor that cannot run it"))
    assert amx.kernel() is None


@pytest.mark.usefixtures("_fresh")
def test_a_kernel_without_leave_or_with_other_values_is_not_trusted(monkeypatch, caplog):
    class Fake:
        def __init__(self, granted: bool) -> None:
            self.has_tiles = lambda: granted
            self.split = lambda weight: weight

        def product(self, states, weight, bias, before=None, gelu=False):
            sums = functional.linear(states, weight.bfloat16().float(), bias)
            sums = sums if before is None else sums + before
            return functional.gelu(sums) if gelu else sums

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(amx.NEEDED, True))
    for granted, why in ((False, "does not grant"), (True, "not those of PyTorch")):
        amx.kernel.cache_clear()
        monkeypatch.setattr(amx, "compiled", lambda granted=granted: Fake(granted))
        assert amx.kernel() is None
        assert why in caplog.text
