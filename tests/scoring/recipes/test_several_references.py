"""Several references by the official rule with models: BERTScore and BLEURT of the first, as the packages compute."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from scoring import engine
from scoring.models.files import find_folder
from scoring.models.store import shared_store
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.verification.packages import BertScorePackage, BleurtPackage
from tests.scoring.tiny_models import one_thread

ITEMS = [
    ("고양이가 앉아 있다.", ["고양이가 길에 앉아 있다.", "길고양이 한 마리가 쉬고 있다."]),
    ("아이가 운다.", ["아이가 웃는다.", "웃는 아이", "아이가 운다."]),
    ("서울 인구는 940만 명이다.", ["서울의 인구는 940만 명이다."]),
]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def file_of(outputs: list[object]) -> bytes:
    rows = [{"id": str(number), "output": output} for number, output in enumerate(outputs)]
    return json.dumps(rows, ensure_ascii=False).encode()


def test_the_models_read_the_first_reference_as_the_packages_do() -> None:
    recipe, store = get_recipe("generation-from-data@1"), shared_store("demo", "cpu")
    references = read_references(file_of([several for _answer, several in ITEMS]), recipe)
    predictions = read_predictions(file_of([answer for answer, _several in ITEMS]), recipe, references)
    report = engine.score(recipe.id, references, predictions, store=store)

    bertscore, bleurt = store.profile.bertscore, store.profile.bleurt
    assert bertscore is not None
    assert bleurt is not None
    packages = {
        "bertscore": BertScorePackage(find_folder(store.profile, bertscore), bertscore.num_layers or 1),
        "bleurt": BleurtPackage(find_folder(store.profile, bleurt), store.text_limit("bleurt")),
    }
    answers, firsts = [answer for answer, _several in ITEMS], [several[0] for _answer, several in ITEMS]
    for name, package in packages.items():
        values = package.score(firsts, answers)
        assert report.scores[name] == pytest.approx(sum(values) / len(values), abs=1e-6)
        assert {item.id: item.scores[name] for item in report.items} == {
            str(number): pytest.approx(value, abs=1e-6) for number, value in enumerate(values)
        }
