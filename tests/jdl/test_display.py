"""The screen that a description asks for."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import check

_BASE = 'Executable = "/bin/true"; Interactive = true;'


@pytest.mark.parametrize("text", ["1024x768", " 1024 x 768 ", "1024X768", "1024×768"])
def test_a_size_is_understood(text: str) -> None:
    found = check(f'{_BASE} InteractiveDisplay = "{text}";')
    assert found.description is not None
    assert found.description.display == (1024, 768)
    assert found.diagnostics == ()


@pytest.mark.parametrize("text", ["", "large", "1024", "63x64", "64x4097", "1024x768x24", "-64x64", "٣x240"])
def test_what_is_no_size_is_refused(text: str) -> None:
    (error,) = check(f'{_BASE} InteractiveDisplay = "{text}";').errors
    assert error.code == "display-size"
    assert '"1024x768"' in error.message


def test_a_display_is_for_interactive_jobs_and_takes_the_place_of_forwarded_windows() -> None:
    (warning,) = check('Executable = "/bin/true"; InteractiveDisplay = "800x600";').diagnostics
    assert (warning.severity, warning.code) == ("warning", "attribute-without")
    (error,) = check(f'{_BASE} InteractiveX11 = true; InteractiveDisplay = "800x600";').errors
    assert error.code == "attributes-exclude"
    without = check(_BASE).description
    assert without is not None
    assert without.display is None
