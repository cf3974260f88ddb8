"""Caption files: every format is read from a file on disk as the same captions, every defect is refused and located."""

import hashlib
import json
import unicodedata
from pathlib import Path

import pytest

from scoring.cli import main
from scoring.errors import FileError, InvalidFile
from scoring.messages import CAPTIONS as CAPTION_MESSAGES
from scoring.reading import (
    MAX_ERRORS_KEPT,
    MAX_ITEMS,
    MAX_REFERENCES,
    caption_scan,
    caption_table,
    json_items,
    read_predictions,
    read_references,
)
from scoring.reading.caption_checks import without_ending
from scoring.reading.file_formats import FORMAT_LABELS, format_label
from scoring.recipes import get_recipe
from scoring.records import Items
from tests.scoring.caption_layouts import PREDICTION_LAYOUTS, REFERENCE_LAYOUTS
from tests.scoring.caption_samples import (
    BAD_CANDIDATES,
    CANARY,
    CANDIDATE_FILES,
    CAPTIONS,
    KNOWN,
    REFERENCE_FILES,
    REFERENCES,
    dumped,
    lines,
    rows,
    table,
)

CAPTIONING = get_recipe("captioning@1")


@pytest.fixture(scope="module")
def known() -> Items:
    return read_references(dumped(KNOWN).encode(), CAPTIONING)


def read(data: str | bytes, known: Items | None = None) -> Items:
    return read_predictions(data.encode() if isinstance(data, str) else data, CAPTIONING, known)


def errors_of(data: str | bytes, known: Items | None = None) -> InvalidFile:
    with pytest.raises(InvalidFile) as caught:
        read(data, known)
    return caught.value


def reference_errors(text: str) -> tuple[FileError, ...]:
    with pytest.raises(InvalidFile) as caught:
        read_references(text.encode(), CAPTIONING)
    return caught.value.errors


def places(errors) -> list[tuple]:
    return [(error.code, error.line, error.item_id, error.field) for error in errors]


# ------------------------------------------------------------------------------------------------ accepted


@pytest.mark.parametrize("name", CANDIDATE_FILES)
def test_every_format_of_candidates_is_recognised_and_holds_the_same_captions(known, tmp_path: Path, name):
    text, file_format, item_lines = CANDIDATE_FILES[name]
    path = tmp_path / "captions"
    path.write_bytes(text.encode())
    captions = read(path.read_bytes(), known)
    assert captions.format == file_format
    assert {answer.id: answer.text for answer in captions.items} == CAPTIONS
    assert tuple(answer.line for answer in captions.items) == item_lines
    assert captions.sha256 == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", CANDIDATE_FILES)
def test_every_format_is_recognised_without_references_too(name):
    text, file_format, _ = CANDIDATE_FILES[name]
    captions = read(text)
    assert (captions.format, list(captions.by_id())) == (file_format, list(CAPTIONS))


@pytest.mark.parametrize("name", REFERENCE_FILES)
def test_every_format_of_references_holds_the_same_captions_in_order(tmp_path: Path, name):
    text, file_format = REFERENCE_FILES[name]
    path = tmp_path / "references"
    path.write_bytes(text.encode())
    references = read_references(path.read_bytes(), CAPTIONING)
    assert references.format == file_format
    assert {answer.id: list(answer.texts) for answer in references.items} == REFERENCES


def test_every_format_has_a_label_and_a_sample():
    formats = set(FORMAT_LABELS)
    seen = {form for _, form, _ in CANDIDATE_FILES.values()} | {form for _, form in REFERENCE_FILES.values()}
    seen |= {layout.format for layout in (*REFERENCE_LAYOUTS.values(), *PREDICTION_LAYOUTS.values())}
    assert seen == formats - {"json-object"}
    assert format_label("id-object", "ko") == "JSON 객체({아이디: 설명문})"
    assert format_label("id-object", "en") == "JSON object ({id: caption})"


def test_one_row_is_a_file():
    row = {"id": "v-1", "caption": "하나"}
    assert read(dumped(row)).format == "jsonl"
    assert read(dumped(row, 1)).format == "json-object"
    assert read(dumped(row, 1)).by_id()["v-1"].text == "하나"


def test_a_caption_left_out_is_no_error_and_is_not_in_the_file(known):
    captions = read('{"v-1": "파도"}', known)
    assert list(captions.by_id()) == ["v-1"]


def test_an_empty_caption_is_allowed(known):
    assert read("v-1\t\nv-3\t\n", known).by_id()["v-3"].text == ""


