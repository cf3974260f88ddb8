"""Scales and the places of what is drawn."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from django.template.loader import render_to_string
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from malpan.web.plots.bars import LABELS, Column, bars
from malpan.web.plots.forest import LABEL_COLUMNS, Estimate, cut, forest
from malpan.web.plots.line import Point, line
from malpan.web.plots.matrix import SHADES, correlation_matrix, win_matrix
from malpan.web.plots.scales import Scale, tick_text, ticks
from malpan.web.plots.scatter import Point as Placed
from malpan.web.plots.scatter import scatter
from malpan.web.plots.slope import Move, slopes
from malpan.web.plots.strip import BINS, strip
from malpan.web.plots.times import time_text, time_ticks

at_any_pace = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # others may load the machine


@at_any_pace
@given(low=st.floats(-1e6, 1e6), share=st.floats(1e-3, 1e3), most=st.integers(3, 12))
def test_ticks_are_round_few_and_around_the_values(low: float, share: float, most: int) -> None:
    width = share * max(1.0, abs(low))
    high = low + width
    found = ticks(low, high, most)
    assert 2 <= len(found) <= most
    steps = {round((after - before) / width, 6) for before, after in pairwise(found)}
    assert max(steps) - min(steps) <= 2e-6
    slack = 1e-6 * max(abs(low), abs(high), width)
    assert found[0] <= low + slack
    assert found[-1] >= high - slack


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-1.3, 1.1, [-2.0, -1.0, 0.0, 1.0, 2.0]),
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.41, 0.43, [0.41, 0.415, 0.42, 0.425, 0.43]),
        (3.0, 3.0, [2.5, 2.75, 3.0, 3.25, 3.5]),
        (0.0, 5e-324, [-0.5, -0.25, 0.0, 0.25, 0.5]),
    ],
)
def test_ticks_of_known_ranges(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == expected


@pytest.mark.parametrize("ends", [(math.nan, 1.0), (0.0, math.inf), (1.0, 0.0)])
def test_what_is_no_range_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="no range"):
        ticks(*ends)


@pytest.mark.parametrize(
    ("high", "expected"), [(2, [0, 1, 2]), (5, [0, 2, 4, 6]), (8, [0, 2, 4, 6, 8]), (9, [0, 5, 10])]
)
def test_ticks_of_counts_are_whole_numbers(high: int, expected: list[int]) -> None:
    assert ticks(0, high, 5, is_count=True) == expected


def test_texts_of_ticks_have_the_same_decimals_and_a_true_minus() -> None:
    assert [tick_text(value, [-0.5, 0.0, 0.5]) for value in (-0.5, 0.0)] == ["−0.5", "0.0"]
    assert tick_text(0.25, [0.0, 0.25]) == "0.25"


def test_a_scale_is_linear_and_ends() -> None:
    scale = Scale(-1, 1, 100, 300)
    assert [scale(value) for value in (-1, 0, 0.5, 1, 7, -7)] == [100, 200, 250, 300, 300, 100]


def test_long_names_are_cut_by_columns() -> None:
    assert cut("짧은 이름", LABEL_COLUMNS) == "짧은 이름"
    assert cut("가나다라마바사", 8) == "가나다…"
    assert cut("abcdefghij", 8) == "abcdefg…"


def test_a_forest_has_a_line_for_every_estimate() -> None:
    plot = forest(
        [Estimate("고래", 0.4, 0.1, 0.7), Estimate("아주 긴 이름을 가진 참가 팀의 모형", -0.4, -0.9, 0.1, True)]
    )
    assert plot is not None
    assert forest([]) is None
    assert plot.narrow is not None
    for one in (plot, plot.narrow):
        for row in one.rows:
            assert 0 < row.low < row.value < row.high < one.width
    assert plot.narrow.width < 360, "a phone shows all of it"
    for before, after in pairwise(plot.narrow.rows):
        assert before.text_y < before.y < after.top < after.text_y, "a label is above its own line"
    zero = next(tick.x for tick in plot.ticks if tick.is_zero)
    assert plot.rows[0].low > zero > plot.rows[1].value
    words = {"plot": plot, "id": "forest", "title": "강도", "description": "95 % 구간 <신뢰>"}
    drawn = ElementTree.fromstring(render_to_string("plots/forest.html", words).strip())
    wide, narrow = drawn.findall(".//svg")
    for each, of in ((wide, plot), (narrow, plot.narrow)):
        assert len(each.findall(".//circle")) == 2
        assert each.find("desc").text == "95 % 구간 <신뢰>"
        assert each.attrib["viewBox"] == f"0 0 {of.width} {of.height}"
    assert [text.text for text in wide.findall(".//g/text")][1].endswith("…")
    assert [text.text for text in narrow.findall(".//g/text")] == ["고래", "아주 긴 이름을 가진 참가 팀의 모형"]
    names = [each.attrib["id"] for each in drawn.iter() if "id" in each.attrib]
    assert len(names) == len(set(names)) == 4
    assert "style" not in render_to_string("plots/forest.html", words)


def test_the_cells_of_a_matrix_are_shaded_by_the_share_won() -> None:
    plot = win_matrix(["1", "2", "3"], [[0, 9, 0], [1, 0, 2], [0, 2, 0]], [[0, 0, 0], [0, 0, 4], [0, 4, 0]])
    assert plot is not None
    shades = {(cell.x, cell.y): (cell.text, cell.shade) for cell in plot.cells}
    assert sorted(shades.values(), key=str) == sorted(
        [("9", SHADES - 1), ("–", None), ("1", 0), ("2", 4), ("–", None), ("2", 4)], key=str
    )
    words = {"plot": plot, "id": "wins", "title": "승패", "description": "설명"}
    drawn = ElementTree.fromstring(render_to_string("plots/matrix.html", words).strip())
    assert len(drawn.findall(".//rect")) == 6
    assert win_matrix([], [], []) is None
    with pytest.raises(ValueError, match="fit"):
        win_matrix(["1"], [[0, 1]], [[0]])


def test_bars_stand_on_each_other_and_are_as_high_as_their_counts() -> None:
    plot = bars([Column("0시", (3, 1)), Column("1시", (0, 0)), Column("2시", (4, 0), is_marked=True)])
    assert plot is not None
    first, failed, last = plot.bars
    assert [bar.part for bar in plot.bars] == [0, 1, 0]
    assert first.height == pytest.approx(3 * failed.height, abs=0.4)
    assert failed.y + failed.height == pytest.approx(first.y, abs=0.2)
    assert last.height == pytest.approx(first.height + failed.height, abs=0.4)
    assert first.y + first.height == last.y + last.height == plot.bottom
    assert (first.is_marked, last.is_marked) == (False, True)
    words = {"plot": plot, "id": "hours", "title": "시간마다", "description": "<끝난 채점>"}
    drawn = ElementTree.fromstring(render_to_string("plots/bars.html", words).strip())
    assert len(drawn.findall(".//rect")) == 3
    assert drawn.find(".//desc").text == "<끝난 채점>"


def test_the_edges_of_a_histogram_stand_below_the_sides_of_its_bars() -> None:
    plot = bars([Column("0–10", (2,)), Column("10–20", (5,))], ["0", "10", "20"])
    assert plot is not None
    assert [(mark.label, mark.place) for mark in plot.labels] == [
        ("0", plot.left),
        ("10", (plot.left + plot.right) / 2),
        ("20", plot.right),
    ]
    assert plot.right < plot.width  # the last label is whole
    sides = [side for bar in plot.bars for side in (bar.x, bar.x + bar.width)]
    assert sides == pytest.approx([plot.left, plot.labels[1].place, plot.labels[1].place, plot.right], abs=2)
    with pytest.raises(ValueError, match="edges"):
        bars([Column("0–10", (2,))], ["0"])


def test_bars_of_nothing_are_not_drawn_and_their_labels_are_few() -> None:
    assert bars([]) is None
    assert bars([Column("0시", (0,))]) is None
    plot = bars([Column(str(number), (1,)) for number in range(100)])
    assert plot is not None
    assert len(plot.bars) == 100
    assert 5 <= len(plot.labels) <= LABELS
    with pytest.raises(ValueError, match="negative"):
        bars([Column("0시", (-1,))])


MONDAY = datetime(2026, 11, 23, 1, 30, tzinfo=UTC)  # 10:30 in KST


@at_any_pace
@given(minutes=st.integers(0, 60 * 24 * 400), shift=st.integers(0, 60 * 24 * 30), most=st.integers(1, 12))
def test_ticks_of_time_are_few_equal_and_within_the_span(minutes: int, shift: int, most: int) -> None:
    start = MONDAY + timedelta(minutes=shift)
    end = start + timedelta(minutes=minutes)
    found = time_ticks(start, end, most)
    assert len(found) <= most
    assert all(start <= tick <= end for tick in found)
    assert len({after - before for before, after in pairwise(found)}) <= 1


def test_ticks_of_time_stand_at_round_moments_of_korea() -> None:
    found = time_ticks(MONDAY, MONDAY + timedelta(days=4))
    assert [time_text(tick, timedelta(days=9)) for tick in found] == ["11-24", "11-25", "11-26", "11-27"]
    hours = time_ticks(MONDAY, MONDAY + timedelta(hours=4))
    assert [time_text(tick, timedelta(hours=4)) for tick in hours] == ["11:00", "12:00", "13:00", "14:00"]
    with pytest.raises(ValueError, match="no range"):
        time_ticks(MONDAY, MONDAY - timedelta(hours=1))


def test_a_line_goes_through_its_points_in_the_order_of_time() -> None:
    points = [Point(MONDAY + timedelta(hours=hour), value) for hour, value in ((0, 1.0), (2, 3.0), (4, 2.0))]
    plot = line(points)
    assert plot is not None
    xs, ys = [dot.x for dot in plot.dots], [dot.y for dot in plot.dots]
    assert xs == [plot.left, (plot.left + plot.right) / 2, plot.right]
    assert ys[1] < ys[2] < ys[0] <= plot.bottom
    assert plot.path == f"M{xs[0]} {ys[0]}L{xs[1]} {ys[1]}L{xs[2]} {ys[2]}"
    words = {"plot": plot, "id": "trend", "title": "흐름", "description": "<점수>"}
    drawn = ElementTree.fromstring(render_to_string("plots/line.html", words).strip())
    assert len(drawn.findall(".//circle")) == 3
    assert drawn.find(".//desc").text == "<점수>"
    assert line(points[:1]) is None
    assert line([Point(MONDAY, 1.0), Point(MONDAY, 2.0)]) is None
    with pytest.raises(ValueError, match="order"):
        line(points[::-1])


def test_a_value_that_holds_until_the_next_is_a_step() -> None:
    points = [Point(MONDAY, 1.0), Point(MONDAY + timedelta(hours=1), 2.0)]
    plot = line(points, holds_until=MONDAY + timedelta(hours=2))
    assert plot is not None
    one, other = plot.dots
    assert plot.path == f"M{one.x} {one.y}H{other.x}V{other.y}H{float(plot.right)}"
    assert other.x == (plot.left + plot.right) / 2


@at_any_pace
@given(st.lists(st.floats(0, 1), min_size=1, max_size=400), st.floats(0, 1))
def test_a_strip_has_a_bar_for_every_value_and_its_mark_between_the_ends(values: list[float], own: float) -> None:
    plot = strip(values, own)
    if plot is None:
        assert min([*values, own]) == max([*values, own])
        return
    assert 1 <= plot.bars.count("M") == plot.bars.count("z") <= min(BINS, len(values))
    assert plot.own is not None
    assert 0 < plot.own < plot.width


def test_a_strip_is_as_high_as_most_have_a_value() -> None:
    plot = strip([0.0, 0.0, 0.0, 1.0])
    assert plot is not None
    heights = [float(bar.split("v-")[1].split("h")[0]) for bar in plot.bars.split("M")[1:]]
    assert heights[0] == pytest.approx(3 * heights[1], abs=0.2)
    assert plot.own is None
    words = {"plot": plot, "title": "점수 <분포>"}
    drawn = ElementTree.fromstring(render_to_string("plots/strip.html", words).strip())
    assert drawn.find("title").text == "점수 <분포>"
    assert strip([], 0.5) is None


def test_slopes_go_from_the_place_before_to_the_one_after() -> None:
    plot = slopes([Move("가람", 1, 3), Move("나래", 2, 1, is_marked=True), Move("다솜", 3, 2)])
    assert plot is not None
    first, own, third = plot.slopes
    assert first.left_y < own.left_y < third.left_y
    assert own.right_y < third.right_y < first.right_y
    assert [each.rises for each in plot.slopes] == [False, True, True]
    assert (own.left_label, own.right_label, own.is_marked) == ("나래 2", "1 나래", True)
    words = {"plot": plot, "id": "moved", "title": "이동", "description": "<순위>"}
    drawn = ElementTree.fromstring(render_to_string("plots/slope.html", words).strip())
    assert len(drawn.findall(".//line")) == 3
    assert drawn.find(".//desc").text == "<순위>"
    assert slopes([]) is None
    with pytest.raises(ValueError, match="count from 1"):
        slopes([Move("가람", 0, 1)])


def test_correlations_are_shaded_from_none_at_minus_one_to_most_at_one() -> None:
    plot = correlation_matrix(["1", "2", "3"], [[None, -1.0, 1.0], [-1.0, None, None], [1.0, None, None]])
    assert plot is not None
    shades = [(cell.text, cell.shade) for cell in plot.cells]
    assert shades == [("−1.00", 0), ("1.00", SHADES - 1), ("−1.00", 0), ("–", None), ("1.00", SHADES - 1), ("–", None)]
    assert correlation_matrix([], []) is None
    with pytest.raises(ValueError, match="fit"):
        correlation_matrix(["1", "2"], [[None, 0.5]])


@at_any_pace
@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 1)), min_size=2, max_size=50))
def test_points_lie_between_the_axes_in_the_order_of_their_values(values: list[tuple[float, float]]) -> None:
    plot = scatter([Placed(x, y, str(at)) for at, (x, y) in enumerate(values)], "가로", "세로")
    assert plot is not None
    assert len(plot.dots) == len(values)
    for dot, (x, y) in zip(plot.dots, values, strict=True):
        assert plot.left <= dot.x <= plot.right
        assert plot.top <= dot.y <= plot.bottom
        for other, (other_x, other_y) in zip(plot.dots, values, strict=True):
            assert other_x < x or other.x >= dot.x
            assert other_y < y or other.y <= dot.y


def test_a_point_of_what_is_own_is_drawn_last_with_a_ring_and_every_point_says_what_it_is() -> None:
    plot = scatter([Placed(0.0, 0.0, "나", is_marked=True), Placed(1.0, 0.5, "<남>")], "가로 지표", "세로 지표")
    assert plot is not None
    assert [(dot.label, dot.x, dot.y) for dot in plot.dots] == [
        ("<남>", plot.right, plot.top),
        ("나", plot.left, plot.bottom),
    ]
    words = {"plot": plot, "id": "metrics", "title": "두 지표", "description": "설명"}
    drawn = ElementTree.fromstring(render_to_string("plots/scatter.html", words).strip())
    circles = drawn.findall(".//circle")
    assert [circle.find("title").text for circle in circles] == ["<남>", "나"]
    assert ["plot-here" in circle.attrib["class"] for circle in circles] == [False, True]
    assert {"↑ 세로 지표", "가로 지표 →"} <= {text.text for text in drawn.findall(".//text")}
    assert scatter([Placed(0.0, 0.0, "나")], "x", "y") is None
