"""``python -m scoring`` as its users run it: files in, report and exit status out."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from scoring.cli import main
from scoring.cli.files import write_whole
from scoring.engine import score
from scoring.metrics import METRICS, MetricOptions
from scoring.reading import read_predictions, read_references
from scoring.recipes import RECIPES, get_recipe
from scoring.report import report_as_json
from tests.scoring.texts import GOLDEN, contest_json

REFERENCE_ROWS = [(item["id"], item["reference"]) for item in GOLDEN["items"]]
PREDICTION_ROWS = [(item["id"], item["prediction"]) for item in GOLDEN["items"]]


def run(*arguments, **environment):
    """The finished process of ``python -m scoring``, with ``environment`` added to this one's."""
    return subprocess.run(
        [sys.executable, "-m", "scoring", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
    )


@pytest.fixture
def files(tmp_path):
    """Paths of R.json and P.json with the golden items, and of the result."""
    (tmp_path / "R.json").write_text(contest_json(REFERENCE_ROWS), encoding="utf-8")
    (tmp_path / "P.json").write_text(contest_json(PREDICTION_ROWS), encoding="utf-8")
    return tmp_path


def score_arguments(folder, predictions="P.json", output="OUT.json"):
    return (
        *("score", "--recipe", "rag-qa@1", "--references", folder / "R.json", "--predictions", folder / predictions),
        *("--models", "demo", "--device", "cpu", "--output", folder / output),
    )


@pytest.fixture
def fake_models(monkeypatch):
    monkeypatch.setitem(METRICS, "bertscore", "tests.scoring.fakes:FakeBertScore")
    monkeypatch.setitem(METRICS, "bleurt", "tests.scoring.fakes:FakeBleurt")


def test_score_writes_the_official_values_and_the_same_signature_as_the_engine(files):
    done = run(*score_arguments(files))
    assert done.returncode == 0, done.stderr
    out = json.loads((files / "OUT.json").read_text(encoding="utf-8"))
    assert out["scores"]["exact_match"] == GOLDEN["corpus"]["exact_match"]
    assert out["scores"]["rouge_1"] == pytest.approx(GOLDEN["corpus"]["rouge_1"], abs=1e-9)
    assert "최종 점수" in done.stdout
    assert "데모 모델 점수" in done.stdout
    assert "bleurt 5/5" in done.stderr
    recipe = get_recipe("rag-qa@1")
    references = read_references((files / "R.json").read_bytes(), recipe)
    predictions = read_predictions((files / "P.json").read_bytes(), recipe, references)
    report = score("rag-qa@1", references, predictions, profile="demo", device="cpu")
    assert out["signature_hash"] == report.signature_hash
    assert out["final_score"] == pytest.approx(report.final_score, abs=1e-9)


def test_shuffled_and_relaid_predictions_give_the_same_file(files, fake_models, capsys):
    lines = [json.dumps(item, ensure_ascii=False) for item in json.loads(contest_json(PREDICTION_ROWS[::-1]))]
    (files / "P2.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert main([*map(str, score_arguments(files))]) == 0
    assert main([*map(str, score_arguments(files, "P2.jsonl", "OUT2.json"))]) == 0
    assert (files / "OUT.json").read_bytes() == (files / "OUT2.json").read_bytes()


def test_answers_without_reasons_are_scored_without_loading_a_model(files):
    """The models are named in the signature, but no weight is read into memory."""
    (files / "P.json").write_text(contest_json([(item, "짜장면") for item, _ in REFERENCE_ROWS]), encoding="utf-8")
    code = (
        "import sys; from scoring.cli import main; status = main(sys.argv[1:]);"
        "print('LOADED', 'transformers' in sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, score_arguments(files))], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    out = json.loads((files / "OUT.json").read_text(encoding="utf-8"))
    assert out["final_score"] == 0.0625
    assert out["coverage"]["reason_coverage"] == 0
    assert "bleurt" not in done.stderr


def test_nfd_predictions_score_as_nfc_and_say_how_many_changed(files, fake_models, capsys):
    decomposed = [(item, unicodedata.normalize("NFD", text)) for item, text in PREDICTION_ROWS]
    (files / "NFD.json").write_text(contest_json(decomposed), encoding="utf-8")
    assert main([*map(str, score_arguments(files))]) == 0
    assert main([*map(str, score_arguments(files, "NFD.json", "NFD.out"))]) == 0
    plain, nfd = (json.loads((files / name).read_text(encoding="utf-8")) for name in ("OUT.json", "NFD.out"))
    assert nfd["scores"] == plain["scores"]
    assert nfd["signature_hash"] == plain["signature_hash"]
    assert [w["params"]["count"] for w in nfd["warnings"] if w["code"] == "nfc_normalized"] == [8]


def test_check_of_a_sound_file_says_so(files):
    done = run("check", "--recipe", "rag-qa@1", "--predictions", files / "P.json", "--references", files / "R.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "이상이 없습니다" in done.stdout


def test_check_lists_every_error_with_line_id_field_and_reason(files):
    items = json.loads(contest_json(PREDICTION_ROWS))
    items[1]["output"]["answer"] = 3
    items[4]["id"] = "stranger"
    text = "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"
    (files / "P.json").write_text(text, encoding="utf-8")
    done = run("check", "--recipe", "rag-qa@1", "--predictions", files / "P.json", "--references", files / "R.json")
    assert done.returncode == 1
    rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    assert rows[0] == ["줄", "id", "필드", "사유"]
    assert ["3", "g-2", "output.answer"] in [row[:3] for row in rows]
    assert any(row[1] == "stranger" and "제출 파일과 정답 파일의 id가 일치하지 않음" in row[3] for row in rows)
    assert any(row[1] == "g-5" for row in rows)


def test_score_of_an_unsound_file_exits_1_writes_nothing_and_speaks_english_when_asked(files):
    (files / "P.json").write_text("[", encoding="utf-8")
    done = run(*score_arguments(files), "--lang", "en")
    assert (done.returncode, done.stdout) == (1, "")
    assert "line\tid\tfield\treason" in done.stderr
    assert not (files / "OUT.json").exists()


def test_unsound_references_are_called_references(files):
    (files / "R.json").write_text("nonsense", encoding="utf-8")
    done = run(*score_arguments(files))
    assert done.returncode == 1
    assert done.stderr.startswith("정답 파일")


@pytest.mark.parametrize(
    ("arguments", "korean", "english"),
    [
        (
            ["score"],
            "필요한 인자가 없습니다: --recipe, --predictions, --references",
            "arguments are required: --recipe",
        ),
        (["check", "--recipe", "x@1"], "'x@1'은(는) 쓸 수 없습니다", "invalid choice: 'x@1'"),
        (["recipes", "--what"], "모르는 인자입니다: --what", "unrecognized arguments: --what"),
        (["check", "--recipe"], "--recipe: 값이 하나 필요합니다", "expected one argument"),
        ([], "필요한 인자가 없습니다: COMMAND", "required: COMMAND"),
        (["models", "fetch"], "모델 프로필을 지정하십시오", "Name a model profile"),
        (["report", "/no/such/file"], "파일이 없습니다", "no such file"),
        (["report", __file__], "채점 결과 파일이 아닙니다", "is not a score result"),
    ],
)
def test_wrong_usage_exits_2_in_either_language(arguments, korean, english, capsys):
    if not arguments:  # --lang belongs to the commands
        with pytest.raises(SystemExit) as stopped:
            main([])
        assert stopped.value.code == 2
        assert korean in capsys.readouterr().err
        return
    for language, expected in (("ko", korean), ("en", english)):
        try:
            status = main([*arguments, "--lang", language])
        except SystemExit as stop:
            status = stop.code
        assert status == 2
        assert expected in capsys.readouterr().err


def test_a_model_that_is_not_here_exits_2_and_names_the_command(files):
    arguments = ["official" if argument == "demo" else argument for argument in score_arguments(files)]
    done = run(*arguments, HF_HUB_CACHE=str(files / "empty"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "python -m scoring models fetch official" in done.stderr


@pytest.mark.parametrize(
    ("output", "why"), [("no/such/folder/OUT.json", "쓸 수 있는 폴더가 아닙니다"), (".", "파일이 아니라 폴더입니다")]
)
def test_output_that_cannot_be_written_is_refused_before_scoring(files, capsys, monkeypatch, output, why):
    monkeypatch.setattr("scoring.engine.score", lambda *_, **__: pytest.fail("scored"))
    assert main([*map(str, score_arguments(files, output=output))]) == 2
    assert why in capsys.readouterr().err


def test_result_is_stored_though_nobody_reads_the_report(files, fake_models, monkeypatch):
    def gone(*_):
        raise BrokenPipeError

    monkeypatch.setattr("sys.stdout.write", gone)
    monkeypatch.setattr("scoring.cli.os.dup2", lambda *_: None)  # the test's own output stays
    assert main([*map(str, score_arguments(files))]) == 0
    assert (files / "OUT.json").exists()


def test_a_terminal_that_lacks_a_character_gets_an_escape(files):
    (files / "P.json").rename(files / "한글 😀.json")
    arguments = ("check", "--recipe", "rag-qa@1", "--predictions", files / "한글 😀.json")
    done = run(*arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\U0001f600" in done.stdout


def test_output_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "OUT.json"
    write_whole(str(target), "old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(Exception, match="No space left"):
        write_whole(str(target), "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_reader_of_the_old_output_keeps_it_whole(tmp_path):
    target = tmp_path / "OUT.json"
    write_whole(str(target), "old")
    with target.open(encoding="utf-8") as reader:
        write_whole(str(target), "new")
        assert reader.read() == "old"
    assert target.read_text(encoding="utf-8") == "new"


def test_output_to_a_device_does_not_replace_it(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(str(pipe), "text")
    assert os.read(reader, 10) == b"text"
    assert pipe.is_fifo()
    os.close(reader)


def test_stored_result_is_shown_in_three_forms(files, fake_models, capsys):
    main([*map(str, score_arguments(files))])
    capsys.readouterr()
    result = str(files / "OUT.json")
    shown = {}
    for form in ("text", "markdown", "json"):
        assert main(["report", result, "--format", form, "--baseline", result]) == 0
        shown[form] = capsys.readouterr().out
    assert "+0.0000000" in shown["text"]
    assert "| EM | 75.0000000 | +0.0000000 |" in shown["markdown"]
    assert shown["json"] == (files / "OUT.json").read_text(encoding="utf-8")


def test_recipes_lists_all_with_their_rules(capsys):
    assert main(["recipes"]) == 0
    out = capsys.readouterr().out
    assert all(recipe_id in out for recipe_id in RECIPES)
    assert "최종 점수 =" in out
    assert main(["recipes", "--lang", "en"]) == 0
    assert "Final =" in capsys.readouterr().out


def test_models_list_says_what_is_missing(tmp_path):
    done = run("models", "list", HF_HUB_CACHE=str(tmp_path))
    assert done.returncode == 0
    assert "official  없음. 내려받기: python -m scoring models fetch official" in done.stdout
    assert "3f076fdb1ab68d5b2880cb87a0886f315b8146f8" in done.stdout
    assert "demo  사용 가능" in done.stdout


def test_models_verify_checks_the_demo_models(capsys):
    assert main(["models", "verify", "demo"]) == 0
    assert "실패" not in capsys.readouterr().out


def test_check_report_recipes_import_no_model_library(files):
    code = (
        "import sys; from scoring.cli import main; status = main(sys.argv[1:]);"
        "print({'torch', 'transformers', 'mecab', 'konlpy', 'nltk', 'numpy'} & set(sys.modules), file=sys.stderr);"
        "sys.exit(status)"
    )
    for arguments in (["check", "--recipe", "rag-qa@1", "--predictions", str(files / "P.json")], ["recipes"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr.strip()) == (0, "set()")


def test_english_help_is_english_and_korean_help_korean(capsys):
    for language, word in (("ko", "사용법: "), ("en", "usage: ")):
        with pytest.raises(SystemExit) as stopped:
            main(["score", "--lang", language, "--help"])
        assert stopped.value.code == 0
        out = capsys.readouterr().out
        assert out.startswith(word)
        assert ("제출 파일" in out) == (language == "ko")


def test_a_closed_pipe_is_no_error(files):
    done = subprocess.run(
        f"{sys.executable} -m scoring recipes | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_out_json_equals_the_engine_report_byte_for_byte(files, fake_models, capsys):
    main([*map(str, score_arguments(files))])
    recipe = get_recipe("rag-qa@1")
    references = read_references((files / "R.json").read_bytes(), recipe)
    predictions = read_predictions((files / "P.json").read_bytes(), recipe, references)
    report = score("rag-qa@1", references, predictions, profile="demo", device="cpu")
    assert (files / "OUT.json").read_text(encoding="utf-8") == report_as_json(report)


@pytest.fixture
def two_results(files, fake_models, capsys):
    """A.json and B.json: the golden predictions, and the same with every answer wrong."""
    wrong = [(item, "짜장면") for item, _ in REFERENCE_ROWS]
    (files / "wrong.json").write_text(contest_json(wrong), encoding="utf-8")
    main([*map(str, score_arguments(files, output="A.json"))])
    main([*map(str, score_arguments(files, "wrong.json", "B.json"))])
    capsys.readouterr()
    return str(files / "A.json"), str(files / "B.json")


def test_compare_shows_differences_intervals_and_p_in_three_forms(two_results, capsys):
    shown = {}
    for form in ("text", "markdown", "json"):
        assert main(["compare", *two_results, "--format", form]) == 0
        shown[form] = capsys.readouterr().out
    assert "문항 8개, 시행 10,000회, 시드 20261120" in shown["text"]
    assert "| EM | 75.0000000 | 12.5000000 | -62.5000000 |" in shown["markdown"]
    out = json.loads(shown["json"])
    assert out["scores"]["exact_match"]["difference"] == -0.625
    assert 0 < out["scores"]["exact_match"]["p"] <= out["scores"]["exact_match"]["p_holm"] <= 1


def test_compare_gives_the_same_numbers_every_time(two_results, capsys):
    outputs = set()
    for _ in range(2):
        main(["compare", *two_results])
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1


def test_compare_speaks_english_when_asked(two_results, capsys):
    assert main(["compare", *two_results, "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert "8 items, 10,000 trials, seed 20261120" in out
    assert "no difference" in out


def changed(path, **changes):
    """The result at ``path`` with other values at the top, stored beside it."""
    out = json.loads(Path(path).read_text(encoding="utf-8"))
    other = Path(path).with_name(f"changed-{'-'.join(changes)}.json")
    other.write_text(json.dumps(out | changes), encoding="utf-8")
    return str(other)


def test_compare_refuses_other_recipes_other_items_and_other_files(two_results, capsys):
    a, b = two_results
    for other, words in (
        (changed(b, recipe="rag-qa-strict@1"), "채점 방식이 다릅니다: A는 rag-qa@1, B는 rag-qa-strict@1"),
        (changed(b, items=[]), "문항이 서로 다릅니다: A에만 8개"),
        (__file__, "채점 결과 파일이 아닙니다"),
        ("/no/such/file", "파일이 없습니다"),
    ):
        assert main(["compare", a, other]) == 2
        shown = capsys.readouterr()
        assert (shown.out, words in shown.err) == ("", True)


def test_compare_needs_two_files(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "A.json"])
    assert stopped.value.code == 2
    assert "필요한 인자가 없습니다: B" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "why"), [("--synonyms", "파일이 없습니다"), ("--media", "파일이나 폴더가 없습니다")]
)
def test_synonyms_and_media_that_are_not_there_are_refused_before_scoring(files, capsys, monkeypatch, option, why):
    monkeypatch.setattr("scoring.engine.score", lambda *_, **__: pytest.fail("scored"))
    absent = str(files / "absent")
    assert main([*map(str, score_arguments(files)), option, absent]) == 2
    error = capsys.readouterr().err
    assert absent in error
    assert why in error


def test_synonyms_and_media_reach_the_engine(files, monkeypatch, capsys):
    (files / "S.tsv").write_text("", encoding="utf-8")
    seen = []

    def stop(*_, options, **__):
        seen.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr("scoring.engine.score", stop)
    main([*map(str, score_arguments(files)), "--synonyms", str(files / "S.tsv"), "--media", str(files)])
    main([*map(str, score_arguments(files))])
    assert seen == [MetricOptions(synonyms=files / "S.tsv", media=files), MetricOptions()]


def test_synonyms_that_are_no_table_exit_2_and_name_the_line(files, capsys):
    (files / "R.json").write_text('{"c-1": "푸른 바다"}', encoding="utf-8")
    (files / "S.tsv").write_text("한 칸뿐인 줄\n", encoding="utf-8")
    arguments = ["score", "--recipe", "captioning-lexical@1", "--references", files / "R.json"]
    arguments += ["--predictions", files / "R.json", "--synonyms", files / "S.tsv", "--output", files / "OUT.json"]
    assert main([*map(str, arguments)]) == 2
    error = capsys.readouterr().err
    assert "S.tsv" in error
    assert "오류" in error
    assert not (files / "OUT.json").exists()


def test_compare_loads_no_model_and_no_analyser(two_results):
    code = (
        "import sys; from scoring.cli import main; status = main(sys.argv[1:]);"
        "print({'torch', 'transformers', 'mecab', 'konlpy', 'jpype', 'scipy'} & set(sys.modules), file=sys.stderr);"
        "sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", *two_results], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.strip()) == (0, "set()")
