"""A description is confined to the computing elements of a group, and otherwise stays as it is."""

from __future__ import annotations

from app.match.sending import confined
from broker_core.jdl.check import check

TEXT = 'Executable = "wing"; // mine\nRequirements = other.GlueCEInfoTotalCPUs >= 4; # at least\n'


def test_no_group_leaves_the_text_alone() -> None:
    assert confined(TEXT, ()) == TEXT


def test_requirements_are_narrowed_and_comments_stay() -> None:
    text = confined(TEXT, ("a:2119/x", "b:2119/y"))
    narrowed = 'member(other.GlueCEUniqueID, {"a:2119/x", "b:2119/y"})'
    assert f"(other.GlueCEInfoTotalCPUs >= 4) && {narrowed}" in text
    assert "// mine" in text
    assert "# at least" in text


def test_a_description_without_requirements_gets_them() -> None:
    text = confined('Executable = "wing";\n', ("a:2119/x",))
    assert not [one for one in check(text).diagnostics if "Requirements" in one.message]
    assert 'Requirements = member(other.GlueCEUniqueID, {"a:2119/x"})' in text
