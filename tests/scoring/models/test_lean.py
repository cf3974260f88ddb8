"""A process that only scores has not imported torch's compiler, has the numbers of one that has, and can get at it."""

from __future__ import annotations

import json
import subprocess
import sys

from scoring.metrics import load_metric
from scoring.models.store import ModelStore
from tests.paths import ROOT

PAIRS = (["말은 쉽다.", "가"], ["말이 쉽다.", "나 다"])
METRICS = ("bertscore", "bleurt")
LEAN = """
import json, sys
from scoring.metrics import load_metric
from scoring.models.store import ModelStore, import_libraries

def heavy():
    return [name for name in ("sympy", "torch._dynamo", "torch.distributed.tensor") if name in sys.modules]

import_libraries()
pairs, names = json.load(sys.stdin)
store = ModelStore(sys.argv[1], "cpu")
values = [load_metric(name, store).score_pairs(*pairs) for name in names]
while_scoring = heavy()

import torch
from transformers.masking_utils import TransformGetItemToIndex
with TransformGetItemToIndex():
    row = torch.vmap(lambda at: torch.arange(3)[at])(torch.tensor([2, 0])).tolist()
print(json.dumps([values, while_scoring, row, torch._dynamo.__file__ is not None, torch.distributed.is_available()]))
"""


def test_a_process_that_scores_imports_no_compiler_and_has_the_same_numbers(profile: str) -> None:
    command = [sys.executable, "-c", LEAN, str(profile)]
    given = json.dumps([PAIRS, METRICS])
    ran = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    values, while_scoring, row, has_compiler, is_distributed = json.loads(ran.stdout)
    assert while_scoring == []
    store = ModelStore(profile, "cpu")
    for name, there in zip(METRICS, values, strict=True):
        here = load_metric(name, store).score_pairs(*PAIRS)
        assert max(abs(one - other) for one, other in zip(here, there, strict=True)) < 1e-6, name
    assert row == [2, 0]  # as architectures make masks that need the compiler's index
    assert has_compiler
    assert is_distributed
