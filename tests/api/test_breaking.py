"""The API's document against the last released one: programs written for that one go on working.

``make openapi`` (``python -m tests.api.release``) writes the document of the code in its place.
"""

from __future__ import annotations

import copy
import json

import pytest

from tests.api.breaking import breaking
from tests.api.release import newest, present, release


def test_nothing_that_a_program_relies_on_has_gone():
    assert breaking(json.loads(newest().read_text(encoding="utf-8")), present()) == []


def remove_operation(found):
    del found["paths"]["/api/v1/whoami/"]


def remove_field(found):
    del found["components"]["schemas"]["Quota"]["properties"]["left_today"]


def require_field(found):
    found["components"]["schemas"]["NewTrack"]["required"].append("position")


def require_parameter(found):
    next(each for each in board(found)["parameters"] if each["name"] == "phase")["required"] = True


def change_type(found):
    found["components"]["schemas"]["Quota"]["properties"]["used_today"] = {"type": "string"}


def make_optional(found):
    found["components"]["schemas"]["Quota"]["required"].remove("used_today")


def lower_limit(found):
    found["components"]["schemas"]["Grant"]["properties"]["slots"]["maximum"] = 10


def take_fewer_values(found):
    found["components"]["schemas"]["BoardState"]["properties"]["board"]["enum"].remove("hidden")


def ask_for_another_scope(found):
    board(found)["security"] = [{"Bearer": ["organise"]}]


def answer_another_status(found):
    answers = found["paths"]["/api/v1/whoami/"]["get"]["responses"]
    answers["202"] = answers.pop("200")


def rename_operation(found):
    board(found)["operationId"] = "board"


def board(found):
    return found["paths"]["/api/v1/competitions/{slug}/tracks/{track}/board/"]["get"]


@pytest.mark.parametrize(
    "change",
    [
        remove_operation,
        remove_field,
        require_field,
        require_parameter,
        change_type,
        make_optional,
        lower_limit,
        take_fewer_values,
        ask_for_another_scope,
        answer_another_status,
        rename_operation,
    ],
)
def test_a_breaking_change_is_found(change):
    old = present()
    new = copy.deepcopy(old)
    assert breaking(old, new) == []
    change(new)
    assert breaking(old, new)


def add_field(found):
    found["components"]["schemas"]["Quota"]["properties"]["more"] = {"type": "integer"}


def add_operation(found):
    found["paths"]["/api/v1/more/"] = found["paths"]["/api/v1/whoami/"]


def raise_limit(found):
    found["components"]["schemas"]["Grant"]["properties"]["slots"]["maximum"] = 1000


@pytest.mark.parametrize("change", [add_field, add_operation, raise_limit])
def test_what_only_adds_breaks_nothing(change):
    old = present()
    new = copy.deepcopy(old)
    change(new)
    assert breaking(old, new) == []


def test_every_operation_is_held_to_the_released_document():
    """Whoever adds one renews the document (``make openapi``): from then on its programs are safe too."""
    released = json.loads(newest().read_text(encoding="utf-8"))
    known = {each["operationId"] for methods in released["paths"].values() for each in methods.values()}
    here = {each["operationId"] for methods in present()["paths"].values() for each in methods.values()}
    assert here - known == set()


def test_a_document_that_breaks_programs_is_not_released(tmp_path):
    path, old = tmp_path / "openapi-1.0.0.json", present()
    assert release(path, old) == []
    assert json.loads(path.read_text(encoding="utf-8")) == old
    new = copy.deepcopy(old)
    remove_field(new)
    assert release(path, new)
    assert json.loads(path.read_text(encoding="utf-8")) == old
