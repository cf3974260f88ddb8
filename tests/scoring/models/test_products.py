"""Products of a layer equal PyTorch's linear modules, fused or not."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from scoring.models import products
from scoring.models.kernel import amx
from scoring.models.kernel.linear import AmxLinear
from scoring.models.precision import exact_inference
from scoring.models.products import Linear, OneDnnLinear, fastest_linear, is_exact_gelu, linear
from tests.paths import ROOT

ACTIVATIONS = {
    "none": None,
    "gelu": nn.GELU(),
    "gelu by tanh": nn.GELU(approximate="tanh"),
    "relu": nn.ReLU(),
}


@pytest.fixture(params=[AmxLinear, OneDnnLinear, Linear])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[Linear]:
    """Who multiplies, also where ``linear`` chooses."""
    chosen: type[Linear] = request.param
    if chosen is AmxLinear and amx.kernel() is None:
        pytest.skip("no tile units here")
    if chosen is OneDnnLinear and not torch.backends.mkldnn.is_available():
        pytest.skip("this processor has no oneDNN")
    monkeypatch.setattr(products, "fastest_linear", lambda *_: chosen)
    return chosen


def linears(*outputs: int) -> list[nn.Linear]:
    torch.manual_seed(2)
    return [nn.Linear(40, size) for size in outputs]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_a_product_is_the_linear_module_and_its_activation(way, name, rows):
    (module,), states = linears(24), torch.randn(rows, 40)
    activation = ACTIVATIONS[name]
    with exact_inference():
        plain = module(states)
        expected = plain if activation is None else activation(plain)
        assert torch.allclose(way(module.weight.data, module.bias.data, activation)(states), expected, atol=2e-6)


@pytest.mark.usefixtures("way")
def test_modules_one_below_the_other_are_one_product():
    modules, states = linears(8, 16), torch.randn(5, 40)
    with exact_inference():
        expected = torch.cat([module(states) for module in modules], dim=-1)
        assert torch.allclose(linear(*modules)(states), expected, atol=2e-6)


@pytest.mark.usefixtures("way")
def test_what_came_before_is_added_and_stays_as_it_was():
    (module,), states, before = linears(12), torch.randn(5, 40), torch.randn(5, 12)
    kept = before.clone()
    with exact_inference():
        expected = module(states) + before
        assert torch.allclose(linear(module).added_to(states, before), expected, atol=2e-6)
    assert torch.equal(before, kept)


def test_half_formats_are_left_to_pytorch():
    (module,) = linears(24)
    module.to(torch.bfloat16)
    weight, bias = module.weight.data, module.bias.data
    states = torch.randn(3, 40).to(torch.bfloat16)
    with exact_inference():
        assert torch.equal(linear(module)(states), functional.linear(states, weight, bias))
    for device, dtype in [("cpu", torch.bfloat16), ("cpu", torch.float16), ("cuda", torch.float32)]:
        assert fastest_linear(device, dtype) is Linear


def test_the_tile_units_come_before_onednn(monkeypatch):
    monkeypatch.setattr(amx, "kernel", object)
    assert fastest_linear("cpu", torch.float32) is AmxLinear
    monkeypatch.setattr(amx, "kernel", lambda: None)
    assert fastest_linear("cpu", torch.float32) is (OneDnnLinear if torch.backends.mkldnn.is_available() else Linear)


@pytest.mark.usefixtures("way")
def test_weights_do_not_stand_in_memory_twice():
    modules = linears(8, 16)
    linear(*modules)
    assert all(module.weight.numel() == 0 for module in modules)


def test_only_gelu_by_the_error_function_is_taken_for_gelu():
    assert is_exact_gelu(nn.GELU())
    assert is_exact_gelu(functional.gelu)
    assert not is_exact_gelu(nn.GELU(approximate="tanh"))
    assert not is_exact_gelu(nn.ReLU())


def test_the_folder_of_the_kernel_can_be_deleted_with_one_line():
    kernel = ROOT / "scoring" / "models" / "kernel"
    sources = [path for path in (ROOT / "scoring").rglob("*.py") if kernel not in path.parents]
    lines = [line for path in sources for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line.split("#")[0].strip() for line in lines if "import" in line and "models.kernel" in line] == [
        "import scoring.models.kernel"
    ]


def test_without_the_kernel_onednn_multiplies(monkeypatch):
    monkeypatch.setattr(products, "LINEARS", [kind for kind in products.LINEARS if kind is not AmxLinear])
    assert fastest_linear("cpu", torch.float32).name in ("onednn", "torch")
