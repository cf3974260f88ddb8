"""Caption files in every format, and bad ones with the place of their first error; self-written texts."""

from __future__ import annotations

import json
from dataclasses import dataclass

CANARY = "카나리아설명문8264"  # stands in every reference caption: no error may hold it

CAPTIONS = {
    "v-1": "잔잔한 파도가 모래사장으로 밀려온다.",
    "v-2": '표지판에 "출입 금지", 라고 [크게] 쓰여 있다.',
    "v-3": "",
    "17": "눈 덮인 산 위로 해가 떠오른다 {새벽}.",
}
REFERENCES = {
    "v-1": ["파도가 해변에 밀려온다.", "바닷가에 물결이 친다."],
    "v-2": ["출입을 막는 표지판이 서 있다."],
    "v-3": ["고양이가 창가에서 잔다.", "창가의 고양이.", "고양이가 자고 있다."],
    "17": ["설산에 해가 뜬다."],
}
KNOWN = {item_id: [f"{CANARY} {text}" for text in texts] for item_id, texts in REFERENCES.items()}


def dumped(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def rows(key: str = "image_id", captions: dict[str, str] = CAPTIONS) -> list[dict[str, object]]:
    """A row a caption; the id of digits is a number."""
    return [{key: int(i) if i.isdigit() else i, "caption": text} for i, text in captions.items()]


def lines(values: list[dict[str, object]]) -> str:
    return "".join(f"{dumped(value)}\n" for value in values)


def table(captions: dict[str, str] = CAPTIONS, header: str = "") -> str:
    return header + "".join(f"{item_id}\t{text}\n" for item_id, text in captions.items())


_BESIDE = {"info": {"model": "m", "step": 3, "tags": ["가"]}}
_WITH_ENDINGS = dict(zip(("v-1.mp4", "v-2.JPG", "v-3.mp4.json", "17.webm"), CAPTIONS.values(), strict=True))

# name -> (text, format, lines of the items)
CANDIDATE_FILES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "object on one line": (dumped(CAPTIONS), "id-object", (1, 1, 1, 1)),
    "object on one line, line break": (dumped(CAPTIONS) + "\n", "id-object", (1, 1, 1, 1)),
    "object over several lines": (dumped(CAPTIONS, 1), "id-object", (2, 3, 4, 5)),
    "object with a byte order mark and CR LF": (
        "\ufeff" + dumped(CAPTIONS, 1).replace("\n", "\r\n"),
        "id-object",
        (2, 3, 4, 5),
    ),
    "object of ids with endings": (dumped(_WITH_ENDINGS, 1), "id-object", (2, 3, 4, 5)),
    "array of image_id": (dumped(rows()), "json-array", (1, 1, 1, 1)),
    "array of video_id": (dumped(rows("video_id"), 1), "json-array", (2, 6, 10, 14)),
    "array of id": (dumped(rows("id")), "json-array", (1, 1, 1, 1)),
    "array with endings": (dumped(rows("id", _WITH_ENDINGS)), "json-array", (1, 1, 1, 1)),
    "array of file_name": (dumped(rows("file_name", _WITH_ENDINGS)), "json-array", (1, 1, 1, 1)),
    "array of the contest": (
        dumped([{"id": i, "output": {"answer": text}} for i, text in CAPTIONS.items()]),
        "json-array",
        (1, 1, 1, 1),
    ),
    "array with answer": (dumped([{"id": i, "answer": t} for i, t in CAPTIONS.items()]), "json-array", (1, 1, 1, 1)),
    "captions": (dumped({"captions": rows()}), "wrapped-list", (1, 1, 1, 1)),
    "result beside info": (dumped(_BESIDE | {"result": rows()}), "wrapped-list", (1, 1, 1, 1)),
    "results, info last": (dumped({"results": rows("id")} | _BESIDE, 1), "wrapped-list", (3, 7, 11, 15)),
    "results beside an id": (dumped({"id": "run-1", "results": rows("id")}), "wrapped-list", (1, 1, 1, 1)),
    "results beside another list": (
        dumped({"images": [{"id": 1}], "results": rows()}),
        "wrapped-list",
        (1, 1, 1, 1),
    ),
    "list of another name": (dumped({"version": "1", "data": rows()}), "wrapped-list", (1, 1, 1, 1)),
    "object in captions": (dumped(_BESIDE | {"captions": CAPTIONS}), "wrapped-object", (1, 1, 1, 1)),
    "object in results over lines": (dumped({"results": CAPTIONS}, 1), "wrapped-object", (3, 4, 5, 6)),
    "JSON lines": (lines(rows()), "jsonl", (1, 2, 3, 4)),
    "JSON lines of video_id, blank lines": (lines(rows("video_id")).replace("\n", "\r\n\r\n"), "jsonl", (1, 3, 5, 7)),
    "JSON lines with lists beside": (
        lines([row | {"frames": [{"t": 1}], "scores": [1]} for row in rows("id")]),
        "jsonl",
        (1, 2, 3, 4),
    ),
    "table": (table(), "tsv", (1, 2, 3, 4)),
    "table without a last line break": (table().rstrip("\n"), "tsv", (1, 2, 3, 4)),
    "table with header": (table(header="image_id\tcaption\n"), "tsv", (2, 3, 4, 5)),
    "table with a Korean header": (table(header="\ufeffID\t설명문\r\n"), "tsv", (2, 3, 4, 5)),
    "table with CR LF, blank lines, endings": (
        table(_WITH_ENDINGS).replace("\n", "\r\n \r\n"),
        "tsv",
        (1, 3, 5, 7),
    ),
}

