"""A small Hugging Face hub on this machine: the few calls that fetching a model makes, over real HTTP."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB_NAME = "malpan-test/bleurt"


class Hub:
    """Serves the files of ``folder`` as model ``name`` at ``revision``; remembers the paths that were downloaded."""

    def __init__(self, name: str, revision: str, folder: Path) -> None:
        self.name, self.revision = name, revision
        self.files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        self.downloaded: list[str] = []
        self.endpoint = ""

    def answer(self, path: str) -> tuple[dict[str, str], bytes] | None:
        """Headers and body for ``path``, or ``None`` for 404."""
        if path.startswith(f"/api/models/{self.name}/revision/{self.revision}"):
            siblings = [{"rfilename": name} for name in self.files]
            body = {"id": self.name, "modelId": self.name, "sha": self.revision, "siblings": siblings}
            return {"Content-Type": "application/json"}, json.dumps(body).encode()
        prefix = f"/{self.name}/resolve/{self.revision}/"
        content = self.files.get(path.removeprefix(prefix)) if path.startswith(prefix) else None
        if content is None:
            return None
        return {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": self.revision}, content


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Run ``hub`` on a free port of this machine; its address is then ``hub.endpoint``."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.split("?")[0]
            found = hub.answer(path)
            headers, body = found if found else ({"X-Error-Code": "RevisionNotFound"}, b"")
            self.send_response(200 if found else 404)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)
                if "/resolve/" in path and found:
                    hub.downloaded.append(path.rsplit("/", 1)[-1])

        def log_message(self, *_: object) -> None:
            """Silent: pytest's output is for the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
