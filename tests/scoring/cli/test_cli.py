"""``python -m scoring`` as its users run it: files in, report and exit status out."""

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator

import pytest

from scoring.cli import main
from scoring.engine import score
from scoring.metrics import MetricOptions
from scoring.reading import read_predictions, read_references
from scoring.recipes import RECIPES, get_recipe
from scoring.report import report_as_json
from tests.scoring.command_line import PREDICTION_ROWS, REFERENCE_ROWS, run, score_arguments
from tests.scoring.essays import dumped, reference, traits
from tests.scoring.texts import GOLDEN, contest_json
from tests.scoring.tiny_models import one_thread


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def test_score_writes_the_official_values_and_the_same_signature_as_the_engine(files, capsys):
    """In this process, as most here: those that start one ask for what only a new one has."""
    assert main([*map(str, score_arguments(files))]) == 0
    shown = capsys.readouterr()
    out = json.loads((files / "OUT.json").read_text(encoding="utf-8"))
    assert out["scores"]["exact_match"] == GOLDEN["corpus"]["exact_match"]
    assert out["scores"]["rouge_1"] == pytest.approx(GOLDEN["corpus"]["rouge_1"], abs=1e-9)
    assert "최종 점수" in shown.out
    assert "데모 모델 점수" in shown.out
    assert "bleurt 5/5" in shown.err
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


def test_check_of_essays_of_which_none_can_be_read_does_not_call_them_sound(tmp_path, capsys):
    rows = [{"id": f"e{number}", "output": "모르겠다"} for number in range(8)]
    (tmp_path / "R.json").write_bytes(dumped([reference(number) for number in range(8)]))
    (tmp_path / "P.json").write_bytes(dumped(rows))
    arguments = ["check", "--recipe", "essay-scoring@1", "--predictions", tmp_path / "P.json"]
    for given in ([], ["--references", tmp_path / "R.json"]):
        assert main([*map(str, [*arguments, *given])]) == 1
        shown = capsys.readouterr().out
        assert "이상이 없습니다" not in shown
        assert "읽을 수 있는 답이 하나도 없습니다" in shown
        assert "답변 8개 가운데 하나도" in shown
        assert "e0, e1" in shown
        assert '{"content": {"score": 4' in shown
    assert main([*map(str, arguments), "--lang", "en"]) == 1
    assert "Not one answer can be read" in capsys.readouterr().out
    rows[3]["output"] = json.dumps(traits(3))
    (tmp_path / "P.json").write_bytes(dumped(rows))
    assert main([*map(str, arguments)]) == 0, "some that cannot be read are a warning"
    assert "답변 7개에서" in capsys.readouterr().out


def test_the_file_of_references_given_as_predictions_is_told(files, capsys):
    arguments = ["check", "--recipe", "rag-qa@1", "--predictions", files / "R.json", "--references", files / "R.json"]
    assert main([*map(str, arguments)]) == 0
    assert "똑같은 파일" in capsys.readouterr().out


def test_check_lists_every_error_with_line_id_field_and_reason(files, capsys):
    items = json.loads(contest_json(PREDICTION_ROWS))
    items[1]["output"]["answer"] = 3
    items[4]["id"] = "stranger"
    text = "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"
    (files / "P.json").write_text(text, encoding="utf-8")
    arguments = ["check", "--recipe", "rag-qa@1", "--predictions", files / "P.json", "--references", files / "R.json"]
    assert main([*map(str, arguments)]) == 1
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if "\t" in line]
    assert rows[0] == ["줄", "id", "필드", "사유"]
    assert ["3", "g-2", "output.answer"] in [row[:3] for row in rows]
    assert any(row[1] == "stranger" and "제출 파일과 정답 파일의 id가 일치하지 않음" in row[3] for row in rows)
    assert any(row[1] == "g-5" for row in rows)


