"""Arguments are split as a shell splits them, with nothing expanded."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.worker.words import split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  a\tb\nc ", ["a", "b", "c"]),
        ("'a  b'\"c d\"e", ["a  bc de"]),
        ("'' \"\"", ["", ""]),
        (
            "$HOME *.c `id` $(id) ; | > & #x ~",
            ["$HOME", "*.c", "`id`", "$(id)", ";", "|", ">", "&", "#x", "~"],
        ),
        (r'"a\$b\"c\d" e\ f', ['a$b"c\\d', "e f"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize("text", ["'a", '"a', "a\\", '"a\\"'])
def test_an_open_quote_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not closed"):
        split_words(text)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_quoted_words_come_back(words: list[str]) -> None:
    assert split_words(shlex.join(words)) == words


def test_a_shell_splits_quotes_and_backslashes_the_same_way() -> None:
    text = r"""a'b "c'\ d "e \" \\ \z f" g\\h '' i"""
    shell = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True)
    assert split_words(text) == shell.stdout.decode().split("\0")[:-1]
