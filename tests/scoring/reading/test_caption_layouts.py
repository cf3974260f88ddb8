"""The layouts of data sets and tools: equal items from each, names of files for ids, and the language scored."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from scoring.cli import main
from scoring.errors import InvalidFile
from scoring.reading import MAX_ITEMS, read_predictions, read_references
from scoring.reading.file_formats import format_label
from scoring.recipes import get_recipe
from scoring.records import Items
from tests.scoring.caption_layouts import FILES, PREDICTION_LAYOUTS, PREDICTIONS, REFERENCE_LAYOUTS, REFERENCES
from tests.scoring.caption_samples import dumped, lines

CAPTIONING = get_recipe("captioning-lexical@1")


def gold(text: str) -> Items:
    return read_references(text.encode(), CAPTIONING)


def given(text: str, references: Items | None = None) -> Items:
    return read_predictions(text.encode(), CAPTIONING, references)


def texts(items: Items) -> dict[str, str]:
    return {item.id: item.text for item in items.items}


def first_error(text: str, references: Items | None = None) -> tuple[str, int | None, str | None, str | None]:
    with pytest.raises(InvalidFile) as caught:
        given(text, references)
    error = caught.value.errors[0]
    return error.code, error.line, error.item_id, error.field


@pytest.mark.parametrize("name", REFERENCE_LAYOUTS)
def test_every_layout_of_references_holds_the_same_items(name: str) -> None:
    layout = REFERENCE_LAYOUTS[name]
    references = gold(layout.text)
    assert references.format == layout.format
    expected = layout.references()
    if layout.format == "activitynet":
        expected = {item_id: [" ".join(sentences)] for item_id, sentences in expected.items()}
    assert {item.id: list(item.texts) for item in references.items} == expected


@pytest.mark.parametrize("name", PREDICTION_LAYOUTS)
@pytest.mark.parametrize("has_references", [True, False])
def test_every_layout_of_predictions_holds_the_same_items(name: str, has_references: bool) -> None:
    layout = PREDICTION_LAYOUTS[name]
    predictions = given(layout.text, gold(dumped(REFERENCES)) if has_references else None)
    assert (predictions.format, texts(predictions)) == (layout.format, PREDICTIONS)


def test_every_layout_says_where_it_comes_from_and_is_named() -> None:
    for layout in (*REFERENCE_LAYOUTS.values(), *PREDICTION_LAYOUTS.values()):
        assert layout.source
        assert all(format_label(layout.format, language) for language in ("ko", "en"))


# ------------------------------------------------------------------------------------------------ names of files


@pytest.mark.parametrize("name", ["COCO", "COCO, pictures last", "Karpathy", "AI-Hub MSCOCO"])
@pytest.mark.parametrize("form", ["id", "name", "name without ending", "file_name", "image", "file_path", "csv"])
def test_a_candidate_may_name_its_picture_by_id_or_by_file(name: str, form: str) -> None:
    stems = {item_id: name.partition(".")[0] for item_id, name in FILES.items()}
    text = {
        "id": dumped(PREDICTIONS),
        "name": dumped({FILES[i]: text for i, text in PREDICTIONS.items()}),
        "name without ending": dumped({stems[i]: text for i, text in PREDICTIONS.items()}),
        "file_name": dumped([{"file_name": FILES[i], "caption": text} for i, text in PREDICTIONS.items()]),
        "image": lines([{"image": f"/data/{FILES[i]}", "caption": text} for i, text in PREDICTIONS.items()]),
        "file_path": dumped([{"id": n, "file_path": FILES[i], "caption": PREDICTIONS[i]} for n, i in enumerate(FILES)]),
        "csv": "image,caption\n" + "".join(f"{FILES[i]},{i}\n" for i in PREDICTIONS),
    }[form]
    references = gold(REFERENCE_LAYOUTS[name].text)
    assert list(texts(given(text, references))) == list(PREDICTIONS)


def test_a_picture_named_by_id_and_by_file_is_named_twice() -> None:
    references = gold(REFERENCE_LAYOUTS["COCO"].text)
    text = '{"391895": "",\n"COCO_val2014_000000391895.jpg": ""}'
    assert first_error(text, references) == ("duplicate_id", 2, "COCO_val2014_000000391895.jpg", "id")


def pictures(names: dict[int, str]) -> Items:
    return gold(
        dumped(
            {
                "images": [{"id": number, "file_name": name} for number, name in names.items()],
                "annotations": [{"id": 9, "image_id": number, "caption": f"그림 {number}"} for number in names],
            }
        )
    )


def test_a_name_that_is_an_id_and_another_items_file_is_told_by_its_key_or_refused() -> None:
    references = pictures({1: "0.jpg", 2: "1.jpg", 3: "2.jpg"})
    assert first_error('{"3": "x",\n"1": "x"}', references) == ("ambiguous_name", 2, "1", "id")
    assert first_error("1.jpg\tx\n", references) == ("ambiguous_name", 1, "1.jpg", "id")
    rows = [{"image_id": 1, "caption": "id 1"}, {"file_name": "1.jpg", "caption": "file 1"}]
    assert texts(given(dumped(rows), references)) == {"1": "id 1", "2": "file 1"}
    assert texts(given("image_id,caption\n1,x\n", references)) == {"1": "x"}
    assert texts(given("file_name,caption\n1.jpg,x\n", references)) == {"2": "x"}
    assert texts(given('{"0": "x", "3": "y"}', references)) == {"1": "x", "3": "y"}


def test_a_file_of_several_items_names_none_of_them() -> None:
    references = pictures({1: "a.jpg", 2: "a.jpg", 3: "b/c.jpg", 4: "d/c.jpg"})
    for text in ('{"a": "x"}', "a.jpg\tx\n", '[{"image": "b/c.jpg", "caption": "x"}]'):
        assert first_error(text, references)[0] == "ambiguous_name"
    assert texts(given('{"1": "x", "b/c.jpg": "y"}', references)) == {"1": "x", "3": "y"}
    with pytest.raises(InvalidFile) as caught:
        given('{"a": "x"}', references)
    assert all("«a»" in caught.value.errors[0].message(language) for language in ("ko", "en"))


def test_pictures_that_are_not_as_they_should_be_name_nothing() -> None:
    broken = [{"id": 1}, {"file_name": 3, "id": 1}, 7, None, {"id": [1], "file_name": "b.jpg"}]
    text = dumped({"images": broken, "annotations": [{"image_id": 1, "caption": "가"}]})
    assert gold(text).aliases == {}
    assert gold(text.replace('"images"', '"x"', 1)).items == gold(text).items


def test_paths_that_meet_without_their_folders_are_refused() -> None:
    rows = [{"file_path": f"{folder}/1.jpg", "caption": "가"} for folder in ("a", "b")]
    with pytest.raises(InvalidFile) as caught:
        gold(lines(rows))
    (error,) = caught.value.errors
    assert (error.code, error.line, error.item_id) == ("same_without_ending", 2, "b/1.jpg")


# ------------------------------------------------------------------------------------------------ several captions


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": "x",\n"b": ["y", "z"]}', (2, "b", "caption")),
        ('[{"id": "a", "captions": ["x"]},\n{"id": "b",\n"captions": ["x", "y"]}]', (3, "b", "captions")),
        ('{"a": [{"caption": "x"}],\n"b": [{"caption": "x"}, {"caption": "y"}]}', (2, "b", "caption")),
        ('{"results": {"a":\n[{"sentence": "x"}, {"sentence": "y"}]}}', (2, "a", "caption")),
        (REFERENCE_LAYOUTS["AI-Hub MSCOCO"].text, (1, "391895", "caption_ko")),
        (REFERENCE_LAYOUTS["Karpathy, lines"].text, (1, FILES["391895"], "sentences")),
    ],
)
def test_a_candidate_of_several_captions_is_told_so(text: str, place: tuple[int, str, str]) -> None:
    assert first_error(text) == ("several_captions", *place)


@pytest.mark.parametrize(
    ("text", "code", "line", "field"),
    [
        ('{"data": [{"caption": "x"}, {"caption": "y"}]}', "missing_field", 1, "id"),
        ('{"images": [{"caption": "x"}]}', "missing_field", 1, "id"),
        ('{"captions":\n[{"caption": "x"}]}', "missing_field", 2, "id"),
        ('[{"videoID": "a",\n"chCap": ["句"]}]', "missing_field", 1, "caption"),
        ('[{"id": "a",\n"caption_ko": 3, "caption": "x"}]', "wrong_type", 2, "caption_ko"),
        ('{"a": {"timestamps": [],\n"sentences": ["x",\n3]}}', "wrong_type", 3, "sentences.1"),
        ('{"a": [{"caption": "x"}], "b": [{"caption": "y"},\n{"text": "z"}]}', "missing_field", 2, "caption.1.caption"),
    ],
)
def test_a_bad_reference_in_a_layout_is_located(text: str, code: str, line: int, field: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        gold(text)
    error = caught.value.errors[0]
    assert (error.code, error.line, error.field) == (code, line, field)


def test_lists_of_rows_under_several_names_are_still_refused() -> None:
    rows = [{"image_id": n, "caption": "x"} for n in range(2)]
    assert first_error(dumped({"train": rows, "test": rows}))[0] == "several_caption_lists"


def test_a_truncated_dictionary_is_an_error_of_its_last_caption() -> None:
    text = '{"a": [{"caption": "x"}],\n"b": [{"caption": "y"'
    assert first_error(text) == ("truncated_json", 2, "b", None)


# ------------------------------------------------------------------------------------------------ CSV


def test_a_quoted_caption_of_csv_may_hold_commas_quotes_and_line_breaks() -> None:
    text = 'image,caption\r\na.jpg,"하나,\r\n""둘"""\r\n\r\nb.jpg,\r\n'
    assert [(item.id, item.text, item.line) for item in given(text).items] == [
        ("a", '하나,\r\n"둘"', 2),
        ("b", "", 5),
    ]


