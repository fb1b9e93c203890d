from __future__ import annotations

import orjson
import pytest

from broker_core import errors
from broker_core.client.answers import refusal, value


@pytest.mark.parametrize(
    "kind",
    [
        errors.BadRequest,
        errors.NotAuthorized,
        errors.NotFound,
        errors.Conflict,
        errors.Busy,
        errors.StorageFull,
        errors.StoreDamaged,
        errors.StateDirectoryTaken,
        errors.Unreachable,
        errors.SiteSilent,
    ],
)
def test_an_error_crosses_the_socket_as_its_own_kind(kind: type[errors.CrossDeskError]) -> None:
    said = {"code": kind.code, "message": "So it is.", "place": "here", "remedy": "Do that."}
    error = refusal(kind.status, orjson.dumps(said))
    assert type(error) is kind
    assert (error.message, error.place, error.remedy) == ("So it is.", "here", "Do that.")


def test_an_error_of_an_unknown_code_is_known_by_its_status() -> None:
    error = refusal(404, orjson.dumps({"code": "unknown_moon", "message": "There is no such moon."}))
    assert isinstance(error, errors.NotFound)
    assert error.code == "unknown_moon"


def test_a_refused_description_keeps_its_diagnostics() -> None:
    found = {"severity": "error", "code": "syntax", "message": "Expected a value.", "line": 3}
    said = {"code": "description_refused", "message": "No.", "diagnostics": [found]}
    error = refusal(422, orjson.dumps(said))
    assert isinstance(error, errors.DescriptionRefused)
    assert [one.line for one in error.diagnostics] == [3]


def test_an_answer_that_is_no_error_object_is_told_by_its_status() -> None:
    assert "status 500" in str(refusal(500, b"<html>"))


def test_what_is_no_json_comes_from_another_program() -> None:
    with pytest.raises(errors.Unreachable, match="does not speak as a broker"):
        value(b"hello")