@pytest.mark.parametrize(
    ("item_id", "meant"),
    [
        ("a.mp4", "a"),
        ("a.webp", "a"),
        ("a.MP4.json", "a"),
        ("a.b.jpeg", "a.b"),
        ("a.JPG", "a"),
        ("a.png", "a"),
        ("a.webm", "a"),
        ("a.avi", "a"),
        ("a.mp4x", "a.mp4x"),
        ("mp4", "mp4"),
        ("a.txt", "a.txt"),
        ("a.mp4.txt", "a.mp4.txt"),
    ],
)
def test_endings_of_pictures_films_and_labels_do_not_count(item_id, meant):
    assert without_ending(item_id) == meant
    assert read(dumped({item_id: "x"})).items[0].id == meant


def test_endings_do_not_count_in_references_either():
    references = read_references(b'{"a.mp4": "\xea\xb0\x80", "7.json": ["\xeb\x82\x98"]}', CAPTIONING)
    assert list(read('{"a.jpg": "", "7": ""}', references).by_id()) == ["a", "7"]


def test_a_number_and_its_text_are_the_same_id():
    references = read_references(b'[{"image_id": 7, "caption": "x"}, {"image_id": "7", "caption": "y"}]', CAPTIONING)
    assert references.items[0].texts == ("x", "y")
    assert read('{"7": "z"}', references).items[0].id == "7"


@pytest.mark.parametrize(
    "text",
    [
        dumped({"cat.jpg": "고양이", "dog": "개", "cat.png": "개"}),
        "[" + ",\n".join(dumped({"id": i, "caption": "x"}) for i in ("cat.jpg", "dog", "cat.png")) + "]",
        lines([{"id": i, "caption": "x"} for i in ("cat.jpg", "dog", "cat.png")]),
        "cat.jpg\tx\ndog\ty\ncat.png\tz\n",
    ],
    ids=["object", "array", "jsonl", "tsv"],
)
@pytest.mark.parametrize("is_reference", [True, False])
def test_ids_that_meet_without_their_endings_are_refused_with_both_names(text, is_reference):
    with pytest.raises(InvalidFile) as caught:
        (read_references if is_reference else read_predictions)(text.encode(), CAPTIONING)
    (error,) = caught.value.errors
    last = 1 + text.rstrip().count("\n")
    assert (error.code, error.line, error.item_id) == ("same_without_ending", last, "cat.png")
    for language in ("ko", "en"):
        assert all(f"«{name}»" in error.message(language) for name in ("cat.jpg", "cat.png", "cat"))
        assert "1" in error.message(language)


def test_a_name_with_and_one_without_an_ending_meet_too():
    text = lines([{"id": i, "caption": "x"} for i in ("b", "b.mp4")])
    assert [error.code for error in reference_errors(text)] == ["same_without_ending"]


def test_references_that_were_published_with_meeting_ids_are_still_read_as_one_item():
    text = lines([{"id": i, "caption": f"{i} 그림"} for i in ("cat.jpg", "cat.png")])
    (answer,) = read_references(text.encode(), CAPTIONING, is_published=True).items
    assert (answer.id, answer.texts) == ("cat", ("cat.jpg 그림", "cat.png 그림"))


def test_the_line_of_an_item_with_several_references_is_that_of_the_first():
    text = lines([{"id": i, "caption": "x"} for i in ("b.mp4", "a", "b.mp4")])
    references = read_references(text.encode(), CAPTIONING)
    assert [(a.id, a.line, len(a.texts)) for a in references.items] == [("b", 1, 2), ("a", 2, 1)]


def test_decomposed_captions_and_ids_are_normalised_and_named():
    references = read_references('{"영상": ["가", "나"], "b": "다"}'.encode(), CAPTIONING)
    nfd = unicodedata.normalize("NFD", '{"영상": "파도", "b": "x"}')
    captions = read(nfd, references)
    assert captions.by_id()["영상"].text == "파도"
    assert captions.normalized_ids == ("영상",)


def test_a_table_is_text_as_it_stands():
    captions = read('v-1\t"그래" 하고 {말}했다. \nv-2\t[괄호]\n').by_id()
    assert captions["v-1"].text == '"그래" 하고 {말}했다. '
    assert captions["v-2"].text == "[괄호]"


def test_blank_lines_of_a_table_are_skipped_and_counted(known):
    assert [a.line for a in read("\n\t\nv-1\t가\n \t \n\n17.0\t나\n").items] == [3, 6]
    assert places(errors_of("\n\t\nv-1\tx\n\t\nv-2", known).errors) == [("tsv_no_tab", 5, None, None)]