_PAIRS = [(item_id, text) for item_id, texts in REFERENCES.items() for text in texts]
_COCO = {
    "info": {"year": 2026},
    "licenses": [],
    "images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
    "annotations": [{"id": 900 + n, "image_id": item_id, "caption": t} for n, (item_id, t) in enumerate(_PAIRS)],
}
_LABELS = [
    {"video_id": f"{i}.mp4", "annotation": {"description_kr": texts, "description_en": "x"}}
    for i, texts in REFERENCES.items()
]
_NESTED_LABELS = [
    {
        "info": {"license": "free"},
        "video": {"file_name": f"{i}.mp4", "fps": 30},
        "annotation": [{"start": 0, "description_kr": text} for text in texts],
    }
    for i, texts in REFERENCES.items()
]

# name -> (text, format)
REFERENCE_FILES: dict[str, tuple[str, str]] = {
    "object of lists": (dumped(REFERENCES), "id-object"),
    "object of strings and lists": (
        dumped({i: texts[0] if len(texts) == 1 else texts for i, texts in REFERENCES.items()}, 1),
        "id-object",
    ),
    "object in captions": (dumped({"captions": REFERENCES}), "wrapped-object"),
    "rows of lists": (dumped([{"id": i, "caption": texts} for i, texts in REFERENCES.items()]), "json-array"),
    "rows of captions": (dumped([{"id": i, "captions": texts} for i, texts in REFERENCES.items()]), "json-array"),
    "JSON lines of captions": (lines([{"id": i, "captions": texts} for i, texts in REFERENCES.items()]), "jsonl"),
    "several rows of one id": (dumped([{"image_id": i, "caption": t} for i, t in _PAIRS]), "json-array"),
    "several lines of one id": (lines([{"image_id": i, "caption": t} for i, t in _PAIRS]), "jsonl"),
    "table": ("id\tcaption\n" + "".join(f"{i}\t{text}\n" for i, text in _PAIRS), "tsv"),
    "CSV": ("caption,id\n" + "".join(f'"{text}",{i}\n' for i, text in _PAIRS), "csv"),
    "lists of objects": (dumped({i: [{"caption": t} for t in texts] for i, texts in REFERENCES.items()}), "id-lists"),
    "results": (dumped({"results": [{"image_id": i, "caption": t} for i, t in _PAIRS]}), "wrapped-list"),
    "COCO": (dumped(_COCO), "coco"),
    "COCO over lines": (dumped(_COCO, 2), "coco"),
    "MSR-VTT": (
        dumped({"videos": [{"video_id": "v-1"}], "sentences": [{"video_id": i, "caption": t} for i, t in _PAIRS]}),
        "msr-vtt",
    ),
    "AI-Hub array": (dumped(_LABELS), "aihub"),
    "AI-Hub array over lines": (dumped(_LABELS, 4), "aihub"),
    "AI-Hub lines": (lines(_LABELS), "aihub"),
    "AI-Hub lists of annotations": (dumped(_NESTED_LABELS), "aihub"),
    "AI-Hub lines, ids deeper": (lines(_NESTED_LABELS), "aihub"),
    "AI-Hub by file": (dumped({f"{label['video_id']}.json": label for label in _LABELS}), "aihub"),
    "AI-Hub in data": (dumped({"data": _LABELS}), "aihub"),
    "AI-Hub rows of annotations": (
        dumped({"annotations": [{"image_id": i, "description_kr": t} for i, t in _PAIRS]}),
        "aihub",
    ),
}


