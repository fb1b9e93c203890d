"""What a source says that cannot be is told where its state is shown."""

from __future__ import annotations

from pathlib import Path

from tests.command_line.calling import crossdesk


def test_what_was_refused_of_an_answer_is_told_with_the_reason(tmp_path: Path, state_dir: Path) -> None:
    listed = tmp_path / "grid.toml"
    listed.write_text(
        '[[resources]]\nsite = "x"\n[[resources]]\nce = "a:2119/jobmanager-pbs-q"\nGlueCEInfoTotalCPUs = -4\n'
    )
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text(
        f'[[sources]]\nname = "mine"\nkind = "file"\naddress = "{listed}"\n'
    )
    said = crossdesk("site", "refresh", "mine")
    assert "2 refused" in said.out
    assert "resource 1: refused: it has no ce" in said.err
    assert "GlueCEInfoTotalCPUs" in said.err
    assert "source mine: 2 refused" in crossdesk("site", "list").err
