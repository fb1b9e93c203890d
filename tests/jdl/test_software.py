"""Modules, Container and PythonEnvironment of a description."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import check
from broker_core.jdl.description import Software

PLAIN = 'Executable = "/bin/true"; '


def test_what_is_asked_for_is_understood() -> None:
    text = PLAIN + 'Modules = {"gcc/14", "openmpi/5.0-x"}; Container = "docker://debian:12";'
    checked = check(text)
    assert checked.diagnostics == ()
    assert checked.description is not None
    assert checked.description.software == Software(("gcc/14", "openmpi/5.0-x"), "docker://debian:12")
    assert checked.description.software.words == (
        "module=gcc/14",
        "module=openmpi/5.0-x",
        "container=docker://debian:12",
    )


def test_files_of_the_sandbox_go_by_their_base_names() -> None:
    checked = check(
        PLAIN + 'InputSandbox = {"env/requirements.txt"}; PythonEnvironment = "env/requirements.txt";'
    )
    assert checked.description is not None
    assert checked.description.software.words == ("python=requirements.txt",)
    assert check(PLAIN).description.software.words == ()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('Modules = {"gcc 14"};', "module-name"),
        ('Modules = {"-gcc"};', "module-name"),
        ('Modules = {"a;reboot"};', "module-name"),
        ('Container = "image.sif";', "container-image"),
        ('Container = "/images/*.sif";', "container-image"),
        ('Container = "docker://a b";', "address-form"),
        ('PythonEnvironment = "requirements.txt";', "python-environment"),
        ('PythonEnvironment = "uv.lock"; InputSandbox = "uv.lock";', "python-environment"),
        ('PythonEnvironment = "setup.py"; InputSandbox = "setup.py";', "python-environment"),
        (
            'Container = "/a.sif"; PythonEnvironment = "r.txt"; InputSandbox = "r.txt";',
            "attributes-exclude",
        ),
        ("Modules = 14;", "wrong-type"),
    ],
)
def test_what_cannot_be_is_refused_at_its_place(text: str, code: str) -> None:
    checked = check(PLAIN + text)
    assert checked.description is None
    assert [one.code for one in checked.errors] == [code]
    assert all(one.line for one in checked.errors)
