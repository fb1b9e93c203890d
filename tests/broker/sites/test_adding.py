"""Adding a site from the command line: looked at, asked about, tested; nothing secret is left anywhere."""

from __future__ import annotations

import asyncio
import shutil
import stat
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import Conflict, CrossDeskError
from broker_core.wire.sites import DetectRequest, QuestionAnswer, SiteSpec
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import link
from tests.command_line.calling import crossdesk
from tests.testbed.slurm import Cluster
from tests.testbed.ssh_agent import SshAgent
from tests.testbed.sshd import Sshd, make_key
from tests.waiting import eventually

SECRET = "a quite secret sentence"


def test_a_cluster_behind_ssh_is_added_with_a_test_job_after_one_question(
    broker: Path, cluster: Cluster, tmp_path: Path
) -> None:
    said = crossdesk(
        "site", "add", NAME, "--directory", str(tmp_path / "there"), "--poll", "0.2", text="yes\n"
    )
    assert said.code == 0, said.err
    assert "SHA256:" in said.err
    assert "Slurm" in said.out
    assert "files ok" in said.out
    assert [job.state for job in cluster.all_completed()][-1:] == ["COMPLETED"]
    listed = {one["spec"]["name"]: one for one in crossdesk("site", "list", "--json").json["sites"]}
    site = listed[NAME]
    assert (site["title"], site["link"]["state"], site["done"], site["total_cpus"]) == (
        "Slurm", "connected", 1, 8,
    )  # fmt: skip
    assert crossdesk("site", "show", NAME).code == 0
    assert "connected" in crossdesk("site", "log", NAME).out
    kept = broker / "sites" / NAME / "site.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert crossdesk("site", "change", NAME, "--max-jobs", "3", "--queue", "short").code == 0
    assert SiteSpec.model_validate_json(kept.read_text()).max_jobs == 3
    assert crossdesk("site", "test", NAME, "--json").json["test"]["site"].endswith("slurm-short")
    there = tmp_path / "there"
    assert len(list(there.iterdir())) == 1
    assert crossdesk("site", "remove", NAME).code == 0
    assert not kept.exists()
    assert not list(there.iterdir()), "nothing of the broker stays behind"


@pytest.mark.usefixtures("trusting")
async def test_a_site_whose_directory_cannot_be_written_says_so_and_gets_no_jobs_until_it_can(
    client: BrokerClient, tmp_path: Path
) -> None:
    place = tmp_path / "there"
    place.write_text("a file, no directory")
    added = await asyncio.to_thread(
        crossdesk, "site", "add", NAME, "--kind", "shell", "--directory", str(place / "jobs")
    )
    assert (added.code, str(place) in "".join(added.err.split("\n"))) == (1, True), added.err
    (site,) = [one for one in await client.sites() if one.name == NAME]
    assert (site.standing, site.link.state, site.ces) == ("unusable", "connected", [])
    assert str(place) in site.link.trouble
    assert "settings of the site" in site.link.trouble
    listed = await asyncio.to_thread(crossdesk, "site", "list")
    assert "unusable" in listed.out
    with pytest.raises(Conflict, match="directory for jobs cannot be used"):
        await client.test_site(NAME)
    place.unlink()
    await client.connect_site(NAME)

    async def usable() -> bool:
        return any(
            one.name == NAME and one.standing == "connected" and one.ces for one in await client.sites()
        )

    await eventually(usable, what="the site can be used")
    tested = await asyncio.to_thread(crossdesk, "site", "test", NAME, "--json")
    assert tested.json["test"]["state"] == "Done", tested.err


@pytest.mark.usefixtures("trusting", "broker")
def test_a_plain_host_keeps_its_queue_in_the_home_directory_that_it_names(tmp_path: Path) -> None:
    assert crossdesk("site", "add", NAME, "--kind", "shell").code == 0
    assert list((tmp_path / "home-there" / ".crossdesk" / "queue").iterdir())


def test_a_host_that_is_not_trusted_is_not_added(broker: Path) -> None:
    said = crossdesk("site", "add", NAME, text="no\n")
    assert (said.code, "was not answered" in said.err) == (1, True)
    nobody = crossdesk("site", "add", NAME)
    assert (nobody.code, "nobody to answer" in nobody.err) == (1, True)
    missing = crossdesk("site", "add", "no-such-host.invalid", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "site_not_found")
    assert [one["spec"]["name"] for one in crossdesk("site", "list", "--json").json["sites"]] == ["local"]


