"""The report: the layout of OUT.json, and what people read in either language."""

import json
import unicodedata
from dataclasses import replace

import pytest

from scoring.engine import score
from scoring.recipes import get_recipe
from scoring.records import ItemScores, ScoreReport
from scoring.report import InvalidReport, render, report_as_dict, report_as_json, report_from_json
from scoring.report.tables import display_width
from scoring.signature import signature_hash
from tests.scoring.fakes import DEMO_STORE, STORE
from tests.scoring.texts import GOLDEN, answer_file

REFERENCES = answer_file([(item["id"], item["reference"]) for item in GOLDEN["items"]])
PREDICTIONS = answer_file(
    [
        (item["id"], unicodedata.normalize("NFD", item["prediction"]) if item["id"] == "g-1" else item["prediction"])
        for item in GOLDEN["items"]
    ]
)

pytestmark = pytest.mark.usefixtures("fake_models")


@pytest.fixture
def report():
    return score("rag-qa@1", REFERENCES, PREDICTIONS, store=STORE)


@pytest.fixture
def demo_report():
    return score("rag-qa@1", REFERENCES, PREDICTIONS, store=DEMO_STORE)


def test_out_json_has_the_agreed_keys(report):
    out = json.loads(report_as_json(report))
    assert list(out) == [
        *("recipe", "final_score", "scores", "coverage", "warnings", "items", "signature", "signature_hash"),
    ]
    assert list(out["items"][0]) == ["id", "scores"]
    assert next(iter(out["scores"])) == "final_score"
    assert out["scores"]["final_score"] == out["final_score"] == report.final_score
    assert out["signature_hash"] == signature_hash(out["signature"])


def test_out_json_keeps_hangul_readable_and_scores_exact(report):
    text = report_as_json(report)
    assert "이유가 있어야 하는 문항" in text
    assert json.loads(text)["scores"]["rouge_1"] == report.scores["rouge_1"]


def test_warnings_carry_code_params_and_words(report):
    warnings = {warning["code"]: warning for warning in report_as_dict(report, "en")["warnings"]}
    assert warnings["nfc_normalized"]["params"]["count"] == 1
    assert warnings["nfc_normalized"]["message"].startswith("Answers with decomposed Hangul (NFD), scored as NFC: 1")


def test_report_survives_its_json(report):
    again = report_from_json(report_as_json(report))
    assert report_as_json(again) == report_as_json(report)
    assert again.metric_signatures == report.metric_signatures


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"recipe": "rag-qa@1"}', '{"recipe": "no@1"}', "[" * 100_000, "null"]
)
def test_what_is_no_out_json_is_refused(text):
    with pytest.raises(InvalidReport):
        report_from_json(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("warnings", [{"code": "empty_answers"}]),
        ("signature", {"metrics": {}}),
        ("scores", {"exact_match": "much"}),
        ("coverage", {"items": None}),
    ],
)
def test_out_json_that_cannot_be_shown_is_refused(report, key, value):
    out = report_as_dict(report) | {key: value}
    with pytest.raises(InvalidReport):
        report_from_json(json.dumps(out))


def test_a_warning_of_another_version_is_named_by_its_code(report):
    out = report_as_dict(report) | {"warnings": [{"code": "of_tomorrow", "params": {}}]}
    assert "of_tomorrow" in render(report_from_json(json.dumps(out)))


def test_text_report_shows_scores_times_100_with_seven_decimals(report):
    lines = render(report).splitlines()
    assert any(line.split() == ["EM", "75.0000000"] for line in lines)
    assert any(line.split() == ["ROUGE-1", "55.9710145"] for line in lines)
    assert any(line.split() == ["최종", "점수", f"{report.final_score * 100:.7f}"] for line in lines)


def test_text_report_aligns_figures_though_hangul_is_wide(report):
    lines = render(report).splitlines()
    rows = lines[lines.index("") + 1 :]
    rows = rows[: rows.index("")]
    assert len(rows) == 7
    assert len({display_width(row) for row in rows}) == 1


def test_text_report_tells_coverage_warnings_rule_and_signature(report):
    text = render(report)
    for expected in (
        "71.4%",
        "NFC로 바꾸어",
        "계산 규칙",
        report.signature_hash,
        "python-mecab-ko-dic",
        "rag-qa-reason@1",
    ):
        assert expected in text


