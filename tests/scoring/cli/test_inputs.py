"""What ``python -m scoring`` does with standard input and with files that are not what it asks for."""

import io
from types import SimpleNamespace

import pytest

from scoring import __version__
from scoring.cli import main
from tests.scoring.command_line import PREDICTION_ROWS
from tests.scoring.texts import contest_json


@pytest.fixture
def stdin(monkeypatch):
    """A function that makes bytes the standard input."""
    return lambda data: monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_a_minus_is_standard_input(files, stdin, capsys):
    stdin((files / "P.json").read_bytes())
    assert main(["check", "--recipe", "rag-qa@1", "--references", str(files / "R.json"), "--predictions", "-"]) == 0
    assert f"이상이 없습니다: - (항목 {len(PREDICTION_ROWS)}개)" in capsys.readouterr().out


def test_a_report_may_come_through_a_pipe(files, stdin, capsys):
    (files / "R.json").write_text('{"a": "아이가 공을 찬다"}', encoding="utf-8")
    named = ["--references", str(files / "R.json"), "--predictions", str(files / "R.json")]
    assert main(["score", "--recipe", "captioning-lexical@1", *named, "--output", str(files / "OUT.json")]) == 0
    shown = capsys.readouterr().out
    stdin((files / "OUT.json").read_bytes())
    assert main(["report", "-"]) == 0
    assert capsys.readouterr().out == shown


def test_standard_input_is_one_file(stdin, capsys):
    stdin(b"")
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "-", "-", "--lang", "en"])
    assert stopped.value.code == 2
    assert "one file only" in capsys.readouterr().err


def test_the_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"malpan {__version__}\n"


@pytest.mark.parametrize(
    ("content", "korean", "english"),
    [
        (contest_json(PREDICTION_ROWS).encode(), "채점 결과의 꼴이 아닙니다", "does not have the form of a result"),
        (b'{"items": []}', "«recipe»가 없습니다", "«recipe» is missing"),
        (b'{"recipe": "no@1"}', "모르는 채점 방식 «no@1»", "unknown recipe «no@1»"),
        (b"id\tcaption\n", "JSON이 아닙니다", "it is no JSON"),
        (b"\xff\xfe\x00", "UTF-8로 쓴 글이 아닙니다", "it is no text in UTF-8"),
    ],
)
@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_file_that_is_no_result_is_one_line_in_words(tmp_path, capsys, command, content, korean, english):
    path = tmp_path / "X.json"
    path.write_bytes(content)
    named = [str(path)] * (2 if command == "compare" else 1)
    for language, words in (("ko", korean), ("en", english)):
        assert main([command, *named, "--lang", language]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1
        assert "Error:" not in error.removeprefix("Error:")


@pytest.mark.parametrize("offline", ["", "1"])
def test_models_are_not_fetched_without_a_hub(tmp_path, capsys, monkeypatch, offline):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", bool(offline))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert main(["models", "fetch", "small", "--lang", "en"]) == 2
    error = capsys.readouterr().err
    assert "the model hub http://127.0.0.1:9 cannot be reached" in error
    assert "Errno" not in error
    assert "HTTPConnection" not in error


@pytest.mark.parametrize("with_references", [True, False])
def test_check_says_what_a_score_will_warn_of(files, capsys, with_references):
    rows = [("1", "3", "선다형"), ("2", "김치 " * 4_000, "단답형"), ("3", "", "서술형")]
    (files / "C.json").write_text(contest_json(rows), encoding="utf-8")
    (files / "R.json").write_text(contest_json([(*row[:1], "정답", row[2]) for row in rows]), encoding="utf-8")
    references = ["--references", str(files / "R.json")] if with_references else []
    check = ["check", "--predictions", str(files / "C.json"), *references, "--models", "demo"]
    assert main([*check, "--recipe", "rag-qa@1"]) == 0
    out = capsys.readouterr().out
    assert "culture-qa@1의 파일입니다" in out
    assert "비어 있는 답변이 1개" in out
    assert main([*check, "--recipe", "dialogue-summary@1"]) == 0
    out = capsys.readouterr().out
    assert "2 (10,000/12,000)" in out
    assert "너무 긴 정답" not in out


def test_references_of_another_task_are_told_which_recipes_read_them(tmp_path, capsys):
    (tmp_path / "R").write_text('[{"id": "1", "output": {"joy": "True"}}]', encoding="utf-8")
    (tmp_path / "P").write_text('[{"id": "1", "output": "기쁨"}]', encoding="utf-8")
    files = ["--references", str(tmp_path / "R"), "--predictions", str(tmp_path / "P")]
    assert main(["check", "--recipe", "classification@1", *files]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"정답 파일 {tmp_path / 'R'}: 오류 1건")
    assert "다른 채점 방식으로는 읽힙니다: multi-label@1." in out
