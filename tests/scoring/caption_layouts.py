"""The layouts in which captions lie about, each with the place it comes from. Layouts are real, every text is made up.

Each holds the references of ``REFERENCES``, or the predictions of ``PREDICTIONS``, under the ids of its data set.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from tests.scoring.caption_samples import dumped, lines

REFERENCES = {
    "391895": ["한 남자가 오토바이를 타고 흙길을 달린다.", "헬멧을 쓴 사람이, 산길에 서 있다."],
    "522418": ["여자가 케이크를 자른다."],
}
PREDICTIONS = {"391895": "남자가 오토바이를 탄다.", "522418": '여자가 "생일" 케이크를 자른다.'}
FILES = {item_id: f"COCO_val2014_{int(item_id):012}.jpg" for item_id in REFERENCES}
_FIRST, _SECOND = REFERENCES
_PAIRS = [(item_id, text) for item_id, texts in REFERENCES.items() for text in texts]


def _english(texts: list[str]) -> list[str]:
    return [f"some words about picture {number}" for number, _ in enumerate(texts)]


def _csv(rows: list[list[str]], separator: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def _named(prefix: str) -> dict[str, str]:
    return {item_id: f"{prefix}{item_id}" for item_id in REFERENCES}


@dataclass(frozen=True)
class Layout:
    """A text in one layout. ``ids`` are the ids of the file by those of ``REFERENCES``, if they differ."""

    source: str
    format: str
    text: str
    ids: dict[str, str] | None = None

    def references(self) -> dict[str, list[str]]:
        """``REFERENCES`` under the ids of the file."""
        return {item_id if self.ids is None else self.ids[item_id]: texts for item_id, texts in REFERENCES.items()}


_STEMS = {item_id: name.removesuffix(".jpg") for item_id, name in FILES.items()}
_ANNOTATIONS = [{"id": 100 + n, "image_id": int(i), "caption": text} for n, (i, text) in enumerate(_PAIRS)]
_PICTURES = [{"id": int(item_id), "file_name": name, "height": 480} for item_id, name in FILES.items()]
_ANET = _named("v_")

REFERENCE_LAYOUTS: dict[str, Layout] = {
    "COCO": Layout(
        "COCO captions_val2014.json", "coco", dumped({"info": {}, "images": _PICTURES, "annotations": _ANNOTATIONS}, 1)
    ),
    "COCO, pictures last": Layout(
        "COCO captions rewritten by pycocotools users",
        "coco",
        dumped({"annotations": _ANNOTATIONS, "images": _PICTURES}),
    ),
    "pycocoevalcap": Layout(
        "pycocoevalcap: gts, the dictionary that its scorers take",
        "id-lists",
        dumped({i: [{"image_id": int(i), "caption": text} for text in texts] for i, texts in REFERENCES.items()}, 1),
    ),
    "pycocoevalcap, caption alone": Layout(
        "pycocoevalcap: gts before its tokenizer, written by hand",
        "id-lists",
        dumped({i: [{"caption": text} for text in texts] for i, texts in REFERENCES.items()}),
    ),
    "Karpathy": Layout(
        "Karpathy and Fei-Fei 2015: dataset_coco.json",
        "karpathy",
        dumped(
            {
                "images": [
                    {
                        "filepath": "val2014",
                        "sentids": [1],
                        "filename": FILES[i],
                        "imgid": 391894 + number,  # the number of the other picture: never taken for an id
                        "split": "test",
                        "sentences": [{"tokens": text.split(), "raw": text, "imgid": 0, "sentid": 1} for text in texts],
                        "cocoid": int(i),
                    }
                    for number, (i, texts) in enumerate(REFERENCES.items())
                ],
                "dataset": "coco",
            }
        ),
    ),
    "Karpathy, Flickr": Layout(
        "Karpathy and Fei-Fei 2015: dataset_flickr8k.json, which has no cocoid",
        "karpathy",
        dumped(
            {
                "images": [
                    {
                        "sentids": [0],
                        "imgid": number,
                        "sentences": [{"tokens": [], "raw": text, "imgid": number, "sentid": 0} for text in texts],
                        "split": "test",
                        "filename": FILES[i],
                    }
                    for number, (i, texts) in enumerate(REFERENCES.items())
                ],
                "dataset": "flickr8k",
            }
        ),
        _STEMS,
    ),
    "Karpathy, lines": Layout(
        "the images of dataset_flickr30k.json, one a line",
        "karpathy",
        lines(
            [
                {"filename": FILES[i], "sentences": [{"raw": text, "imgid": 3} for text in texts]}
                for i, texts in REFERENCES.items()
            ]
        ),
        _STEMS,
    ),
    "BLIP": Layout(
        "BLIP: coco_karpathy_test.json",
        "json-array",
        dumped([{"image": f"val2014/{FILES[i]}", "caption": texts} for i, texts in REFERENCES.items()]),
        _STEMS,
    ),
    "AI-Hub MSCOCO": Layout(
        "AI-Hub 261 한국어 이미지 설명: MSCOCO_train_val_Korean.json",
        "aihub-mscoco",
        dumped(
            [
                {"file_path": f"val2014/{FILES[i]}", "captions": _english(texts), "id": int(i), "caption_ko": texts}
                for i, texts in REFERENCES.items()
            ]
        ),
    ),
    "AI-Hub, objects of languages": Layout(
        "AI-Hub 71454 as its users convert it",
        "json-array",
        dumped(
            [
                {"image_id": i, "captions": [{"en": "words", "ko": text} for text in texts]}
                for i, texts in REFERENCES.items()
            ]
        ),
    ),
    "AI-Hub MSCOCO as a table": Layout(
        "AI-Hub 261, as its users turn it into CSV for training",
        "csv",
        _csv(
            [
                ["id", "file_path", "captions", "caption_ko"],
                *([i, f"val2014/{FILES[i]}", "some words, in English", text] for i, text in _PAIRS),
            ]
        ),
        _STEMS,
    ),
    "VATEX": Layout(
        "VATEX: vatex_training_v1.0.json, with Korean captions beside",
        "vatex",
        dumped(
            [
                {"videoID": f"{i}_000000_000010", "enCap": _english(texts), "chCap": ["句子"], "koCap": texts}
                for i, texts in REFERENCES.items()
            ]
        ),
        {i: f"{i}_000000_000010" for i in REFERENCES},
    ),
    "MSR-VTT": Layout(
        "MSR-VTT: videodatainfo_2017.json",
        "msr-vtt",
        dumped(
            {
                "info": {},
                "videos": [{"video_id": f"video{i}", "split": "test", "id": 1} for i in REFERENCES],
                "sentences": [
                    {"caption": text, "video_id": f"video{i}", "sen_id": n} for n, (i, text) in enumerate(_PAIRS)
                ],
            }
        ),
        _named("video"),
    ),
    "ActivityNet": Layout(
        "ActivityNet Captions: val_1.json",
        "activitynet",
        dumped(
            {
                f"v_{i}": {
                    "duration": 82.7,
                    "timestamps": [[0.8, 19.8], [17.4, 60.8]][: len(texts)],
                    "sentences": [f" {text}" for text in texts],
                }
                for i, texts in REFERENCES.items()
            },
            1,
        ),
        _ANET,
    ),
    "rows of sentence": Layout(
        "result files of captioning repositories",
        "json-array",
        dumped([{"image_id": i, "sentence": text} for i, text in _PAIRS]),
    ),
    "rows of sentences": Layout(
        "annotation files of captioning repositories",
        "jsonl",
        lines([{"video_id": i, "sentences": texts} for i, texts in REFERENCES.items()]),
    ),
    "Flickr8k": Layout(
        "Flickr8k on Kaggle: captions.txt",
        "csv",
        _csv([["image", "caption"], *([FILES[i], text] for i, text in _PAIRS)]),
        _STEMS,
    ),
    "Flickr30k": Layout(
        "Flickr30k on Kaggle: results.csv",
        "csv",
        "image_name| comment_number| comment\n" + "".join(f"{FILES[i]}| {n}| {t}\n" for n, (i, t) in enumerate(_PAIRS)),
        _STEMS,
    ),
    "table with other columns": Layout(
        "pandas to_csv(sep='\\t')",
        "tsv",
        "\tsentence\timage_id\n" + "".join(f"{n}\t{text}\t{i}\n" for n, (i, text) in enumerate(_PAIRS)),
    ),
}

PREDICTION_LAYOUTS: dict[str, Layout] = {
    "COCO results": Layout(
        "COCO results: captions_val2014_fakecap_results.json",
        "json-array",
        dumped([{"image_id": int(i), "caption": text} for i, text in PREDICTIONS.items()]),
    ),
    "pycocoevalcap, strings": Layout(
        "pycocoevalcap: res, after its tokenizer", "id-object", dumped({i: [text] for i, text in PREDICTIONS.items()})
    ),
    "pycocoevalcap, objects": Layout(
        "pycocoevalcap: res, before its tokenizer",
        "id-lists",
        dumped({i: [{"image_id": i, "caption": text}] for i, text in PREDICTIONS.items()}),
    ),
    "pycocoevalcap, caption alone": Layout(
        "pycocoevalcap: res, written by hand",
        "id-lists",
        dumped({i: [{"caption": text}] for i, text in PREDICTIONS.items()}, 1),
    ),
    "dense captions, one a film": Layout(
        "densevid_eval: sample_submission.json",
        "wrapped-object",
        dumped(
            {
                "version": "VERSION 1.0",
                "results": {i: [{"sentence": text, "timestamp": [1.2, 5.6]}] for i, text in PREDICTIONS.items()},
                "external_data": {"used": True},
            }
        ),
    ),
    "lists in rows": Layout(
        "generate() of transformers, which returns a list",
        "jsonl",
        lines([{"image_id": i, "captions": [text]} for i, text in PREDICTIONS.items()]),
    ),
    "rows of sentence": Layout(
        "result files of captioning repositories",
        "json-array",
        dumped([{"video_id": i, "sentence": text} for i, text in PREDICTIONS.items()]),
    ),
    "AI-Hub rows with one caption": Layout(
        "AI-Hub 261 with a caption of one's own in it",
        "aihub-mscoco",
        dumped(
            [
                {"id": int(i), "file_path": f"val2014/{FILES[i]}", "captions": ["words"], "caption_ko": text}
                for i, text in PREDICTIONS.items()
            ]
        ),
    ),
    "paragraphs": Layout(
        "ActivityNet Captions: a film told in segments",
        "activitynet",
        dumped(
            {
                i: {"duration": 9, "timestamps": [[0, 3], [3, 9]], "sentences": text.partition(" ")[::2]}
                for i, text in PREDICTIONS.items()
            }
        ),
    ),
    "CSV": Layout(
        "pandas to_csv(): an index, and quotes where they are needed",
        "csv",
        _csv([["", "caption", "image_id"], *([str(n), t, i] for n, (i, t) in enumerate(PREDICTIONS.items()))]),
    ),
    "CSV with a mark": Layout(
        "a spreadsheet's CSV UTF-8",
        "csv",
        "\ufeff" + _csv([["파일명", "설명"], *([i + ".jpg", text] for i, text in PREDICTIONS.items())]),
    ),
}