def test_check_names_the_format(tmp_path: Path, capsys):
    (tmp_path / "P").write_text(table(), encoding="utf-8")
    (tmp_path / "R").write_text(dumped(KNOWN), encoding="utf-8")
    arguments = ["--recipe", "captioning@1", "--predictions", str(tmp_path / "P"), "--references", str(tmp_path / "R")]
    assert main(["check", *arguments]) == 0
    assert format_label("tsv", "ko") in capsys.readouterr().out


def test_image_id_comes_before_id():
    row = {"id": 5, "image_id": 7, "caption": "x"}
    assert read(dumped([row])).items[0].id == "7"


# ------------------------------------------------------------------------------------------------ refused, located


@pytest.mark.parametrize("bad", BAD_CANDIDATES, ids=str)
def test_a_bad_file_is_refused_with_its_place(known, tmp_path: Path, bad):
    path = tmp_path / "captions"
    path.write_bytes(bad.data)
    first = errors_of(path.read_bytes(), known).errors[0]
    assert (first.code, first.line, first.item_id, first.field) == (bad.code, bad.line, bad.item_id, bad.field)


@pytest.mark.parametrize("bad", BAD_CANDIDATES, ids=str)
def test_errors_are_complete_in_both_languages_and_hold_no_reference(known, bad):
    invalid = errors_of(bad.data, known)
    assert invalid.__context__ is None
    for error in invalid.errors:
        shown = json.dumps([error.as_dict("ko"), error.as_dict("en"), dict(error.params)], ensure_ascii=False)
        assert CANARY not in shown
        assert shown.replace("\\n", "").isprintable()


def test_there_are_many_bad_files_and_each_code_of_captions_is_caused():
    assert len(BAD_CANDIDATES) >= 25
    with_names = {"ambiguous_name"}  # needs references that name files: test_caption_layouts has it
    assert set(CAPTION_MESSAGES) <= {bad.code for bad in BAD_CANDIDATES} | with_names


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": "",\n"b": "",\n"a.mp4": ""}', "same_without_ending"),
        ("a\t\nb\t\na.MP4\t\n", "same_without_ending"),
        ('[{"id": "a", "caption": ""},\n\n{"id": "a.png", "caption": ""}]', "same_without_ending"),
        ('{"id": "a", "caption": ""}\n\n{"id": "a", "caption": ""}', "duplicate_id"),
    ],
)
def test_a_duplicate_names_both_lines(text, code):
    error = errors_of(text).errors[0]
    assert (error.code, error.line, error.params["first_line"]) == (code, 3, 1)
    assert "1번째 줄" in error.message("ko")


def test_every_defect_of_a_file_is_reported(known):
    text = '{"v-1": 3,\n"v-9": "",\n"v-2": "x",\n"v-2": "y",\n"17": "\\u0000"}'
    assert places(errors_of(text, known).errors) == [
        ("wrong_type", 1, "v-1", "caption"),
        ("unknown_id", 2, "v-9", "id"),
        ("duplicate_id", 4, "v-2", "id"),
        ("control_character", 5, "17", "caption"),
    ]


def test_errors_before_a_place_that_breaks_off_are_reported_too(known):
    text = '{"info": 1, "captions": [{"id": 1.5, "caption": ""},\n{"id": "v-9", "caption": ""},\n{"id": "v-1", "cap'
    assert [(error.code, error.line) for error in errors_of(text, known).errors] == [
        ("wrong_type", 1),
        ("unknown_id", 2),
        ("truncated_json", 3),
    ]


def test_a_file_without_any_known_id_says_so_in_one_line(known):
    invalid = errors_of(table({"a": "x", "b": "y"}), known)
    assert ([error.code for error in invalid.errors], invalid.total) == (["no_known_id"], 1)
    assert "다른 대회나 과제의 파일" in invalid.errors[0].message()


def test_more_captions_than_the_limit_are_refused_at_their_line(monkeypatch):
    """A small limit in place of the real one, which the next test has in a table, and ``test_reading`` in JSON."""
    for module in (json_items, caption_scan, caption_table):
        monkeypatch.setattr(module, "MAX_ITEMS", 40)
    ids = [str(n) for n in range(42)]
    texts = {
        "table": "".join(f"{i}\tx\n" for i in ids),
        "object": "{" + ",\n".join(f'"{i}": ""' for i in ids) + "}",
        "lines": "".join(f'{{"id":{i},"caption":""}}\n' for i in ids),
    }
    for text in texts.values():
        first = errors_of(text).errors[0]
        assert (first.code, first.line) == ("too_many_items", 41)
    assert len(read(texts["table"].rsplit("\n", 3)[0]).items) == 40