def test_demo_models_stand_in_a_banner_in_every_form(report, demo_report):
    for form in ("text", "markdown"):
        assert "데모 모델 점수" in render(demo_report, form).split("\n\n항목" if form == "text" else "| 항목")[0]
        assert "데모 모델" not in render(report, form)
    assert json.loads(render(demo_report, "json"))["warnings"][0]["code"] == "demo_models"
    assert "Demo model score" in render(demo_report, "text", "en").splitlines()[2]


def test_english_report_has_no_korean_words_but_the_verdicts(demo_report):
    for form in ("text", "markdown"):
        text = render(demo_report, form, "en").replace("가 옳다", "").replace("이 옳다", "").replace("가-힣", "")
        assert not [character for character in text if "가" <= character <= "힣"]


def test_markdown_report_has_a_table_of_scores(report):
    text = render(report, "markdown")
    assert "| 항목 | 값 |\n| --- | ---: |\n| 최종 점수 |" in text
    assert "| EM | 75.0000000 |" in text


def test_change_against_a_baseline(report):
    baseline = replace(report, scores={**report.scores, "exact_match": 0.5})
    text = render(report, "markdown", "ko", baseline)
    assert "| EM | 75.0000000 | +25.0000000 |" in text
    assert "| ROUGE-1 | 55.9710145 | +0.0000000 |" in text
    assert "서명이 다릅니다" not in text


def test_baseline_of_another_signature_is_marked(report):
    baseline = replace(report, signature_hash="0" * 64)
    assert "기준 파일은 서명이 다릅니다" in render(report, "text", "ko", baseline)


def test_scores_of_absent_types_are_left_out():
    references = answer_file([("1", "3", "선다형")])
    text = render(score("culture-qa@1", references, references, store=STORE))
    assert "정확도" in text
    assert "서술 평균 " not in text.split("계산 규칙")[0]


def captioning_report(meteor=0.35, **changes):
    """A captioning result of one item, as the engine would make it."""
    recipe = get_recipe("captioning@1")
    scores = recipe.final_scores({"meteor": meteor, "cider": 1.25, "bertscore": 0.7, "bleu_4": 0.1, "chrf": 0.4})
    signature = {
        "recipe": recipe.id,
        "references": {"items": 1, "sha256": "ee"},
        "metrics": {"meteor": {"metric": "meteor", "rule": "nltk-meteor@1"}},
        "about": {"references_file_sha256": "ff", "profile": None, "is_demo": False},
    }
    report = ScoreReport(
        recipe=recipe.id,
        final_score=meteor,
        scores=scores,
        coverage={"items": 3, "answered": 2, "missing": 1, "references": 5},
        warnings=(),
        items=(ItemScores("c-1", {"meteor": meteor}, {"bleu": (3.0, 2.0, 1.0, 0.0, 5.0, 4.0, 3.0, 2.0, 5.0, 6.0)}),),
        signature=signature,
        signature_hash="0" * 64,
        metric_signatures={},
    )
    return replace(report, **changes)


def section(text, heading):
    """The lines under ``heading`` up to the next empty line."""
    lines = text.splitlines()
    body = lines[lines.index(heading) + 1 :]
    body = body[1:] if body[0] == "" else body
    return [line.strip() for line in body[: body.index("")]]


def test_captioning_report_sets_main_and_reference_metrics_apart():
    text = render(captioning_report())
    main, reference = section(text, "주요 지표"), section(text, "참고 지표")
    assert [line.split()[0] for line in main] == ["항목", "METEOR", "CIDEr-D", "BERTScore"]
    assert [line.split()[0] for line in reference] == ["BLEU-4", "chrF"]
    assert main[1].split()[1] == "0.3500"
    assert "| CIDEr-D | 1.2500 |" in render(captioning_report(), "markdown").split("## 참고 지표")[0]


def test_captioning_report_gives_the_change_against_the_baseline_and_that_it_is_not_comparable():
    rows = section(render(captioning_report(0.35)), "기준선")
    assert rows[0].split()[-1] == "0.3052"
    assert rows[1].split()[-1] == "+14.68%"  # 0.35 / 0.3052 = 1.14679
    assert "비교 불가: 구현" in rows[2]
    assert "Not comparable" in render(captioning_report(0.35), "text", "en")
    assert "-1.70%" in render(captioning_report(0.30), "markdown")


