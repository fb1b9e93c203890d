"""The replica catalogues: the embedded document, one behind HTTP, one in OpenLDAP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from broker_core.broker.matchmaking.data_locality import DataLocality
from broker_core.errors import BadRequest, NotFound
from broker_core.information.configuration import ReplicaSettings
from broker_core.information.replicas.catalog import DescribedCatalogs, catalog
from broker_core.information.replicas.contract import replica
from broker_core.information.replicas.document import DocumentCatalog
from broker_core.information.replicas.http import HttpCatalog
from broker_core.information.replicas.ldap import LdapCatalog
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.information.updater import SourceFailed
from broker_core.resources.closeness import Replica
from broker_core.resources.pool import Pool
from tests.matching.made import job, resource
from tests.testbed.glue_tree import record
from tests.testbed.openldap import Slapd
from tests.testbed.ports import free_port

pytestmark = pytest.mark.expected_log("Jobs are matched without their files")

FILES = {
    "lfn:/grid/test/one": ["gsiftp://se1.example.org/data/one", "srm://SE2.example.org:8443/one"],
    "guid:1234-abcd": ["se3.example.org"],
    "test-input.txt": ["se4.example.org"],
}


async def test_the_embedded_catalogue_is_edited_and_read_again(tmp_path: Path) -> None:
    files = DocumentCatalog(tmp_path / "deep" / "replicas.json")
    assert await files.locations([*FILES]) == {}
    for name, addresses in FILES.items():
        await files.put(name, addresses)
    again = DocumentCatalog(tmp_path / "deep" / "replicas.json")
    found = await again.locations(["lfn:/unknown", *FILES])
    assert found["lfn:/grid/test/one"].copies == (("se1.example.org", "gsiftp"), ("se2.example.org", "srm"))
    assert found["guid:1234-abcd"].storage() == {"se3.example.org"}
    await again.remove("guid:1234-abcd")
    assert [*await files.listed()] == ["lfn:/grid/test/one", "test-input.txt"]
    assert await files.listed("guid:") == {}
    with pytest.raises(NotFound):
        await files.remove("guid:1234-abcd")


async def test_a_document_that_is_none_is_named_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "replicas.json"
    path.write_text('{"lfn:/a": 7}')
    files = DocumentCatalog(path)
    with pytest.raises(SourceFailed, match="no list of addresses") as failed:
        await files.locations(["lfn:/a"])
    assert failed.value.place == str(path)
    with pytest.raises(SourceFailed):
        await files.put("lfn:/b", ["se1"])
    assert path.read_text() == '{"lfn:/a": 7}'


@pytest.mark.parametrize("name", ["", "lfn:", "http://example.org/a", "a\nb"])
async def test_what_is_no_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest) as refused:
        await DocumentCatalog(tmp_path / "replicas.json").locations([name])
    assert refused.value.remedy


@pytest.fixture
def web() -> Iterator[str]:
    """A catalogue behind HTTP on this machine; /broken answers what is none, /open everybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            names = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["names"]
            known = {name: FILES[name] for name in names if name in FILES}
            body = b"[]" if "broken" in self.path else json.dumps({"locations": known}).encode()
            known_token = self.headers["Authorization"] == "Bearer sesame" or "open" in self.path
            self.send_response(200 if known_token else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_catalogue_behind_http_is_asked_with_a_token(web: str) -> None:
    files = HttpCatalog(web, token="sesame")
    found = await files.locations([*FILES, "lfn:/unknown"])
    assert {name: sorted(one.storage()) for name, one in found.items()} == {
        "lfn:/grid/test/one": ["se1.example.org", "se2.example.org"],
        "guid:1234-abcd": ["se3.example.org"],
        "test-input.txt": ["se4.example.org"],
    }
    await files.close()


@pytest.mark.parametrize(
    ("part", "token", "words"),
    [("", "", "401"), ("/broken", "sesame", "no locations"), ("gone", "", "answer")],
)
async def test_a_catalogue_that_does_not_answer_is_named(web: str, part: str, token: str, words: str) -> None:
    address = f"http://127.0.0.1:{free_port()}" if part == "gone" else web + part
    files = HttpCatalog(address, token=token)
    with pytest.raises(SourceFailed, match=words) as failed:
        await files.locations(["lfn:/a"])
    assert failed.value.place == address
    await files.close()


async def test_a_catalogue_in_an_ldap_server_is_searched(tmp_path: Path, slapds: list[Slapd]) -> None:
    entries = [
        record(
            f"cn={number},o=grid",
            "device labeledURIObject",
            {"cn": [str(number), name], "labeledURI": [f"{address} a copy" for address in addresses]},
        )
        for number, (name, addresses) in enumerate(FILES.items())
    ]
    server = Slapd(tmp_path / "catalogue", entries)
    slapds.append(server)
    files = LdapCatalog(f"{server.start()}/o=grid", name_attribute="cn")
    found = await files.locations([*FILES, "lfn:/a*)("])
    assert found.keys() == FILES.keys()
    assert found["lfn:/grid/test/one"].copies == (("se1.example.org", "gsiftp"), ("se2.example.org", "srm"))
    server.close()
    with pytest.raises(SourceFailed, match="refused"):
        await files.locations(["lfn:/grid/test/one"])


def test_the_settings_choose_the_catalogue(tmp_path: Path) -> None:
    document = tmp_path / "replicas.json"
    assert isinstance(catalog(ReplicaSettings(), document), DocumentCatalog)
    ldap = ReplicaSettings("ldap", "ldap://127.0.0.1/o=grid", options={"name_attribute": "filename"})
    assert isinstance(catalog(ldap, document), LdapCatalog)
    with pytest.raises(BadRequest, match="surprise"):
        catalog(ReplicaSettings(options={"surprise": 1}), document)


async def test_what_is_known_of_files_is_told_at_once_and_asked_for_meanwhile(tmp_path: Path) -> None:
    files = DocumentCatalog(tmp_path / "replicas.json")
    await files.put("lfn:/a", ["se1"])
    clock, news = [0.0], [0]

    def changed() -> None:
        news[0] += 1

    memory = ReplicaMemory(files, lambda: clock[0], changed)
    assert memory.known(["lfn:/a", "lfn:/b", "no:name"]) == []
    assert [one.name for one in await memory.found(["lfn:/a", "lfn:/b"], 10.0)] == ["lfn:/a"]
    assert news == [1]
    await files.put("lfn:/b", ["se2"])
    assert len(await memory.found(["lfn:/a", "lfn:/b"], 10.0)) == 1, "an answer holds for a while"
    clock[0] = 1000.0
    assert [one.name for one in await memory.found(["lfn:/a", "lfn:/b"], 10.0)] == ["lfn:/a", "lfn:/b"]
    assert news == [2]
    await memory.close()


async def test_a_catalogue_that_fails_takes_nothing_away_and_is_asked_again_later(tmp_path: Path) -> None:
    path = tmp_path / "replicas.json"
    files, clock = DocumentCatalog(path), [0.0]
    await files.put("lfn:/a", ["se1"])
    memory = ReplicaMemory(files, lambda: clock[0], lambda: None)
    assert len(await memory.found(["lfn:/a"], 10.0)) == 1
    path.write_text("no document")
    clock[0] = 1000.0
    assert len(await memory.found(["lfn:/a"], 10.0)) == 1
    assert str(path) in memory.failure
    path.write_text("{}")
    assert len(await memory.found(["lfn:/a"], 10.0)) == 1
    clock[0] = 1100.0
    assert await memory.found(["lfn:/a"], 10.0) == []
    assert memory.failure == ""
    await memory.close()


class _Elsewhere:
    """Files of the catalogue of the settings."""

    async def locations(self, names: Sequence[str]) -> Mapping[str, Replica]:
        return {name: replica(name, ["se.settings.org"]) for name in names}

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('InputData = "lfn:/grid/test/one";', {"settings": 1}),
        ('InputData = "lfn:/grid/test/one"; ReplicaCatalog = "{web}";', {"described": 1}),
        (
            (
                'DataRequirements = {[InputData = {"lfn:/grid/test/one"}; DataCatalogType = "DLI"; '
                'DataCatalog = "{web}"], [InputData = {"lfn:/b", "lfn:/c"}; DataCatalogType = "DLI"]};'
            ),
            {"settings": 2, "described": 1},
        ),
        ('InputData = "lfn:/grid/test/one"; ReplicaCatalog = "http://not.listed.org";', {"settings": 1}),
    ],
)
async def test_a_description_has_its_own_catalogue_asked(
    web: str, text: str, expected: dict[str, int]
) -> None:
    near = {"settings": "se.settings.org", "described": "se1.example.org"}
    pool = Pool.of([resource(site, GlueCESEBindGroupSEUniqueID=[se]) for site, se in near.items()])
    memory = ReplicaMemory(_Elsewhere(), lambda: 0.0, lambda: None)
    settings = ReplicaSettings(options={"token": "secret"}, described=(f"{web}/open",))
    data = DataLocality(memory, DescribedCatalogs(settings, False, lambda: 0.0, lambda: None))
    one = job(f'DataAccessProtocol = "gsiftp"; {text.replace("{web}", f"{web}/open")}')
    await data.asked([one])
    found = {ce.partition(":")[0]: count for ce, count in data.known(one, pool).items()}
    assert found == expected
    await data.close()