@dataclass(frozen=True)
class BadCaptions:
    """A candidates file and the first of its errors: code, 1-based line, item id, field (``None``: does not apply)."""

    name: str
    data: bytes
    code: str
    line: int | None = None
    item_id: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        return self.name


def _object(*members: str) -> bytes:
    """An object with one member a line: the first stands in line 2."""
    return ("{\n" + ",\n".join(members) + "\n}\n").encode()


def _third(member: str) -> bytes:
    """A sound object of captions with ``member`` as its third, in line 4."""
    return _object('"v-1": "하나"', '"v-2": "둘"', member, '"17": "넷"')


def _row(third: str) -> bytes:
    """A sound array of rows with ``third`` as its third, in line 4."""
    first = '{"image_id": "v-1", "caption": "하나"}'
    return f"[\n{first},\n{first.replace('v-1', 'v-2')},\n{third}\n]".encode()


def _wrapped(third: str) -> bytes:
    return b'{"info": {},\n"results":\n' + _row(third) + b"}"


def _line(third: str) -> bytes:
    return f'{{"id": "v-1", "caption": ""}}\n\n{third}\n{{"id": "v-2", "caption": ""}}\n'.encode()


def _table_line(third: str) -> bytes:
    return f"id\tcaption\nv-1\t하나\n{third}\nv-2\t둘\n".encode()


def _csv_line(third: str) -> bytes:
    """A sound CSV with ``third`` as its third row, in line 4."""
    return f'file_name,caption\nv-1.jpg,"하나,\n둘"\n{third}\nv-4.jpg,넷\n'.encode()


