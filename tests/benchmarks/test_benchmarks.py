"""Every benchmark runs in its quick form, measures what it says, and agrees with what it is compared with."""

from __future__ import annotations

import json
import re
import statistics
import sys
from importlib import import_module
from subprocess import CalledProcessError

import pytest

from tests.benchmarks import __main__ as program
from tests.benchmarks import bench_bertscore, bench_bleurt, bench_curve, bench_fluency, bench_gpu, bench_run
from tests.benchmarks.contest import Shape, submissions
from tests.benchmarks.results import save_section
from tests.benchmarks.tables import Row, comparison_table, deviation, interleaved, markdown_table
from tests.scoring.tiny_models import one_thread

QUICK = ["--quick", "--rounds", "1"]


def test_bleurt_stands_beside_the_readme_loop_and_the_sorted_loop(capsys):
    with one_thread():
        readme, by_length = bench_bleurt.rows(QUICK)
    assert "README loop" in readme.peer
    assert "sorted by length" in by_length.peer
    assert readme.agrees
    assert by_length.agrees
    assert re.fullmatch(r"\d+% of sgemm peak, the loop \d+%", readme.note)
    assert "tokens are padding" in capsys.readouterr().out


def test_bertscore_stands_beside_both_ways_of_the_package():
    with one_thread():
        rows = bench_bertscore.rows(QUICK)
    assert [row.peer for row in rows] == list(bench_bertscore.PEERS.values())
    assert all(row.difference is not None and row.agrees for row in rows)


def test_a_whole_run_is_compared_cold_second_and_again_with_changes():
    with one_thread():
        rows = bench_run.rows(QUICK)
    assert [row.case.split(", ")[-1] for row in rows] == ["cold", "second submission", "re-upload with 10 changes"]
    assert rows[0].difference is not None
    assert rows[0].agrees


def test_changed_answers_are_as_many_as_said():
    (given,) = submissions(100, count=1)
    changed = bench_run.with_changes(given, 10)
    assert sum(one != other for one, other in zip(given.candidates, changed.candidates, strict=True)) == 10


def test_fluency_stands_beside_bertscore_and_a_direct_computation(capsys):
    bench_fluency.show(["--quick", "--items", "8"])
    out = capsys.readouterr().out
    assert "8 captions of" in out
    row = re.search(r"^\| fluency +\| +\d+ \| +[\d.]+ \| +(\S+) \|$", out, re.MULTILINE)
    assert row is not None, out
    assert float(row[1]) <= 1e-5


def test_the_curves_are_printed(capsys, monkeypatch):
    monkeypatch.setattr(bench_curve, "items_row", lambda items, _program: [f"{items}", "0.1", "1.0", "500", "501"])
    with one_thread():
        bench_curve.show(["--quick"])
    out = capsys.readouterr().out
    assert re.search(r"^\| 40 +\| ", out, re.MULTILINE)
    assert re.search(r"ms for 1,000 tokens", out)


def test_the_curve_of_captions_runs(capsys, monkeypatch):
    """In this process, whose Java and libraries are there already."""
    monkeypatch.setattr(sys, "argv", ["-c", "20"])
    exec(compile(bench_curve.CAPTION_RUN, "CAPTION_RUN", "exec"), {})
    took, before, most = json.loads(capsys.readouterr().out)
    assert took > 0
    assert most >= before > 0


def test_a_point_of_a_curve_is_what_a_new_process_says_of_itself():
    program = "import json, sys; print(json.dumps([2, 1024 * len(sys.argv), 1024 * int(sys.argv[1])]))"
    assert bench_curve.items_row(4000, program) == ["4,000", "2.00", "0.50", "2", "4000"]
    with pytest.raises(CalledProcessError):
        bench_curve.items_row(20, "raise SystemExit(1)")


def test_the_gpu_benchmark_runs_the_same_code_on_a_processor(capsys):
    with one_thread():
        bench_gpu.show(["--quick", "--device", "cpu", "--workers", "1"])
    out = capsys.readouterr().out
    for precision in ("fp32", "bf16", "fp16"):
        assert re.search(rf"^\| BLEURT 2 x 64, {precision} +\|", out, re.MULTILINE), out
    for way in bench_gpu.WAYS.values():
        assert re.search(rf"^\| 2 x 64, fp32: {re.escape(way)}", out, re.MULTILINE), out
    assert re.search(r"^\| 1 +\| +\d+ \| +1\.00x \|", out, re.MULTILINE), out


