"""A real registry of container images (Debian's docker-registry) on this machine, over TLS.

Needs the packages that `packaging/components.sh` installs as `software`.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import ssl
import subprocess
import tarfile
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.testbed.certificates import Authority
from tests.testbed.ports import free_port
from tests.waiting import wait_until

_SETTINGS = """\
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: '{folder}/data'}}}}
http:
  addr: localhost:{port}
  tls: {{certificate: '{certificate}', key: '{key}'}}
"""
_KIND = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Registry:
    """One server; a context manager."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        authority = Authority(folder)
        self.authority = authority.file
        """What its clients have to trust."""
        host = authority.host()
        self._port = free_port()
        self._log = folder / "log"
        self._settings = folder / "settings.yml"
        self._settings.write_text(
            _SETTINGS.format(folder=folder, port=self._port, certificate=host.certificate, key=host.key)
        )

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["docker-registry", "serve", str(self._settings)], stdout=log, stderr=log
            )
        trusted = ssl.create_default_context(cafile=str(self.authority))
        self._http = httpx.Client(base_url=f"https://localhost:{self._port}/v2", verify=trusted, timeout=30)
        try:
            wait_until(self._answers, what="the registry answers")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()
        self._process.kill()
        self._process.wait(30)

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        try:
            return self._http.get("/").status_code == 200
        except httpx.TransportError:
            return False

    def push(self, root: Path, name: str) -> str:
        """Store a folder as an image of this name and tag, as `lab/tools:1`; returns its address."""
        repository, _, tag = name.partition(":")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for one in sorted(root.iterdir()):
                archive.add(one, one.name)
        layer = gzip.compress(packed.getvalue())
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": {},
                "rootfs": {"type": "layers", "diff_ids": [_digest(packed.getvalue())]},
                "history": [{"created_by": "test"}],
            }
        ).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": _KIND,
            "config": self._stored(repository, config) | {"mediaType": _CONFIG},
            "layers": [self._stored(repository, layer) | {"mediaType": _LAYER}],
        }
        self._http.put(
            f"/{repository}/manifests/{tag}", content=json.dumps(manifest), headers={"Content-Type": _KIND}
        ).raise_for_status()
        return f"docker://localhost:{self._port}/{name}"

    def _stored(self, repository: str, content: bytes) -> dict[str, str | int]:
        begun = self._http.post(f"/{repository}/blobs/uploads/").raise_for_status()
        where = httpx.URL(begun.headers["Location"]).copy_merge_params({"digest": _digest(content)})
        self._http.put(where, content=content).raise_for_status()
        return {"digest": _digest(content), "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