def test_score_of_an_unsound_file_exits_1_writes_nothing_and_speaks_english_when_asked(files, capsys):
    (files / "P.json").write_text("[", encoding="utf-8")
    assert main([*map(str, score_arguments(files)), "--lang", "en"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "line\tid\tfield\treason" in shown.err
    assert not (files / "OUT.json").exists()


def test_unsound_references_are_called_references(files, capsys):
    (files / "R.json").write_text("nonsense", encoding="utf-8")
    assert main([*map(str, score_arguments(files))]) == 1
    assert capsys.readouterr().err.startswith("정답 파일")


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


def test_a_model_that_is_not_here_exits_2_and_names_the_command(files, hub_cache, capsys):
    arguments = ["official" if argument == "demo" else str(argument) for argument in score_arguments(files)]
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "python -m scoring models fetch official" in shown.err


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


def test_a_report_leaves_the_published_figures_out_where_they_are_not_wanted(tmp_path, capsys):
    (tmp_path / "R.json").write_text('{"a": "아이가 공을 찬다"}', encoding="utf-8")
    files = ["--references", str(tmp_path / "R.json"), "--predictions", str(tmp_path / "R.json")]
    out = str(tmp_path / "OUT.json")
    assert main(["score", "--recipe", "captioning-lexical@1", *files, "--output", out]) == 0
    assert "0.3052" in capsys.readouterr().out
    assert main(["report", out]) == 0
    assert "0.3052" in capsys.readouterr().out
    assert main(["report", out, "--no-targets"]) == 0
    assert "0.3052" not in capsys.readouterr().out


def test_references_with_an_empty_alternative_are_named_line_by_line(files, capsys):
    (files / "R.json").write_text('[\n{"id": "1", "output": {"answer": "짜장면#"}}\n]', encoding="utf-8")
    arguments = ["--recipe", "rag-qa@1", "--predictions", str(files / "P.json"), "--references", str(files / "R.json")]
    for language, words in (("ko", "정답으로 인정하는 답 가운데 빈 것"), ("en", "a blank answer would be correct")):
        assert main(["check", *arguments, "--lang", language]) == 1
        row = capsys.readouterr().out.splitlines()[-1].split("\t")
        assert row[:3] == ["2", "1", "output.answer"]
        assert words in row[3]


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
    out = capsys.readouterr().out
    assert "실패" not in out
    for role in ("bertscore", "bleurt"):
        for precision in ("bf16", "fp16"):
            line = re.search(rf"^  {role} {precision}: 최대 (\S+), 평균 (\S+) 차이 · 속도 [\d.]+배$", out, re.MULTILINE)
            assert line is not None, out
            assert 0 < float(line[2]) <= float(line[1]) < 0.5


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


def test_out_json_equals_the_engine_report_byte_for_byte(files, fake_models, capsys):
    main([*map(str, score_arguments(files))])
    recipe = get_recipe("rag-qa@1")
    references = read_references((files / "R.json").read_bytes(), recipe)
    predictions = read_predictions((files / "P.json").read_bytes(), recipe, references)
    report = score("rag-qa@1", references, predictions, profile="demo", device="cpu")
    assert (files / "OUT.json").read_text(encoding="utf-8") == report_as_json(report)


@pytest.mark.parametrize(
    ("option", "why"), [("--synonyms", "파일이 없습니다"), ("--media", "파일이나 폴더가 없습니다")]
)
def test_synonyms_and_media_that_are_not_there_are_refused_before_scoring(files, capsys, monkeypatch, option, why):
    monkeypatch.setattr("scoring.cli.commands.score", lambda *_, **__: pytest.fail("scored"))
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

    monkeypatch.setattr("scoring.cli.commands.score", stop)
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


def test_check_says_that_it_could_not_look_at_lengths_without_the_models(files, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    check = ["check", "--recipe", "rag-qa@1", "--predictions", str(files / "P.json")]
    assert main([*check, "--models", "official"]) == 0
    assert "너무 길지는 않은지 확인하지 못했습니다: official 프로필의 모델" in capsys.readouterr().out
    assert main([*check, "--models", "demo", "--lang", "en"]) == 0
    assert "Not checked" not in capsys.readouterr().out


def test_the_models_of_a_score_must_be_chosen(files, capsys):
    """The demo models were taken without a word; a recipe without neural metrics needs no choice (tests above)."""
    options = ["--references", str(files / "R.json"), "--predictions", str(files / "P.json")]
    for language, word in (("ko", "모델 프로필을 지정하십시오"), ("en", "name a model profile")):
        assert main(["score", "--recipe", "rag-qa@1", *options, "--lang", language]) == 2
        shown = capsys.readouterr()
        assert word in shown.err
        assert "official, small, demo" in shown.err
        assert not shown.out
