"""A real S3 server (SeaweedFS, from the package index) on this machine, for the tests of files beyond one machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import boto3.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from malpan.local import die_with_parent

BUCKET: Final = "malpan"
ACCESS_KEY: Final = "malpan"
SECRET_KEY: Final = "the-tests-own"
_PORTS: Final = ("master.port", "volume.port", "filer.port", "s3.port")
_START_SECONDS: Final = 60


class S3Server:
    """Starts at once. Its data outlive ``kill``; ``start`` brings it back at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "data").mkdir(parents=True)
        everything = {
            "name": "malpan",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List"],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [everything]}))
        self.ports = _free_ports()
        self.endpoint = f"http://127.0.0.1:{self.ports['s3.port']}"
        self.start()

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid()),  # with the tests, if killed
                    str(Path(sys.executable).parent / "weed"),
                    "-logtostderr=true", "server", f"-dir={self.folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                    "-s3", f"-s3.config={self.folder}/s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0",
                    "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-master.electionTimeout=1s",
                    "-volume.max=50",
                    f"-filer.localSocket={self.folder}/filer.sock", f"-s3.localSocket={self.folder}/s3.sock",
                    *(f"-{name}={port}" for name, port in self.ports.items()),
                ],
                env={**os.environ, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"},  # one volume at a time is enough
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._wait()

    def kill(self) -> None:
        """Without a chance to write anything down."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for name, port in self.ports.items():
            if name.endswith(".grpc"):
                Path(f"/tmp/seaweedfs-{name.partition('.')[0]}-grpc-{port}.sock").unlink(missing_ok=True)

    def client(self) -> object:
        return boto3.session.Session().client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(
                connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}
            ),
        )

    def _wait(self) -> None:
        client = self.client()
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                with suppress(client.exceptions.BucketAlreadyExists, client.exceptions.BucketAlreadyOwnedByYou):
                    client.create_bucket(Bucket=BUCKET)
                client.put_object(Bucket=BUCKET, Key="ready", Body=b"")
                client.put_object(Bucket=BUCKET, Key="ready", Body=b"a volume takes it")
                return
            except (BotoCoreError, ClientError):
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.1)


def _free_ports() -> dict[str, int]:
    names = [*_PORTS, *(f"{name}.grpc" for name in _PORTS)]
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = {name: each.getsockname()[1] for name, each in zip(names, sockets, strict=True)}
    for each in sockets:
        each.close()
    return ports
