"""Every operation of the API with a request that it understands, for whoever asks what it answers to whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.api import documentation
from malpan.api.documents import document
from malpan.api.routes import api
from tests.factories import prediction_bytes


@dataclass(frozen=True)
class Operation:
    """``scope``: what a token must be for; empty: none is needed."""

    name: str
    method: str
    path: str
    scope: str
    statuses: frozenset[str]
    media_type: str
    body: Mapping[str, Any]

    def ask(self, client: Client, named: Mapping[str, Any]) -> Any:
        """The answer to ``client`` at the address that ``named`` fills in."""
        path = self.path.format(**named)
        if self.media_type == "application/json":
            return client.generic(
                self.method, path, documentation.json.dumps(self.body), content_type="application/json"
            )
        if self.media_type:
            upload = {"file": SimpleUploadedFile("answers.json", prediction_bytes())}
            return client.post(path, {**self.body, **upload})
        return client.generic(self.method, path)


def operations() -> Iterator[Operation]:
    found = document(api)
    for path, methods in found["paths"].items():
        for method, each in methods.items():
            media_type, schema = documentation._body(found, each)
            if media_type == "application/json":
                body = documentation._example(found, schema)
            else:
                body = {name: "제목" for name in schema.get("required", []) if name != "file"}
            needed = each["security"][0].get("Bearer", [""])
            yield Operation(
                each["operationId"],
                method.upper(),
                path,
                needed[0],
                frozenset(each["responses"]),
                media_type,
                body,
            )
