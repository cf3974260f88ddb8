"""``python -m tests.api.release`` (``make openapi``): the document of the API as it is released from now on.

It takes the place of the one of this version (``malpan.api.http.VERSION``), unless something in it breaks programs that
were written for the newest one: then it says what, changes nothing, and the status is 1. For a breaking release raise
the major version first; the old document stays beside the new one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

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


def release(path: Path, found: dict) -> list[str]:
    """Write ``found`` to ``path``; or what would break programs, in which case nothing is written."""
    broken = breaking(json.loads(path.read_text(encoding="utf-8")), found) if path.exists() else []
    if not broken:
        path.write_text(written(found), encoding="utf-8")
    return broken


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "malpan.settings")
    import django

    django.setup()
    found = present()
    path = RELEASED / f"openapi-{found['info']['version']}.json"
    broken = release(path, found)
    print("\n".join(broken) if broken else path)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