BAD_CANDIDATES: tuple[BadCaptions, ...] = (
    # bytes and formats
    BadCaptions("empty", b"", "empty_file"),
    BadCaptions("blank", b" \n\t\n", "blank_file"),
    BadCaptions("table in cp949", table().encode("cp949"), "cp949"),
    BadCaptions("table of a spreadsheet", table().encode("utf-16"), "utf16"),
    BadCaptions("table with a byte not utf-8", table().encode().replace(b"v-2", b"v-\xff"), "invalid_utf8", 2),
    BadCaptions("comma-separated", table().replace("\t", ",").encode(), "no_caption_format", 1),
    BadCaptions("plain text", "\n\n설명문입니다.\n".encode(), "no_caption_format", 3),
    BadCaptions("a string", '"설명문"'.encode(), "top_level_type", 1),
    BadCaptions("python repr", b"('v-1', 'x')", "python_notation", 1),
    BadCaptions("empty object", b"{}", "no_items"),
    BadCaptions("empty array", b"[]", "no_items"),
    BadCaptions("empty list of captions", b'{"captions": []}', "no_items"),
    BadCaptions("header alone", b"id\tcaption\n", "no_items"),
    BadCaptions(
        "two lists of captions",
        dumped({"captions": rows(), "results": rows()}, 1).encode(),
        "several_caption_lists",
        20,
    ),
    BadCaptions(
        "two lists of other names", dumped({"train": rows(), "test": rows()}).encode(), "several_caption_lists", 1
    ),
    BadCaptions("JSON bomb", b'{"captions": [' + b"[]," * 1_100_000 + b"[]]}", "too_many_values"),
    BadCaptions("100,000 objects deep", b'{"v-1":' * 100_000, "too_deep", 1, "v-1"),
    # {id: caption}
    BadCaptions("key twice", _third('"v-1": "둘"'), "duplicate_id", 4, "v-1", "id"),
    BadCaptions("key twice on one line", b'{"v-1": "", "v-1": ""}', "duplicate_id", 1, "v-1", "id"),
    BadCaptions("same id without ending", _third('"v-2.MP4": "둘"'), "same_without_ending", 4, "v-2.MP4", "id"),
    BadCaptions("key twice in captions", b'{"captions":' + _third('"v-2": ""') + b"}", "duplicate_id", 4, "v-2", "id"),
    BadCaptions("two captions", _third('"v-3": ["셋",\n"넷"]'), "several_captions", 4, "v-3", "caption"),
    BadCaptions("list in a list", _third('"v-3": [["셋"]]'), "wrong_type", 4, "v-3", "caption.0"),
    BadCaptions("empty list as caption", _third('"v-3": []'), "wrong_type", 4, "v-3", "caption"),
    BadCaptions("list of a number", _third('"v-3": [\n3]'), "wrong_type", 5, "v-3", "caption.0"),
    BadCaptions("list of null", _third('"v-3": [null]'), "wrong_type", 4, "v-3", "caption.0"),
    BadCaptions(
        "two objects as caption",
        _third('"v-3": [{"caption": "셋"}, {"caption": "넷"}]'),
        "several_captions",
        4,
        "v-3",
        "caption",
    ),
    BadCaptions(
        "number in an object in a list",
        _third('"v-3": [{"sentence":\n3}]'),
        "wrong_type",
        5,
        "v-3",
        "caption.0.sentence",
    ),
    BadCaptions("number as caption", _third('"v-3":\n3'), "wrong_type", 5, "v-3", "caption"),
    BadCaptions("null as caption", _third('"v-3": null'), "wrong_type", 4, "v-3", "caption"),
    BadCaptions("NaN as caption", _third('"v-3": NaN'), "not_a_number", 4, "v-3", "caption"),
    BadCaptions("object without caption", _third('"v-3": {"text": "셋"}'), "missing_field", 4, "v-3", "caption"),
    BadCaptions("unknown id", _third('"v-9": "셋"'), "unknown_id", 4, "v-9", "id"),
    BadCaptions("padded id", _third('" v-3 ": "셋"'), "padded_id", 4, " v-3 ", "id"),
    BadCaptions("padded id with ending", _third('"v-3.mp4 ": "셋"'), "padded_id", 4, "v-3.mp4 ", "id"),
    BadCaptions("empty id", _third('"": "셋"'), "empty_id", 4, "", "id"),
    BadCaptions("id that is an ending", _third('".mp4": "셋"'), "empty_id", 4, ".mp4", "id"),
    BadCaptions("long id", _third(f'"{"v" * 201}": "셋"'), "id_too_long", 4, "v" * 200 + "…", "id"),
    BadCaptions("line break in an id", _third('"v\\n3": ""'), "control_character", 4, "v\\u000a3", "id"),
    BadCaptions("NUL in a caption", _third('"v-3": "\\u0000"'), "control_character", 4, "v-3", "caption"),
    BadCaptions("lone surrogate", _third('"v-3": "\\ud83d"'), "lone_surrogate", 4, "v-3", "caption"),
    BadCaptions("long caption", _third(f'"v-3": "{"가 " * 100_001}"'), "text_too_long", 4, "v-3", "caption"),
    BadCaptions("no id known", b'{"a": "", "b": ""}', "no_known_id"),
    BadCaptions("truncated", _third('"v-3": "셋"').partition("셋".encode())[0], "truncated_json", 4, "v-3"),
    BadCaptions("cut inside a character", dumped(CAPTIONS).encode()[:40], "cut_off", 1),
    BadCaptions("truncated on one line", dumped(CAPTIONS)[:25].encode(), "truncated_json", 1, "v-1"),
    BadCaptions("comma missing", _object('"v-1": "하나"\n"v-2": "둘"'), "missing_comma", 3, "v-1"),
    BadCaptions("colon missing", _third('"v-3" "셋"'), "missing_colon", 4),
    BadCaptions("comma at the end", b'{"v-1": "",\n"v-2": "",\n}', "trailing_comma", 2, "v-2"),
    BadCaptions("key without quotes", _third('v3: "셋"'), "json_syntax", 4),
    BadCaptions("single quotes", b"{'v-1': 'x'}", "python_notation", 1),
    BadCaptions("text after the object", dumped(CAPTIONS).encode() + "\n끝".encode(), "trailing_text", 2, "17"),
    BadCaptions("two objects of captions", b'{"v-1": ""}\n{"v-2": ""}\n', "trailing_text", 2, "v-1"),
    BadCaptions("raw line break", _third('"v-3": "셋\n넷"'), "raw_control", 4, "v-3"),
    # rows
    BadCaptions("row is a list", _row('["v-3", "셋"]'), "row_not_object", 4),
    BadCaptions("row without id", _row('{"caption": "셋"}'), "missing_field", 4, None, "id"),
    BadCaptions("row with Image_ID", _row('{"Image_ID": "v-3", "caption": ""}'), "misspelled_field", 4, None, "id"),
    BadCaptions("row without caption", _row('{"id": "v-3"}'), "missing_field", 4, "v-3", "caption"),
    BadCaptions("row with Caption", _row('{"id": "v-3",\n"Caption": ""}'), "misspelled_field", 4, "v-3", "caption"),
    BadCaptions("id 3.0", _row('{"image_id":\n3.0, "caption": ""}'), "wrong_type", 5, None, "image_id"),
    BadCaptions("id true", _row('{"id": true, "caption": ""}'), "wrong_type", 4, None, "id"),
    BadCaptions("id null", _row('{"video_id": null, "caption": ""}'), "wrong_type", 4, None, "video_id"),
    BadCaptions("id is a list", _row('{"id": ["v-3"], "caption": ""}'), "wrong_type", 4, None, "id"),
    BadCaptions("huge id", _row('{"id": ' + "9" * 5000 + ', "caption": ""}'), "number_too_large", 4, None, "id"),
    BadCaptions("caption is a list", _row('{"id": "v-3",\n"caption": []}'), "wrong_type", 5, "v-3", "caption"),
    BadCaptions("no answer", _row('{"id": "v-3", "output": {}}'), "missing_field", 4, "v-3", "output.answer"),
    BadCaptions("answer 3", _row('{"id": "v-3", "output": {"answer": 3}}'), "wrong_type", 4, "v-3", "output.answer"),
    BadCaptions(
        "caption twice", _row('{"id": "v-3", "caption": "",\n"caption": ""}'), "duplicate_key", 5, "v-3", "caption"
    ),
    BadCaptions(
        "same id without ending in a row",
        _row('{"image_id": "v-1.jpg", "caption": ""}'),
        "same_without_ending",
        4,
        "v-1.jpg",
        "image_id",
    ),
    BadCaptions("unknown row", _row('{"image_id": 99, "caption": ""}'), "unknown_id", 4, "99", "image_id"),
    BadCaptions("row cut off", _row('{"image_id": 17, "cap')[:-3], "truncated_json", 4, "17"),
    BadCaptions(
        "several descriptions",
        _row('{"id": "v-3", "annotation": {"description_kr": ["", ""]}}'),
        "several_captions",
        4,
        "v-3",
        "annotation.description_kr",
    ),
    BadCaptions("wrapped row without id", _wrapped('{"caption": ""}'), "missing_field", 6, None, "id"),
    BadCaptions("wrapped row cut off", _wrapped('{"video_id": "v-3",')[:-4], "truncated_json", 6, "v-3"),
    BadCaptions(
        "broken beside the list", b'{"results": [{"id": "v-1", "caption": ""}],\n"info": nul}', "json_syntax", 2, "v-1"
    ),
    BadCaptions(
        "COCO annotation without image_id",
        b'{"annotations": [\n{"id": 1, "caption": ""}]}',
        "missing_field",
        2,
        None,
        "image_id",
    ),
    # JSON lines
    BadCaptions("broken line", _line('{"id": "v-3", "caption":'), "truncated_json", 3, "v-3"),
    BadCaptions("line with a comma", _line('{"id": "v-3", "caption": ""},'), "line_comma", 3, "v-3"),
    BadCaptions("line is a list", _line('["v-3", ""]'), "row_not_object", 3),
    BadCaptions("line without id", _line('{"caption": ""}'), "missing_field", 3, None, "id"),
    BadCaptions("id twice in lines", _line('{"id": "v-1", "caption": ""}'), "duplicate_id", 3, "v-1", "id"),
    # tables
    BadCaptions("no tab", _table_line("v-3 셋"), "tsv_no_tab", 3),
    BadCaptions("empty first column", _table_line("\t셋"), "empty_id", 3, "", "id"),
    BadCaptions("blank first column", _table_line("  \t셋"), "empty_id", 3, "  ", "id"),
    BadCaptions("two tabs", _table_line("v-3\t셋\t넷"), "tsv_extra_tabs", 3, "v-3"),
    BadCaptions("id twice in a table", _table_line("v-1\t셋"), "duplicate_id", 3, "v-1", "id"),
    BadCaptions("unknown id in a table", _table_line("v-9\t셋"), "unknown_id", 3, "v-9", "id"),
    BadCaptions("padded id in a table", _table_line("v-3 \t셋"), "padded_id", 3, "v-3 ", "id"),
    BadCaptions("control character in a table", _table_line("v-3\t셋\x0b"), "control_character", 3, "v-3", "caption"),
    BadCaptions("wrapped caption", _table_line('v-3\t"그는 ""예""라고 했다."'), "tsv_quoted", 3, "v-3", "caption"),
    BadCaptions("wrapped id", _table_line('"v-3"\t"셋"'), "tsv_quoted", 3, '"v-3"', "id"),
    BadCaptions("missing column", b"caption\tid\tn\nx\tv-1\t1\ny\tv-2\n", "table_columns", 3),
    BadCaptions("header without caption", b"id,score\nv-1,x\n", "csv_header", 1),
    BadCaptions("header without id", b"\n\nscore,caption\n1,x\n", "csv_header", 3),
    BadCaptions("header of CSV alone", b"image,caption\n", "no_items"),
    BadCaptions("comma in a caption of CSV", _csv_line("v-3,셋, 넷"), "table_columns", 4),
    BadCaptions("quotes in a caption of CSV", _csv_line('v-3,"그는 "예"라고 했다."'), "csv_quotes", 4),
    BadCaptions("open quotes in CSV", _csv_line('v-3,"셋'), "csv_quotes", 4),
    BadCaptions("id twice in CSV", _csv_line("v-1.jpg,셋"), "duplicate_id", 4, "v-1.jpg", "id"),
    BadCaptions("unknown id in CSV", _csv_line("v-9,셋"), "unknown_id", 4, "v-9", "id"),
    BadCaptions("control character in CSV", _csv_line('v-3,"셋\n\x0b"'), "control_character", 4, "v-3", "caption"),
    BadCaptions("empty id in CSV", _csv_line(",셋"), "empty_id", 4, "", "id"),
    BadCaptions("open quotes in a huge CSV", _csv_line('v-3,"' + "가\n" * 90_000), "csv_quotes", 4),
    BadCaptions("header of another table", b"\nid\tscore\nv-1\tx\n", "tsv_header", 2),
)
