"""The API's document against the last released one: programs written for that one go on working.

``python -m tests.api.test_breaking`` writes the document of a new release.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from tests.api.breaking import breaking

RELEASED = Path(__file__).parent / "released"


def newest() -> Path:
    return max(RELEASED.glob("openapi-*.json"), key=lambda path: [int(part) for part in path.stem[8:].split(".")])


def present() -> dict:
    """The document of the code, without texts that may change at any time."""
    from django.utils.translation import override

    from malpan.api.documents import document
    from malpan.api.routes import api

    with override("en"):
        found = without_texts(document(api))
    found["servers"] = []
    return found


def without_texts(part):
    """The document as JSON has it, without summaries, descriptions and titles."""
    if isinstance(part, dict):
        texts = {name for name in ("summary", "description", "title") if isinstance(part.get(name), str)}
        return {str(name): without_texts(each) for name, each in part.items() if name not in texts}
    return [without_texts(each) for each in part] if isinstance(part, list | tuple) else part


def written(found):
    """As text with a line for each operation and each schema, so that a change is a change of few lines."""

    def lines(part, depth):
        if depth == 0 or not isinstance(part, dict) or not part:
            return json.dumps(part, ensure_ascii=False, sort_keys=True)
        inner = ",\n".join(f"{json.dumps(name)}: {lines(part[name], depth - 1)}" for name in sorted(part))
        return f"{{\n{inner}\n}}"

    return lines(found, 3) + "\n"


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


if __name__ == "__main__":
    import django

    django.setup()
    release = present()
    path = RELEASED / f"openapi-{release['info']['version']}.json"
    path.write_text(written(release), encoding="utf-8")
    print(path)
