"""Why a program failed is recorded with its end: the last line of its standard error."""

from __future__ import annotations

import pytest

from broker_core.broker.site_management.error_lines import MOST_CHARACTERS, last_line
from broker_core.client.client import BrokerClient
from tests.broker.jobs import reach, script
from tests.running import RunningBroker

TRACEBACK = """Traceback (most recent call last):
  File "fit.py", line 3, in <module>
    fit(0)
ValueError: no data
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("\n \t\n", ""),
        (TRACEBACK, "ValueError: no data"),
        ("bad value\n\n------\n", "bad value"),
        ("\x1b[1;31merror:\x1b[0m no such file\x1b[K\n", "error: no such file"),
        ("\x1b]0;title\x07out of memory", "out of memory"),
        ("10 %\r20 %\rkilled at 20 %\r\n", "killed at 20 %"),
        ("a\u202eb\x00c\x9b1m\ud800".encode("utf-8", "replace").decode(), "a b c 1m?"),
        ("x" * 500, "x" * (MOST_CHARACTERS - 1) + "…"),
    ],
)
def test_the_last_line_with_a_word_in_it_is_taken(text: str, line: str) -> None:
    assert last_line(text) == line


async def test_a_failed_job_keeps_its_last_words_and_a_good_one_none(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    failed = await script(client, "echo first >&2; echo 'ValueError: no data' >&2; exit 3")
    aborted = await script(client, "echo 'about to die' >&2; kill -9 $$")
    silent = await script(client, "exit 4")
    good = await script(client, "echo 'only a warning' >&2")
    expected = {failed: "ValueError: no data", aborted: "about to die", silent: "", good: ""}
    found = {job: (await reach(client, job, "Done", "Aborted"))["error_line"] for job in expected}
    assert found == expected
    end = next(one for one in await client.events_of(failed) if one.type == "job.done")
    assert end.details["error_line"] == "ValueError: no data"
    running_broker.kill()
    running_broker.start()
    page = await client.jobs_page(columns=("id", "error_line"))
    assert dict(zip(page.columns["id"], page.columns["error_line"], strict=True)) == expected


async def test_only_the_end_of_a_long_error_output_is_read(client: BrokerClient) -> None:
    job = await script(client, "head -c 999999 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo over >&2; exit 1")
    assert (await reach(client, job, "Done"))["error_line"] == "over"