def test_a_table_of_more_captions_than_the_real_limit_is_refused_at_its_line():
    """The first error: the captions up to the limit were accepted."""
    first = errors_of("".join(f"{n}\tx\n" for n in range(MAX_ITEMS + 1))).errors[0]
    assert (first.code, first.line) == ("too_many_items", MAX_ITEMS + 1)


def test_only_the_first_errors_are_kept_and_all_are_counted(known):
    one = known.items[0].id
    invalid = errors_of(table({one: "", **{f"x{n}": "" for n in range(300)}}), known)
    assert (len(invalid.errors), invalid.total) == (MAX_ERRORS_KEPT, 300)


# ------------------------------------------------------------------------------------------------ references


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": "x",\n"b": " "}', ("empty_reference", 2, "b", "caption")),
        ('{"a": "x",\n"b": []}', ("empty_reference", 2, "b", "caption")),
        ('{"a": ["x",\n"",\n"y"]}', ("empty_reference", 2, "a", "caption.1")),
        ('{"a": ["x",\n["y"]]}', ("wrong_type", 2, "a", "caption.1")),
        ('{"a": "x",\n"a": "y"}', ("duplicate_reference_id", 2, "a", "id")),
        ('{"a": "x",\n"a.jpg": "y"}', ("same_without_ending", 2, "a.jpg", "id")),
        ('[{"id": "a",\n"captions": ["x",\nnull]}]', ("wrong_type", 3, "a", "captions.1")),
        ("a\tx\nb\t \n", ("empty_reference", 2, "b", "caption")),
        ('{"annotations": [{"image_id": 1, "caption": "x"},\n{"image_id": null, "caption": "x"}]}',
         ("wrong_type", 2, None, "image_id")),
        ('{"annotations": [{"image_id": 1,\n"caption": ""}]}', ("empty_reference", 2, "1", "caption")),
        ('[{"video_id": "a", "annotation": {\n"description_kr": ""}}]',
         ("empty_reference", 2, "a", "annotation.description_kr")),
        ('[{"video_id": "a", "annotation": [{"description_kr": "x"},\n{"description_en": "x"}]}]',
         ("missing_field", 2, "a", "annotation.1.description_kr")),
        ('[{"video_id": "a", "annotation": {\n"description_en": ""}}]',
         ("missing_field", 1, "a", "annotation.description_kr")),
        ('[{"annotation": {"description_kr": "x"}, "video": {"fps": 3}}]', ("missing_field", 1, None, "id")),
        ('[{"annotation": {"description_kr": "x"}, "video":\n{"file_name": 3.5}}]',
         ("wrong_type", 2, None, "video.file_name")),
    ],
)  # fmt: skip
def test_a_bad_reference_is_located(text, place):
    assert places(reference_errors(text))[0] == place


def test_an_item_has_at_most_fifty_references():
    texts = [f"설명 {n}" for n in range(MAX_REFERENCES + 1)]
    assert len(read_references(dumped({"a": texts[1:]}).encode(), CAPTIONING).items[0].texts) == MAX_REFERENCES
    assert places(reference_errors(dumped({"a": texts}))) == [("too_many_references", 1, "a", "caption")]
    one_a_line = "".join(f"a\t{text}\n" for text in [*texts, "더"])
    assert places(reference_errors(one_a_line)) == [("too_many_references", MAX_REFERENCES + 1, "a", "caption")]


@pytest.mark.parametrize("cut", range(1, 120, 3))
@pytest.mark.parametrize("name", ["object of lists", "COCO", "AI-Hub lines", "table", "CSV", "lists of objects"])
def test_errors_of_references_quote_nothing_of_a_caption(name, cut):
    text = REFERENCE_FILES[name][0]
    for old in {text for texts in REFERENCES.values() for text in texts}:
        text = text.replace(old, CANARY * 3)
    try:
        read_references(text.encode()[:-cut].decode(errors="ignore").encode(), CAPTIONING)
    except InvalidFile as invalid:
        for error in invalid.errors:
            shown = json.dumps([error.as_dict(), dict(error.params)], ensure_ascii=False)
            assert CANARY[:4] not in shown


def test_an_object_on_one_line_is_never_taken_for_lines():
    for value in (CAPTIONS, REFERENCES, {"captions": CAPTIONS}, {"captions": rows()}, {"output.": "x", "ids": "y"}):
        for text in (dumped(value), dumped(value) + "\n\n"):
            assert read_references(text.replace('""', '"x"').encode(), CAPTIONING).format != "jsonl"