def test_the_korean_column_of_a_table_is_read() -> None:
    for separator in (",", "\t", "|"):
        text = (
            separator.join(("caption", "image", "caption_ko")) + "\n" + separator.join(("a dog", "a.png", "개")) + "\n"
        )
        assert texts(given(text)) == {"a": "개"}


def test_the_picture_comes_before_the_number_of_the_row() -> None:
    assert texts(given("id,image,caption\n1,a.png,개\n")) == {"a": "개"}


def test_a_row_of_a_table_that_does_not_fit_quotes_nothing_of_a_reference() -> None:
    for text in ("caption,image\n파도, 바다,a.png\n", "caption\timage\tn\n파도\t바다\ta.png\t1\n"):
        with pytest.raises(InvalidFile) as caught:
            gold(text)
        (error,) = caught.value.errors
        assert (error.code, error.line, error.item_id) == ("table_columns", 2, None)
        assert "바다" not in str(error.as_dict())


def test_more_rows_of_csv_than_the_limit_are_refused_at_their_line() -> None:
    text = "image,caption\n" + "".join(f"{n},x\n" for n in range(MAX_ITEMS + 1))
    assert first_error(text)[:2] == ("too_many_items", MAX_ITEMS + 2)


# ------------------------------------------------------------------------------------------------ language


