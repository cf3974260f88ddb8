"""Two sets of reference answers, item by item."""

from __future__ import annotations

from malpan.competitions.reference_diff import diff_references
from scoring.records import Item, Items


def file_of(*answers: Item) -> Items:
    return Items(answers, "json-array", "0" * 64)


def answer(item: str, text: str, *others: str, kind: str | None = "선택형") -> Item:
    return Item(item, text, 1, kind, {"question": f"{item} 문제"}, others)


def test_a_changed_answer_stands_with_its_old_and_new_text():
    found = diff_references(
        file_of(answer("q1", "가"), answer("q2", "나")), file_of(answer("q1", "가#거"), answer("q2", "나"))
    )

    [change] = found.changed
    assert (change.id, change.question, change.old, change.new) == ("q1", "q1 문제", ("가",), ("가#거",))
    assert (found.added, found.removed, found.unchanged_count) == ((), (), 1)
    assert found.keeps_ids
    assert not found.is_empty


def test_added_and_removed_items_are_told_apart():
    found = diff_references(
        file_of(answer("q1", "가"), answer("q2", "나")), file_of(answer("q2", "나"), answer("q3", "다"))
    )

    assert [change.id for change in found.added] == ["q3"]
    assert found.added[0].old == ()
    assert [change.id for change in found.removed] == ["q1"]
    assert found.removed[0].new == ()
    assert not found.keeps_ids


def test_another_order_or_line_is_no_change():
    before = file_of(answer("q1", "가"), answer("q2", "나"))
    after = file_of(Item("q2", "나", 9, "선택형"), Item("q1", "가", 12, "선택형"))

    assert diff_references(before, after).is_empty


def test_a_further_reference_or_another_question_type_is_a_change():
    before = file_of(answer("q1", "가"), answer("q2", "나"))
    after = file_of(answer("q1", "가", "거"), answer("q2", "나", kind="교정형"))

    assert [(change.id, change.new, change.new_type) for change in diff_references(before, after).changed] == [
        ("q1", ("가", "거"), "선택형"),
        ("q2", ("나",), "교정형"),
    ]


def test_the_first_version_adds_every_item():
    found = diff_references(None, file_of(answer("q1", "가")))

    assert [change.id for change in found.added] == ["q1"]
    assert found.unchanged_count == 0