def test_a_host_key_can_be_trusted_by_its_fingerprint(
    broker: Path, sshd: Sshd, cluster: Cluster, tmp_path: Path
) -> None:
    words = ("site", "add", NAME, "--no-test", "--kind", "shell", "--directory", str(tmp_path / "there"))
    other = crossdesk(*words, "--host-key", "SHA256:" + "0" * 43)
    assert other.code == 1
    added = crossdesk(*words, "--host-key", sshd.fingerprint, "--name", "hut", "--json").json["site"]
    assert (added["spec"]["kind"], added["link"]["state"]) == ("shell", "connected")


@pytest.mark.usefixtures("trusting")
async def test_a_passphrase_is_asked_and_never_written_down(
    client: BrokerClient, broker: Path, home: Path, sshd: Sshd, cluster: Cluster
) -> None:
    key = make_key(home / ".ssh" / "locked", passphrase=SECRET)
    sshd.authorize("root", key)
    config = home / ".ssh" / "config"
    config.write_text(config.read_text().replace(str(sshd.key), str(key)))
    found = await client.detect_site(DetectRequest(host=NAME))

    async def asked() -> bool:
        return (await client.detection(found.id)).state == "question"

    await eventually(asked)
    question = (await client.detection(found.id)).question
    assert question is not None
    assert (question.kind, question.secret, bool(question.keep_as)) == ("passphrase", True, True)
    with pytest.raises(Conflict):
        await client.answer_detection(found.id, QuestionAnswer(id="another", value=SECRET))
    await client.answer_detection(found.id, QuestionAnswer(id=question.id, value="wrong"))

    async def asked_again() -> bool:
        now = (await client.detection(found.id)).question
        return now is not None and now.id != question.id

    await eventually(asked_again)
    again = (await client.detection(found.id)).question
    assert again is not None
    await client.answer_detection(found.id, QuestionAnswer(id=again.id, value=SECRET))

    async def ended() -> bool:
        return (await client.detection(found.id)).state == "found"

    await eventually(ended)
    detection = await client.detection(found.id)
    assert detection.systems[0].kind == "slurm"
    assert detection.suggestion is not None
    for path in (path for path in broker.rglob("*") if path.is_file()):
        assert SECRET.encode() not in path.read_bytes(), path


@pytest.mark.usefixtures("trusting")
async def test_keys_of_an_agent_that_is_younger_than_the_broker_are_used_once_its_user_connects(
    client: BrokerClient,
    spec: SiteSpec,
    home: Path,
    sshd: Sshd,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = make_key(tmp_path / "locked", passphrase=SECRET)
    sshd.authorize("root", key)
    config = home / ".ssh" / "config"
    kept = [line for line in config.read_text().splitlines() if "Identit" not in line]
    config.write_text("\n".join(kept))
    await client.add_site(spec)
    assert "none of your keys" in (await link(client, NAME, "down")).link.reason
    agent = SshAgent(tmp_path / "agent")
    agent.add(key, SECRET)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent.socket))
    await client.connect_site(NAME)
    assert (await link(client, NAME, "connected", "down")).link.state == "connected"
    agent.close()


async def test_what_cannot_be_a_site_is_refused_in_words(client: BrokerClient, spec: SiteSpec) -> None:
    with pytest.raises(CrossDeskError, match="this machine itself"):
        await client.add_site(spec.model_copy(update={"name": "localhost"}))
    with pytest.raises(CrossDeskError, match="no kind"):
        await client.add_site(spec.model_copy(update={"kind": "abacus"}))
    await client.add_site(spec)
    with pytest.raises(Conflict):
        await client.add_site(spec)
    with pytest.raises(Conflict, match="kind"):
        await client.change_site(spec.model_copy(update={"kind": "sge"}))
    with pytest.raises(Conflict, match="cannot be removed"):
        await client.remove_site("local")


@pytest.mark.usefixtures("trusting", "broker")
def test_a_host_that_can_run_no_jobs_says_what_it_lacks(home: Path, sshd: Sshd, tmp_path: Path) -> None:
    place = tmp_path / "few"
    place.mkdir()
    for name in ("sh", "sed", "grep", "env", "uname", "cat", "id", "head", "tr", "dd", "sleep"):
        (place / name).symlink_to(shutil.which(name) or name)
    said = crossdesk("site", "add", NAME, "--env", f"PATH={place}")
    assert (said.code, "Linux with flock and setsid" in " ".join(said.err.split())) == (1, True), said.err


@pytest.mark.usefixtures("trusting")
async def test_queues_that_the_site_does_not_have_are_told(client: BrokerClient, spec: SiteSpec) -> None:
    await client.add_site(spec.model_copy(update={"queues": ["nowhere"]}))

    async def told() -> bool:
        sources = await client.sources()
        return any("There is no queue nowhere; there is main, short." in one.reason for one in sources)

    await eventually(told)
