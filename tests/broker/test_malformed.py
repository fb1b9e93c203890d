"""Settings of sites that can be no settings are refused by the models of the wire, with the field's name."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

REFUSED: dict[str, Any] = {
    "url": "https://[",
    "host": "a\nb",
    "port": 65536,
    "jump": "a\x00b",
    "user": "a\x7f",
    "environment": {"NAME": "a\x00b"},
}
SPEC_ALONE: dict[str, Any] = {"lease": float("inf"), "max_jobs": 10**30, "options": ["--a\nb"]}


@pytest.mark.parametrize("url", ["https://[", "4K|\r[", "https://a:b/arex", "a:99999", "http://[::1"])
async def test_a_look_at_what_is_no_url_is_refused(http: httpx.AsyncClient, url: str) -> None:
    answer = await http.post("/sites/detect", json={"url": url})
    assert answer.status_code == 400
    assert "url" in answer.json()["place"]


@pytest.mark.parametrize("field", REFUSED)
async def test_a_look_with_a_field_that_cannot_be_used_is_refused(
    http: httpx.AsyncClient, field: str
) -> None:
    answer = await http.post("/sites/detect", json={field: REFUSED[field]})
    assert answer.status_code == 400
    assert field in answer.json()["place"]


@pytest.mark.parametrize("field", [*REFUSED, *SPEC_ALONE])
async def test_a_site_with_a_field_that_cannot_be_used_is_not_added(
    http: httpx.AsyncClient, field: str
) -> None:
    kind = "arc" if field == "url" else "shell"
    value = (REFUSED | SPEC_ALONE)[field]
    body = {"name": "far", "kind": kind, field: value}
    kind_of_body = {"content-type": "application/json"}
    answer = await http.post("/sites", content=json.dumps(body), headers=kind_of_body)
    assert answer.status_code == 400
    assert field in answer.json()["place"]
    names = [one["spec"]["name"] for one in (await http.get("/sites")).json()]
    assert "far" not in names
