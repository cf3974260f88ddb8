"""What the page of a file says of it: items, fields, lengths and how it begins; nothing of what is no list of items."""

from __future__ import annotations

import json
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from malpan.competitions import data_facts
from malpan.competitions.data_facts import SHOWN, SHOWN_CHARS, DataFacts, FieldFacts, facts_of, facts_of_files
from malpan.competitions.services import add_data_file
from malpan.core.errors import StorageUnavailable
from tests.factories import TrackFactory

ROWS = [
    {"id": "q1", "input": {"question": "가나다", "choices": ["1", "2"]}},
    {"id": "q2", "input": {"question": "가나다라마", "choices": []}},
    {"id": "q33", "input": {"question": "가", "hint": "나"}},
]
FIELDS = [
    FieldFacts("id", 3, 2, 2, 3),
    FieldFacts("input.question", 3, 1, 3, 5),
    FieldFacts("input.choices", 2),
    FieldFacts("input.hint", 1, 1, 1, 1),
]


def in_json(rows: object) -> bytes:
    return json.dumps(rows, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (in_json(ROWS), "data.json"),
        (in_json({"version": "1", "data": ROWS}), "data.json"),
        (b"\xef\xbb\xbf" + in_json(ROWS), "DATA.JSON"),
        (b"\n".join(map(in_json, ROWS)) + b"\n\n", "data.jsonl"),
    ],
)
def test_items_fields_and_lengths_are_counted_in_every_form(data: bytes, name: str) -> None:
    found = facts_of(data, name)
    assert found is not None
    assert (found.items, list(found.fields)) == (3, FIELDS)
    assert [json.loads(text) for text in found.preview] == ROWS[:SHOWN]


def test_a_table_has_its_columns_as_fields_and_empty_cells_count_as_none() -> None:
    found = facts_of('id,문장\n1,가나\n2,\n3,"가,\n나다라"\n'.encode(), "data.csv")
    assert found is not None
    assert list(found.fields) == [FieldFacts("id", 3, 1, 1, 1), FieldFacts("문장", 2, 2, 4, 6)]


def test_a_long_item_is_cut_and_of_many_the_first_are_shown() -> None:
    found = facts_of(in_json([{"text": "가" * 5000}] * 9), "data.json")
    assert found is not None
    assert len(found.preview) == SHOWN
    assert all(len(text) <= SHOWN_CHARS + 2 and text.endswith("…") for text in found.preview)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "data.json"),
        (b"[]", "data.json"),
        (b"[1, 2]", "data.json"),
        (b'{"a": [{"b": 1}], "c": [{"d": 1}]}', "data.json"),
        (b'[{"a": 1}', "data.json"),
        ("[{}]".encode("utf-16"), "data.json"),
        (b"[" * 100_000, "data.json"),
        (b"PK\x03\x04", "data.zip"),
        (b'a,b\n"1', "data.csv"),
    ],
)
def test_what_is_no_list_of_items_has_no_preview(data: bytes, name: str) -> None:
    assert facts_of(data, name) is None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # others may load the machine
@given(st.binary(max_size=200), st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.tsv", "a"]))
def test_no_file_breaks_the_page(data: bytes, name: str) -> None:
    found = facts_of(data, name)
    assert found is None or isinstance(found, DataFacts)


@pytest.mark.django_db
def test_a_file_is_read_once_and_documents_and_large_ones_never(monkeypatch: pytest.MonkeyPatch) -> None:
    track = TrackFactory.create()
    file, document, large = (
        add_data_file(track=track, kind=kind, title_ko="자료", file_name="data.json", data=in_json([*ROWS, *extra]))
        for kind, extra in (("data", []), ("document", [{"id": "d"}]), ("sample", [{"id": "x" * 2000}]))
    )
    monkeypatch.setattr(data_facts, "LARGEST", 1000)
    assert list(facts_of_files([file, document, large])) == [file.pk]
    monkeypatch.setattr(data_facts, "read_private", lambda _sha256: pytest.fail("read again"))
    assert facts_of_files([file])[file.pk].items == 3


@pytest.mark.django_db
def test_a_file_that_is_away_has_no_preview_now_and_one_later(monkeypatch: pytest.MonkeyPatch) -> None:
    data = in_json([{"id": "away"}])
    file = add_data_file(track=TrackFactory.create(), kind="data", title_ko="자료", file_name="data.json", data=data)
    with monkeypatch.context() as away:
        away.setattr(data_facts, "read_private", mock.Mock(side_effect=StorageUnavailable))
        assert facts_of_files([file]) == {}
    assert facts_of_files([file])[file.pk].items == 1


def test_half_a_surrogate_pair_can_be_shown() -> None:
    found = facts_of(b'[{"\\ud800": "\\udfff"}]', "data.json")
    assert found is not None
    assert "".join([*found.preview, *(field.name for field in found.fields)]).encode()
