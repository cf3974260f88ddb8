"""Batches are cut by padded tokens, and a batch too large for the device is tried again in halves."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
import torch

from scoring.models.batching import (
    CPU_TOKENS,
    LEAST_GPU_TOKENS,
    MOST_GPU_TOKENS,
    DeviceMemoryExhausted,
    TokenBudget,
    chunks,
    default_tokens,
    gpu_tokens,
    pad,
    prefetch,
    run_batches,
)
from scoring.models.precision import exact_inference


def batches_of(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    seen: list[list[int]] = []
    run_batches(lengths, TokenBudget(tokens), lambda batch: seen.append(list(batch)))
    return seen


def test_no_batch_holds_more_padded_tokens_than_the_budget():
    lengths = [7, 3, 50, 12, 12, 1, 33, 8, 8, 21]
    batches = batches_of(lengths, 60)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[index] for index in batch) <= 60 for batch in batches)


def test_longest_rows_come_first_and_equal_rows_keep_their_order():
    assert batches_of([2, 5, 2, 5, 2], 10) == [[1, 3], [0, 2, 4]]


def test_a_row_longer_than_the_budget_is_a_batch_of_its_own():
    assert batches_of([100, 2, 2], 8) == [[0], [1, 2]]


def test_no_rows_need_no_batch():
    assert batches_of([], 8) == []


def test_a_budget_of_no_tokens_is_refused():
    with pytest.raises(ValueError, match="at least one token"):
        TokenBudget(0)


class SmallDevice:
    """A fake model on a device that holds ``capacity`` padded tokens and says so the way CUDA does."""

    def __init__(self, lengths: Sequence[int], capacity: int) -> None:
        self.lengths, self.capacity = lengths, capacity
        self.done: list[int] = []
        self.refused = 0

    def __call__(self, batch: Sequence[int]) -> None:
        if len(batch) * max(self.lengths[index] for index in batch) > self.capacity:
            self.refused += 1
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        self.done += batch


def test_out_of_device_memory_halves_the_budget_and_tries_the_same_rows_again():
    lengths = [10] * 16
    device, budget = SmallDevice(lengths, 40), TokenBudget(160)
    heard: list[int] = []
    run_batches(lengths, budget, device, heard.extend)
    assert device.done == list(range(16))
    assert heard == device.done  # progress hears of no batch that failed
    assert device.refused == 2  # 160 -> 80 -> 40
    assert budget.tokens == 40  # kept for the next submission


def test_the_budget_halves_from_what_was_tried_not_from_an_idle_allowance():
    lengths = [10, 10]
    device, budget = SmallDevice(lengths, 10), TokenBudget(1_000_000)
    run_batches(lengths, budget, device)
    assert device.refused == 1
    assert budget.tokens == 10


def test_a_single_row_that_does_not_fit_is_a_fault_that_says_what_to_do():
    with pytest.raises(DeviceMemoryExhausted) as caught:
        run_batches([30, 5], TokenBudget(64), SmallDevice([30, 5], 20))
    assert "30" in caught.value.message("ko")
    assert "--device cpu" in caught.value.message("en")


def test_other_errors_of_a_model_are_not_taken_for_lack_of_memory():
    calls = 0

    def broken(batch: Sequence[int]) -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("shape mismatch")

    with pytest.raises(RuntimeError, match="shape mismatch"):
        run_batches([1, 1], TokenBudget(8), broken)
    assert calls == 1


def test_rows_are_padded_on_the_right():
    assert pad([[1, 2, 3], [4]], 9).tolist() == [[1, 2, 3], [4, 9, 9]]


def test_inference_is_exact_inside_and_the_former_precision_returns_after_an_error():
    seen: list[object] = []

    def fail_inside() -> None:
        with exact_inference():
            seen.extend([torch.get_float32_matmul_precision(), torch.is_grad_enabled()])
            raise KeyError

    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(KeyError):
            fail_inside()
        assert seen == ["highest", False]
        assert torch.get_float32_matmul_precision() == "medium"
        assert torch.is_grad_enabled()
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_gpus_batches_take_half_its_free_memory_within_bounds():
    assert gpu_tokens(free_bytes=2_000_000_000, bytes_per_token=100_000) == 10_000
    assert gpu_tokens(free_bytes=140_000_000_000, bytes_per_token=100_000) == MOST_GPU_TOKENS
    assert gpu_tokens(free_bytes=1_000, bytes_per_token=100_000) == LEAST_GPU_TOKENS
    assert default_tokens("cpu", 100_000) == CPU_TOKENS


def test_windows_hold_at_most_so_much_and_at_least_one_item():
    assert list(chunks(["가나", "다", "라마바사", "아"], len, 3)) == [["가나", "다"], ["라마바사"], ["아"]]
    assert list(chunks([], len, 3)) == []


def test_the_next_window_is_made_while_one_is_used():
    second_begun, made = threading.Event(), []

    def make(number: int) -> int:
        made.append(number)
        if number == 2:
            second_begun.set()
        return number * 10

    results = prefetch(make, [1, 2, 3])
    assert next(results) == (1, 10)
    assert second_begun.wait(30)
    assert list(results) == [(2, 20), (3, 30)]
    assert made == [1, 2, 3]


def test_what_goes_wrong_ahead_is_raised_where_it_is_used():
    results = prefetch(lambda number: 1 // number, [1, 0, 1])
    assert next(results) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)
