"""Batches are cut by padded tokens, and a batch too large for the device is tried again in halves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from scoring.metrics.batching import DeviceMemoryExhausted, TokenBudget, exact_inference, pad, run_batches


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
            seen.extend([torch.get_float32_matmul_precision(), torch.is_inference_mode_enabled()])
            raise KeyError

    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(KeyError):
            fail_inside()
        assert seen == ["highest", True]
        assert torch.get_float32_matmul_precision() == "medium"
        assert not torch.is_inference_mode_enabled()
    finally:
        torch.set_float32_matmul_precision("highest")
