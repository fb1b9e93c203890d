"""The table of codes is complete, and says nothing that is not used."""

from __future__ import annotations

import ast
from pathlib import Path

import broker_core.jdl
from broker_core.jdl.attributes.known import ATTRIBUTES
from broker_core.jdl.codes import CODES
from broker_core.jdl.functions.known import FUNCTIONS
from broker_core.jdl.glue.attributes import GLUE

SOURCES = [path for folder in broker_core.jdl.__path__ for path in Path(folder).rglob("*.py")]


def strings() -> set[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES if path.name != "codes.py"]
    return {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def emitted() -> set[str]:
    """The first arguments of everything that makes a diagnostic."""
    makers = {"error", "warning", "hint", "Unexpected"}
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in makers and isinstance(node.args[0].value, str):
                    found.add(node.args[0].value)
    return found


def test_every_code_that_is_given_is_in_the_table() -> None:
    assert emitted() <= set(CODES)


def test_every_code_of_the_table_is_given_somewhere() -> None:
    assert set(CODES) <= strings()


def test_every_attribute_function_and_glue_name_is_documented() -> None:
    assert all(one.doc.endswith(".") and one.types for one in ATTRIBUTES.values())
    assert all(one.doc and one.signature.startswith(one.name) for one in FUNCTIONS.values())
    assert all(one.doc.endswith(".") for one in GLUE.values())
    assert len(ATTRIBUTES) > 150
