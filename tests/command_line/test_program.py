from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from app.launch import wants_command_line
from broker_core.command_line.nouns import NOUNS
from broker_core.command_line.program import application
from broker_core.version import VERSION
from tests.command_line.calling import crossdesk


def test_the_version_is_told() -> None:
    said = crossdesk("--version")
    assert (said.code, said.out) == (0, f"crossdesk {VERSION}\n")


def test_the_version_is_told_without_loading_the_command_line() -> None:
    words = [sys.executable, "-X", "importtime", "-m", "app.launch", "--version"]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    heavy = ("typer", "rich", "httpx", "pydantic", "PySide6")
    assert [name for name in heavy if f" {name}" in told.stderr] == []


_WHOLE_PROGRAM = "from broker_core.command_line.program import application; application()"
_CLIENT = "import broker_core.client.connect"


@pytest.mark.parametrize("loading", [_WHOLE_PROGRAM, _CLIENT])
def test_neither_command_line_nor_client_imports_qt(loading: str) -> None:
    wanted = "[m for m in sys.modules if m.split('.')[0] in ('PySide6', 'qasync', 'app')]"
    text = f"import sys; {loading}; print({wanted})"
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize("loading", [_WHOLE_PROGRAM, _CLIENT, "import app.launch"])
def test_the_client_side_imports_no_posix_only_module_of_its_own(loading: str) -> None:
    code = (
        "import sys\n"
        "class Never:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('uvloop', 'broker_core.broker.api.listener', 'broker_core.sites', 'resource'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Never())\n"
        f"{loading}\nprint('fine')"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == "fine\n", told.stderr


def test_a_command_loads_itself_alone_and_help_loads_all() -> None:
    one = application(["--state-dir", "x", "--json", "job", "list", "--all"])
    assert [group.name for group in one.registered_groups] == ["job"]
    assert not one.registered_commands
    assert [one.name for one in application(["queue"]).registered_commands] == ["queue"]
    for words in ("", "--help", "job", "job --help", "jbo list", "job lsit", "--state-dir"):
        app = application(words.split())
        nouns = {one.name for one in (*app.registered_groups, *app.registered_commands)}
        assert nouns == {*NOUNS}, words


def test_a_command_is_not_loaded_with_all_others() -> None:
    only = _WHOLE_PROGRAM.replace("application()", "application(['job', 'list'])")
    loaded = "[name for name in sys.modules if name.startswith('broker_core.command_line.')]"
    words = [sys.executable, "-c", f"import sys; {only}; print({loaded})"]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "broker_core.command_line.job.list'" in told.stdout
    assert "broker_core.command_line.job.submit'" not in told.stdout
    assert "broker_core.command_line.sites" not in told.stdout


def test_help_names_every_noun() -> None:
    said = crossdesk("--help")
    assert said.code == 0
    assert all(noun in said.out for noun in NOUNS)


def test_a_mistyped_verb_is_a_usage_error() -> None:
    said = crossdesk("job", "sumbit")
    assert said.code == 2
    assert "submit" in said.err
    assert said.out == ""


def test_a_usage_error_is_json_if_that_was_asked_for() -> None:
    said = crossdesk("job", "submit", "--json")
    assert said.code == 2
    assert said.json["error"]["code"] == "usage"


@pytest.mark.parametrize(
    ("words", "command_line"),
    [
        ([], False),
        (["job", "list"], True),
        (["--state-dir", "x", "job", "list"], True),
        (["--state-dir", "x"], False),
        (["experiment.jdl"], False),
        (["--help"], True),
        (["jbo"], True),
    ],
)
def test_words_open_the_desktop_or_run_a_command(words: list[str], command_line: bool) -> None:
    assert wants_command_line(words) is command_line


@pytest.mark.parametrize("noun", NOUNS)
def test_a_command_stays_one_beside_a_file_of_its_name(
    noun: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / noun).mkdir()
    monkeypatch.chdir(tmp_path)
    assert wants_command_line([noun, "list"])


def test_an_existing_file_of_any_name_opens_the_desktop(tmp_path: Path) -> None:
    path = tmp_path / "experiment"
    path.write_text('Executable = "/bin/true";')
    assert not wants_command_line([str(path)])


def test_completion_can_be_shown_for_the_shell() -> None:
    said = crossdesk(
        "job", "", _CROSSDESK_COMPLETE="complete_bash", COMP_WORDS="crossdesk job get", COMP_CWORD="2"
    )
    assert "get-output" in said.out


def test_completion_of_ids_is_silent_without_a_broker() -> None:
    words = "crossdesk job status "
    said = crossdesk(_CROSSDESK_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="3")
    assert (said.out.strip(), said.err) == ("", "")


def test_settings_are_shown_with_their_origin(state_dir: Path) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text("cpus = 3\n")
    settings = {one["name"]: one for one in crossdesk("config", "--json").json["settings"]}
    assert settings["cpus"]["value"] == 3
    assert settings["cpus"]["origin"].endswith("broker.toml")
    assert settings["mode"]["origin"] == "default"


def test_every_value_of_a_table_of_settings_is_shown_with_its_origin(state_dir: Path) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text(
        'max_ces_per_set = 3\n[[sources]]\nname = "grid"\nkind = "ldap"\naddress = "ldap://bdii.example.org"\n'
    )
    settings = {one["name"]: one for one in crossdesk("config", "--json").json["settings"]}
    assert settings["sources.grid.address"]["value"] == "ldap://bdii.example.org"
    assert settings["sources.grid.address"]["origin"].endswith("broker.toml")
    assert (settings["sources.grid.interval"]["value"], settings["sources.grid.interval"]["origin"]) == (
        120.0, "default"
    )  # fmt: skip
    assert settings["replicas.kind"]["value"] == "embedded"
    assert (settings["max_ces_per_set"]["value"], settings["max_groups"]["value"]) == (3, 1000)
    assert (settings["batch_capacity"]["value"], settings["max_site_queue"]["value"]) == ("total", 100)


@pytest.mark.parametrize("words", [("job", "sftp"), ("job", "exec"), ("site", "add"), ("site", "show")])
def test_paragraphs_of_a_help_text_fill_its_lines(words: tuple[str, str]) -> None:
    about = crossdesk(*words, "--help", COLUMNS="80").out.partition("─")[0]
    lines = [line.strip() for line in about.partition("Usage:")[2].splitlines()]
    for line, after in pairwise(lines):
        assert not (line and after) or len(f"{line} {after.split()[0]}") > 76, line