def test_a_perfect_korean_file_scores_against_the_korean_captions_of_ai_hub() -> None:
    references = gold(REFERENCE_LAYOUTS["AI-Hub MSCOCO"].text)
    perfect = given(dumped({item.id: item.text for item in references.items}), references)
    layout = CAPTIONING.prepare(references, perfect)
    assert layout.pairs["meteor"].references == tuple(map(tuple, REFERENCES.values()))
    assert layout.warnings == ()


@pytest.mark.parametrize(
    "key", ["caption_ko", "captions_ko", "caption_kr", "ko", "koCap", "sentences_ko", "description_kr"]
)
def test_a_korean_field_comes_before_every_other(key: str) -> None:
    for other in ("caption", "captions", "sentence", "sentences", "answer", "enCap"):
        row = {"id": "a", other: "a dog", key: "개"}
        assert texts(given(dumped([row]))) == texts(gold(dumped([row]))) == {"a": "개"}
    assert texts(given(dumped({"a": {"caption": {"en": "a dog", key: ["개"]}}}))) == {"a": "개"}


def test_check_prints_the_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "R.json").write_text(dumped({"a": "waves"}), encoding="utf-8")
    (tmp_path / "P.json").write_text(dumped({"a": "파도"}), encoding="utf-8")
    options = ["--references", str(tmp_path / "R.json"), "--predictions", str(tmp_path / "P.json")]
    assert main(["check", "--recipe", CAPTIONING.id, *options]) == 0
    assert "정답 설명문이 한국어가 아닌" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ size


COUNT = 15_000


def _large(form: str, count: int) -> bytes:
    return _written(form, [(n, f"COCO_val2014_{n:012}.jpg") for n in range(count)]).encode()


def _written(form: str, names: list[tuple[int, str]]) -> str:
    match form:
        case "lists":
            return "{" + ",".join(f'"{n}":[{{"caption":"파도"}}]' for n, _ in names) + "}"
        case "COCO":
            images = ",".join(f'{{"id":{n},"file_name":"{name}"}}' for n, name in names)
            annotations = ",".join(f'{{"image_id":{n},"caption":"파도"}}' for n, _ in names)
            return f'{{"images":[{images}],"annotations":[{annotations}]}}'
        case "files in rows":
            return (
                "["
                + ",".join(f'{{"id":{n},"file_path":"val/{name}","caption_ko":["파도"]}}' for n, name in names)
                + "]"
            )
        case "one file":
            return "[" + ",".join(f'{{"id":{n},"file_name":"a","caption":"파도"}}' for n, _ in names) + "]"
        case _:
            return "image,caption\n" + "".join(f'{name},"파\n도"\n' for _, name in names)


@pytest.mark.parametrize("form", ["lists", "COCO", "files in rows", "one file", "CSV"])
def test_ten_times_the_items_take_ten_times_as_long(form: str) -> None:
    seconds = []
    for count in (COUNT // 10, COUNT):  # the square would take a hundred times as long
        data = _large(form, count)
        started = time.process_time()
        references = read_references(data, CAPTIONING)
        predictions = read_predictions(data, CAPTIONING, references)
        seconds.append(time.process_time() - started)
        assert len(references.items) == len(predictions.items) == count
    assert seconds[1] < 30 * seconds[0]