@pytest.mark.parametrize(
    ("meteor", "reached", "ahead"),
    [
        (0.3359, [], "0.336 (0.0001 남음)"),
        (0.336, ["0.336"], "0.366 (0.0300 남음)"),
        (0.39, ["0.336", "0.366"], "0.400 (0.0100 남음)"),
        (0.40, ["0.336", "0.366", "0.400"], "모든 목표에 도달했습니다"),
    ],
)
def test_captioning_report_names_milestones_reached_and_the_way_to_the_next(meteor, reached, ahead):
    for form, heading in (("text", "목표"), ("markdown", "## 목표")):
        rows = section(render(captioning_report(meteor), form), heading)
        cells = [row.removeprefix("- ").replace(":", " ").split(maxsplit=1) for row in rows]
        assert [name for name, state in cells if state == "도달"] == reached
        assert rows[-1].endswith(ahead)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_captioning_report_names_milestones_of_cider_and_bertscore_too(form):
    mark = "## " if form == "markdown" else ""
    text = render(captioning_report(), form)  # CIDEr-D 1.25, BERTScore 0.7
    cider, bert = section(text, f"{mark}목표: CIDEr-D"), section(text, f"{mark}목표: BERTScore")
    assert [row.removeprefix("- ").replace(":", " ").split()[0] for row in cider[:3]] == ["0.8", "1.0", "1.2"]
    assert cider[-1].endswith("모든 목표에 도달했습니다")
    assert [row.split()[-1] for row in cider[:3]] == ["도달"] * 3
    assert bert[-1].endswith("0.75 (0.0500 남음)")
    report = captioning_report()
    lexical = replace(report, scores={key: value for key, value in report.scores.items() if key != "bertscore"})
    assert "목표: BERTScore" not in render(lexical, form)


def test_json_report_adds_baseline_and_milestones_and_out_json_does_not():
    report = captioning_report(0.35)
    out = json.loads(render(report, "json"))
    assert out["baseline"]["value"] == 0.3052
    assert out["baseline"]["change_percent"] == pytest.approx(14.679, abs=1e-3)
    assert "비교 불가" in out["baseline"]["note"]
    assert out["milestones"] == [
        {"value": 0.336, "reached": True},
        {"value": 0.366, "reached": False},
        {"value": 0.40, "reached": False},
    ]
    assert out["milestones_of"]["cider"] == [{"value": value, "reached": True} for value in (0.80, 1.00, 1.20)]
    assert [row["reached"] for row in out["milestones_of"]["bertscore"]] == [False] * 3
    assert not {"baseline", "milestones", "milestones_of"} & set(json.loads(report_as_json(report)))
    assert report_as_json(report_from_json(render(report, "json"))) == report_as_json(report)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_published_targets_can_be_left_out_of_a_report(form):
    shown = render(captioning_report(0.35), form)
    left_out = render(captioning_report(0.35), form, has_targets=False)
    assert "0.3052" in shown
    assert "0.3052" not in left_out
    assert "0.366" not in left_out


def test_rows_of_statistics_survive_the_json():
    report = captioning_report()
    assert report_from_json(report_as_json(report)).items == report.items


def test_caption_coverage_reads_in_words():
    rows = section(render(captioning_report()), "응답 현황")
    assert [row.split()[-1] for row in rows] == ["3", "2", "1", "5"]


def test_english_captioning_report_has_no_korean_words():
    for form in ("text", "markdown"):
        assert not [character for character in render(captioning_report(), form, "en") if "가" <= character <= "힣"]


def test_recipes_without_a_baseline_have_neither_section(report):
    text = render(report)
    assert "주요 지표" not in text
    assert "목표" not in text.splitlines()


@pytest.mark.parametrize(
    "items",
    [
        [{"id": "1", "scores": {"exact_match": 1.0}}] * 2,
        [{"id": 1, "scores": {}}],
        [{"id": "1", "scores": {"exact_match": "much"}}],
        [{"id": "1", "scores": {"exact_match": float("nan")}}],
        [{"id": "1", "scores": {}, "statistics": {"bleu": 3}}],
    ],
)
def test_items_that_cannot_be_compared_are_refused(report, items):
    with pytest.raises(InvalidReport):
        report_from_json(json.dumps(report_as_dict(report) | {"items": items}))
