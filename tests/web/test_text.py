"""Pure parts of the pages: Markdown, times, scores, labels."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from malpan.core.text import MARKDOWN_MAX_CHARS
from malpan.core.times import kst_text
from malpan.web import markdown
from malpan.web.markdown import RENDERED_KEPT, to_html
from malpan.web.presenters import formatting, scores
from malpan.web.templatetags.malpan import when
from scoring.recipes import RECIPES

NOW = datetime(2026, 11, 20, 14, 50, 5, tzinfo=UTC)  # 23:50:05 KST


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        '<a href="#" style="color:red" onclick="x()">x</a>',
        "<iframe src='//x'></iframe><object></object><style>p{}</style>",
        "<form action='//x'><input name=csrfmiddlewaretoken></form>",
        "![x](data:text/html;base64,AAAA)",
    ],
)
def test_what_organisers_write_cannot_run(source: str) -> None:
    rendered = to_html(source)
    for forbidden in (
        "<script",
        "onerror",
        '="javascript:',
        "style",
        "onclick",
        "<iframe",
        "<form",
        "<input",
        '="data:',
    ):
        assert forbidden not in rendered


def test_tables_code_and_emphasis_are_rendered() -> None:
    rendered = to_html("|가|나|\n|--|--:|\n|1|**2**|\n\n```\n<코드>\n```")
    assert '<td align="right"><strong>2</strong></td>' in rendered
    assert '<pre tabindex="0"><code>&lt;코드&gt;\n</code></pre>' in rendered


def test_a_title_inside_a_text_is_no_second_title_of_the_page() -> None:
    assert to_html("# 제목\n## 다음") == "<h2>제목</h2>\n<h2>다음</h2>"


@pytest.mark.parametrize(
    "address",
    [
        "https://elsewhere.example/a.png",
        "HTTPS:elsewhere.example/a.png",
        "https:/\\elsewhere.example/a.png",
        "//elsewhere.example/a.png",
        "/\\elsewhere.example/a.png",
        "\\\\elsewhere.example/a.png",
        "\\/elsewhere.example/a.png",
        "/&#9;/elsewhere.example/a.png",
        "/\t/elsewhere.example/a.png",
        "/\n/elsewhere.example/a.png",
        "/\r\\elsewhere.example/a.png",
        " //elsewhere.example/a.png",
        "&#1;//elsewhere.example/a.png",
        "/&#92;elsewhere.example/a.png",
        "data:image/png;base64,elsewhere",
        "elsewhere.png",
    ],
)
def test_an_image_from_another_site_is_not_fetched(address: str) -> None:
    rendered = to_html(f'<img alt="그림" src="{address}">')
    assert '<img alt="그림">' in rendered


def test_what_is_written_without_html_leads_here_or_nowhere() -> None:
    assert "src=" not in to_html("![그림](https://elsewhere.example/a.png) ![그림](//elsewhere.example/a.png)")
    assert 'src="/%5Celsewhere.example/a.png"' in to_html("![그림](/\\elsewhere.example/a.png)"), "a name of this site"


@pytest.mark.parametrize("address", ["/static/a.png", "/", "/경진%20대회/그림.png?v=2#위", "/a//b.png"])
def test_an_image_of_the_site_stays(address: str) -> None:
    assert to_html(f'<img src="{address}" alt="그림">') == f'<img src="{address}" alt="그림">'
    assert 'src="/' in to_html(f"![그림]({address})")


@pytest.mark.parametrize("piece", ["[", "![", "[a](", "*a ", "_a__", "> ", "- a\n", "`a"])
def test_hostile_text_is_rendered_in_bounded_time(piece: str) -> None:
    """Python-Markdown took 65 s of processor time for 20,000 brackets."""
    started = time.process_time()
    to_html(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 5


def test_a_text_longer_than_forms_accept_is_shown_as_it_is() -> None:
    assert to_html("[" * (MARKDOWN_MAX_CHARS + 1)).count("[") == MARKDOWN_MAX_CHARS + 1
    assert "<b>" not in to_html("<b>**" + "x" * MARKDOWN_MAX_CHARS)


def test_a_text_is_rendered_once_and_the_texts_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    clean = markdown.nh3.clean

    def counted(html: str, **options: Any) -> str:
        rendered.append(html)
        return clean(html, **options)

    monkeypatch.setattr(markdown.nh3, "clean", counted)
    to_html.cache_clear()
    assert [to_html("**첫 글**"), to_html("**첫 글**")] == ["<p><strong>첫 글</strong></p>"] * 2
    assert len(rendered) == 1
    for number in range(RENDERED_KEPT):
        to_html(f"{number}번째 글")
    assert to_html.cache_info().currsize == RENDERED_KEPT == to_html.cache_info().maxsize
    assert len(rendered) == 1 + RENDERED_KEPT
    to_html(f"{RENDERED_KEPT - 1}번째 글")
    assert len(rendered) == 1 + RENDERED_KEPT, "the newest are kept"
    to_html("**첫 글**")
    assert len(rendered) == 2 + RENDERED_KEPT, "the oldest went"


def test_times_are_korean_and_say_so() -> None:
    assert kst_text(NOW, seconds=False) == "2026-11-20 23:50 KST"
    assert kst_text(NOW) == "2026-11-20 23:50:05 KST"


@pytest.mark.parametrize(
    ("then", "korean", "english"),
    [
        (datetime(2026, 11, 20, 14, 59, tzinfo=UTC), "마감 D-DAY", "Closes today"),
        (datetime(2026, 11, 20, 15, 0, tzinfo=UTC), "마감 D-1", "Closes in 1 day"),
        (datetime(2026, 11, 23, 1, 0, tzinfo=UTC), "마감 D-3", "Closes in 3 days"),
    ],
)
def test_days_left_are_korean_calendar_days(then: datetime, korean: str, english: str) -> None:
    assert formatting.closes_in_text(then, NOW) == korean
    with translation.override("en"):
        assert formatting.closes_in_text(then, NOW) == english


@pytest.mark.parametrize(
    ("then", "korean", "english"),
    [
        (NOW, "방금", "just now"),
        (NOW - timedelta(seconds=59), "방금", "just now"),
        (NOW + timedelta(seconds=59), "곧", "any moment now"),
        (NOW - timedelta(minutes=1), "1분 전", "1 minute ago"),
        (NOW + timedelta(minutes=59, seconds=59), "59분 뒤", "in 59 minutes"),
        (NOW + timedelta(hours=23, minutes=59), "23시간 뒤", "in 23 hours"),
        (NOW - timedelta(hours=25), "1일 전", "1 day ago"),
        (NOW + timedelta(hours=25), "2일 뒤", "in 2 days"),  # the day after tomorrow: it is nearly midnight in Korea
        (NOW - timedelta(days=59), "59일 전", "59 days ago"),
        (NOW - timedelta(days=60), "2개월 전", "2 months ago"),
        (NOW + timedelta(days=800), "2년 뒤", "in 2 years"),
    ],
)
def test_how_long_ago_in_the_largest_unit_that_fits(then: datetime, korean: str, english: str) -> None:
    assert formatting.ago_text(then, NOW) == korean
    with translation.override("en"):
        assert formatting.ago_text(then, NOW) == english


def test_prose_says_the_moment_and_beside_it_how_long_ago() -> None:
    moment = timezone.now() - timedelta(days=3)
    exact = f'<time datetime="{moment.isoformat()}">{kst_text(moment, seconds=False)}</time>'
    assert when(moment) == f'{exact} <span class="ago">(3일 전)</span>'
    assert kst_text(moment, seconds=True) in when(moment, "seconds")
    assert when(None) == "–"


@pytest.mark.parametrize(
    ("value", "scale", "decimals", "text"),
    [(0.8222839456, 100, 7, "82.2283946"), (1.0, 100, 7, "100.0000000"), (0.5, 1, 4, "0.5000"), (None, 100, 7, "–")],
)
def test_scores_have_the_scale_and_decimals_of_their_track(
    value: float | None, scale: int, decimals: int, text: str
) -> None:
    assert formatting.scaled_text(value, scale, decimals) == text


def test_the_width_of_a_text_counts_a_syllable_twice() -> None:
    assert formatting.text_width("서술 avg") == 8


def test_the_stage_of_a_run_is_a_column_of_the_board_in_the_readers_language() -> None:
    assert scores.stage_label("culture-qa@1", "accuracy") == "정확도"
    with translation.override("en"):
        assert scores.stage_label("culture-qa@1", "accuracy") == "Accuracy"


def test_a_share_and_a_count_of_coverage_read_as_such() -> None:
    assert scores.coverage_of({"items": 1498, "reason_coverage": 0.9395, "unknown": 1}) == [
        ("전체 문항", "1,498"),
        ("이유 응답률", "94.0%"),
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (7, "7"), (99, "99"), (104, "100"), (123_456, "120,000"), (9_960_000, "10,000,000")],
)
def test_a_rough_number_has_two_digits_that_tell(count: int, text: str) -> None:
    assert formatting.rough_text(count) == text


def test_every_metric_of_every_recipe_has_a_label() -> None:
    for recipe in RECIPES.values():
        for metric in (*recipe.metrics, *recipe.optional_metrics):
            label = recipe.metric_label(metric)
            assert label != metric or metric in {column.key for column in recipe.columns}, (recipe.id, metric)


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (3, "예상 완료 23:53 KST (약 3분 뒤)"),
        (0, "예상 완료 23:50 KST (약 1분 뒤)"),
        (15, "예상 완료 2026-11-21 00:05 KST (약 15분 뒤)"),
        (66, "예상 완료 2026-11-21 00:56 KST (약 1시간 5분 뒤)"),
        (61, "예상 완료 2026-11-21 00:51 KST (약 1시간 뒤)"),
        (118, "예상 완료 2026-11-21 01:48 KST (약 2시간 뒤)"),
    ],
)
def test_expected_end_is_a_clock_in_kst_and_about_how_long(minutes: int, text: str) -> None:
    assert formatting.expected_end_text(NOW + timedelta(minutes=minutes), NOW) == text
