"""The benchmark of ranks in its short form: its tables, and that a board of truth is read as one."""

from tests.benchmarks import bench_ranks


def test_all_tables_are_printed(capsys):
    sizes = ["--boards", "2", "--trials", "50", "--teams", "3", "--items", "20", "--processes", "1"]
    bench_ranks.show(sizes)
    printed = capsys.readouterr().out
    for word in ("10 equal teams", "20 teams, 1,000 items", "captions: 3 teams", "contest: 18 teams", "153"):
        assert word in printed


def test_a_separation_against_the_truth_is_counted(monkeypatch):
    kind = bench_ranks.Kind("far apart", 3, 100, 6.0)
    assert bench_ranks.judged(kind, 200, 1) == {"wrong": False, "bands": 3, "held": 1.0}
    given, truth = bench_ranks.entrants_of(kind, 1)
    turned = {name: -skill for name, skill in truth.items()}
    monkeypatch.setattr(bench_ranks, "entrants_of", lambda *_: (given, turned))
    assert bench_ranks.judged(kind, 200, 1)["wrong"]