def test_without_a_gpu_the_gpu_benchmark_says_so(capsys, monkeypatch):
    monkeypatch.setattr(bench_gpu.torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as ended:
        bench_gpu.show([])
    assert ended.value.code == 2
    assert "No CUDA device" in capsys.readouterr().err


def test_texts_are_as_long_as_the_contests():
    """A token a character and a word, and three special ones; padding of batches of 64 in the order of the file."""
    (submission,) = submissions(498, count=1)
    tokens = [sum(len(text) + 1 for text in pair) + 3 for pair in submission.pairs]
    batches = [tokens[start : start + 64] for start in range(0, len(tokens), 64)]
    padding = 1 - sum(tokens) / sum(max(batch) * len(batch) for batch in batches)
    assert statistics.mean(tokens) == pytest.approx(135, abs=2)
    assert max(tokens) == pytest.approx(352, abs=4)
    assert padding == pytest.approx(0.58, abs=0.01)


def test_needed_arithmetic_of_a_worked_example():
    """One row of 2 tokens, width 4, no projection: one whole layer, then the products for one token alone."""
    whole = 2 * 2 * (4 * 16 + 2 * 4 * 16) + 4 * 2 * 2 * 4
    last = 2 * (4 * 16 + 2 * 4 * 16) + 4 * 2 * 4
    assert bench_bleurt.needed_flops(Shape(2, 4, 1), [2]) == whole + last


def test_rounds_are_interleaved_and_medians_taken():
    heard: list[str] = []
    ways = {name: lambda name=name: heard.append(name) or name for name in "가나다"}
    measured = interleaved(ways, 3)
    assert "".join(heard) == "가나다나다가다가나"
    assert measured["나"].result == "나"
    assert len(measured["나"].seconds) == 3
    heard.clear()
    interleaved(ways, 2, in_order=True)
    assert "".join(heard) == "가나다가나다"


def test_a_table_shows_ratio_and_deviation():
    table = comparison_table([Row("BLEURT", 2.0, "loop", 9.0, 1e-6), Row("ROUGE", 0.5, "package", 1.0)])
    assert re.search(r"^\| BLEURT \| +2\.0 \| +loop \| +9\.0 \| 4\.50x \| +1\.0e-06 \|", table, re.MULTILINE)
    assert re.search(r"^\| ROUGE  \| +0\.500 \| +package \| +1\.0 \| 2\.00x \|  +\|", table, re.MULTILINE)
    assert markdown_table(("가", "b"), [("x", "1")]).splitlines()[1] == "|---|--:|"


def test_every_benchmark_of_the_program_is_there():
    for names, function in ((program.COMPARISONS, "rows"), (program.SHOWS, "show")):
        assert all(callable(getattr(import_module(f"tests.benchmarks.bench_{name}"), function)) for name in names)


def test_a_value_that_differs_too_much_fails_the_program(monkeypatch, capsys):
    asked: list[list[str]] = []
    comparisons = {
        "one": lambda given: asked.append(list(given)) or [Row("one", 1, "peer", 2, 1e-6)],
        "two": lambda given: asked.append(list(given)) or [Row("two", 1, "peer", 2, 1e-3)],
    }
    monkeypatch.setattr(program, "COMPARISONS", comparisons)
    assert program.main([]) == 1
    assert asked == [[], []]
    assert program.main(["one", "--quick"]) == 0
    assert asked[2:] == [["--quick"]]
    assert program.main(["--quick"]) == 2
    assert "one|two" in capsys.readouterr().err
    assert deviation([1.0, 2.0], [1.5, 2.0]) == 0.5


def test_a_saved_table_replaces_the_one_before(tmp_path):
    path = tmp_path / "RESULTS.md"
    path.write_text("# Measured\n\n<!-- run -->\nold\n<!-- end -->\n\nlast line\n", encoding="utf-8")
    save_section("run", ["--rounds", "3"], "| new \\1 |\n", path)
    save_section("curve", [], "| curve |", path)
    save_section("bleurt", ["--layers", "12", "--rounds", "2"], "| twelve |", path)
    save_section("bleurt", ["--layers", "32"], "| thirty-two |", path)
    save_section("arena", ["--panels", "9", "--parts", "judges"], "| flagged |", path)
    save_section("arena", ["--parts", "speed", "--rounds", "1"], "| fit |", path)
    save_section("arena", ["--parts", "judges"], "| flagged anew |", path)
    save_section("arena", ["--parts", "judges", "speed", "--rounds", "1"], "| flagged, fit |", path)
    text = path.read_text(encoding="utf-8")
    assert "old" not in text
    assert "`python -m tests.benchmarks run --rounds 3`" in text
    assert "| new \\1 |" in text
    assert text.index("last line") < text.index("| curve |") < text.index("| twelve |") < text.index("| thirty-two |")
    assert text.index("| thirty-two |") < text.index("| flagged anew |") < text.index("| fit |")
    assert text.index("| fit |") < text.index("<!-- arena --parts judges speed -->") < text.index("| flagged, fit |")
    assert "| flagged |" not in text
