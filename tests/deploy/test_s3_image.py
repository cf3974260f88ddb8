"""The store of the image ``s3``, started natively as the Dockerfile says; its bucket is made as OPERATIONS.md says."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3.session
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from malpan.core.storage.moving import move
from malpan.core.storage.places import store_at
from tests.deploy.manifests import DEPLOY
from tests.system.stack import free_port
from tests.waiting import wait_for

KEY, SECRET = "the-only-key", "the-only-secret"
PORTS = ("master.port", "volume.port", "filer.port", "s3.port")


def image() -> tuple[list[str], list[str]]:
    """ENTRYPOINT and CMD of the stage."""
    stage = (DEPLOY / "Dockerfile").read_text().partition("\nFROM base AS s3\n")[2].replace("\\\n", "")
    [entry], [words] = (re.findall(rf"^{name} (\[.+\])$", stage, re.MULTILINE) for name in ("ENTRYPOINT", "CMD"))
    return json.loads(entry), json.loads(words)


def weed(environment: dict[str, str], *more: str) -> dict[str, Any]:
    """How the image's entry point is started here, with ``weed`` from our own packages."""
    entry, _words = image()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"args": [*entry, *more], "env": {"PATH": path, **environment}, "stderr": subprocess.STDOUT}


@contextmanager
def started(folder: Path) -> Iterator[dict[str, int]]:
    _entry, words = image()
    assert "-dir=/data" in words
    ports = {name: free_port() for name in (*PORTS, *(f"{name}.grpc" for name in PORTS))}
    own = [f"-dir={folder}" if word == "-dir=/data" else word for word in words]
    command = weed({"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "HOME": str(folder)}, *own)
    command["args"] += [f"-{name}={port}" for name, port in ports.items()]
    with (folder.parent / "log").open("w") as log, subprocess.Popen(**command, stdout=log) as process:
        try:
            yield ports
        finally:
            process.terminate()
            process.wait(30)


def listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def test_without_its_key_it_does_not_start() -> None:
    command = weed({"AWS_ACCESS_KEY_ID": KEY}, "server")
    done = subprocess.run(**command, stdout=subprocess.PIPE, text=True, timeout=30, check=False)
    assert done.returncode
    assert "AWS_SECRET_ACCESS_KEY" in done.stdout


def test_files_move_into_the_bucket_that_the_guide_makes_and_nobody_else_reads_them(
    tmp_path: Path, settings: Any
) -> None:
    [line] = re.findall(r"^(echo 's3\.bucket\.create.+?)  ", (DEPLOY / "OPERATIONS.md").read_text(), re.MULTILINE)
    asked, _, shell = line.partition(" | docker compose … --profile s3 exec --no-TTY s3 ")
    (tmp_path / "data").mkdir()
    with started(tmp_path / "data") as ports:
        master = f"127.0.0.1:{ports['master.port']}.{ports['master.port.grpc']}"
        filer = f"127.0.0.1:{ports['filer.port']}.{ports['filer.port.grpc']}"
        assert shell.endswith("-master=127.0.0.1:9333"), "the port of the image"
        words = [
            Path(sys.executable).parent / "weed",
            *shlex.split(shell)[1:-1],
            f"-master={master}",
            f"-filer={filer}",
        ]

        def is_made() -> bool:
            command = shlex.split(asked)[1]
            done = subprocess.run(words, input=command + "\n", capture_output=True, text=True, timeout=60, check=False)
            return "created bucket" in (done.stdout + done.stderr).lower()

        wait_for(is_made, "the bucket is made")
        wait_for(lambda: listens(ports["s3.port"]), "the store listens")
        settings.S3_ENDPOINT = f"http://127.0.0.1:{ports['s3.port']}"
        settings.S3_REGION, settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY = "us-east-1", KEY, SECRET
        disk, far = store_at(str(tmp_path / "files")), store_at("s3://malpan/private")
        stored = disk.put("제출 파일".encode())
        assert move(source=disk, target=far, removes=True).removed == 1
        with far.open(stored.sha256) as file:
            assert file.read().decode() == "제출 파일"
        [copy] = far.copies()
        for signature, key in (("s3v4", "another"), (UNSIGNED, None)):
            with pytest.raises(ClientError, match=r"InvalidAccessKeyId|AccessDenied|403"):
                _client(settings.S3_ENDPOINT, signature, key).get_object(Bucket="malpan", Key=copy.place)


def _client(endpoint: str, signature: Any, key: str | None) -> Any:
    how = Config(signature_version=signature, s3={"addressing_style": "path"})
    keys = {"aws_access_key_id": key, "aws_secret_access_key": key}
    return boto3.session.Session().client("s3", endpoint_url=endpoint, region_name="us-east-1", config=how, **keys)
