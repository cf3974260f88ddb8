"""``python -m scoring.judging.demo`` as a program: its help is Korean first, as that of every other one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scoring.judging import demo
from scoring.judging.demo import FAULTS


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        demo.main(arguments)
    assert stopped.value.code == 0
    return " ".join(capsys.readouterr().out.split())


def hangul(text: str) -> list[str]:
    return [character for character in text if "가" <= character <= "힣"]


def test_the_help_is_korean_and_english_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    korean, english = shown(capsys, "--help"), shown(capsys, "--lang", "en", "--help")
    for text in (korean, english):
        assert all(fault in text.replace(" ", "") for fault in FAULTS)  # a line may end inside a name
        for option in ("--port", "--faults", "--rate", "--retry-after", "--biased", "--gullible", "--descriptor"):
            assert option in text
    assert korean.startswith("사용법: python -m scoring.judging.demo")
    assert "데모 심사 모델" in korean
    assert "show this help" not in korean
    assert not hangul(english)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--faults", "busy,nothing"], "사용법 오류: --faults: nothing은(는) 쓸 수 없습니다. 가능한 값: busy, error"),
        (["--port", "x"], "사용법 오류: --port: 숫자가 아닙니다: 'x'"),
        (["--lang", "en", "--faults", "nothing"], "usage error: argument --faults: invalid choice: nothing"),
    ],
)
def test_a_wrong_option_says_what_is_possible(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        demo.main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_it_starts_without_reading_a_recipe_or_a_metric() -> None:
    """It is started beside the other programs, and shall be there at once."""
    code = "import sys, scoring.judging.demo; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scoring.recipes", "scoring.metrics", "scoring.cli", "numpy", "torch"} & set(done.stdout.split())
