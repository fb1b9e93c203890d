"""Scripts survive every login shell, and noise is cut from what they print."""

from __future__ import annotations

import subprocess

import pytest

from broker_core.errors import BadRequest
from broker_core.sites.link import Link
from broker_core.sites.transport.factory import transport_for
from broker_core.sites.transport.shell_wrapper import LONGEST_WORD, MOST_WORDS, NOISE, OutputFilter, wrap
from broker_core.wire.sites import SiteSpec

TOKEN = "0123456789abcdef"
SCRIPTS = {
    "signs": r"""x='!hi'; echo "$x! it's" '\' "\\" `echo a` $(echo b) %s ~ ^ # [a-z] {1,2}; cat""",
    "lines": "cat <<'end'\n$x `date` \\ ! 'q' \"d\"\n\n  indented\tby a tab\nend\ncat",
    "letters": "echo 'äöü €'; cat",
    "one long line": "#" + "y" * 20_000 + "\ncat",
    "many lines": "".join(f"# line {number} !\n" for number in range(900)) + "cat",
    "as many lines as go into words": "\n" * (MOST_WORDS - 5) + "cat",
    "one line more": "\n" * (MOST_WORDS - 4) + "cat",
    "as many lines as bytes": "\n" * 24_000 + "cat",
    "the longest word": "#" + "y" * (LONGEST_WORD - 3) + "\ncat",
    "a word longer by one": "#" + "y" * (LONGEST_WORD - 2) + "\ncat",
    "the longest word of quotes": "#" + "'" * ((LONGEST_WORD - 3) // 5) + "\ncat",
    "the longest words, as many as go": ("#" + "!" * ((LONGEST_WORD - 3) // 4) + "\n") * 12 + "cat",
    "longer than a command may be": "#" + "y" * 300_000 + "\ncat",
    "arguments": 'echo $# "$*"; set -- a b; echo $#; cat',
    "environment": 'printf %s "$HARD"; cat',
}
SHELLS = [
    "sh",
    "bash",
    # By their paths: whichever of the two was installed last is `csh`, and they have other limits.
    *(pytest.param(f"/usr/bin/{name}", marks=pytest.mark.cluster, id=name) for name in ("bsd-csh", "tcsh")),
]
HARD = "q'uo\"te!\\ $x `y`\n second line "


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_means_the_same_in_every_login_shell(script: str, shell: str) -> None:
    plain = _run(["sh", "-c", script] if len(script) < 100_000 else ["cat"], b"input", {"HARD": HARD})
    parcel = wrap(script, {"HARD": HARD}, TOKEN)
    out, err = _run([shell, "-c", parcel.command], parcel.head + b"input", {})
    assert (OutputFilter(parcel.marker).feed(out), OutputFilter(parcel.marker).feed(err)) == plain


@pytest.mark.parametrize(
    ("script", "in_words"),
    [
        ("\n" * (MOST_WORDS - 3) + "cat", True),
        ("\n" * (MOST_WORDS - 2) + "cat", False),
        ("#" + "y" * (LONGEST_WORD - 3), True),
        ("#" + "y" * (LONGEST_WORD - 2), False),
    ],
    ids=["all lines", "one line more", "longest word", "a word longer by one"],
)
def test_a_script_goes_into_words_as_far_as_every_shell_takes_them(script: str, in_words: bool) -> None:
    assert (wrap(script, {}, TOKEN).head == b"") is in_words


def _run(words: list[str], given: bytes, environment: dict[str, str]) -> tuple[bytes, bytes]:
    done = subprocess.run(
        words, input=given, capture_output=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", **environment}
    )
    return done.stdout, done.stderr


def test_noise_before_the_script_is_cut_even_where_the_shell_echoes_its_command() -> None:
    parcel = wrap("echo mine", {}, TOKEN)
    out, _ = _run(
        ["sh", "-c", f"echo 'Welcome!'; printf %s '{_text(parcel.command)}'; {parcel.command}"], b"", {}
    )
    assert b"Welcome" in out
    assert OutputFilter(parcel.marker).feed(out) == b"mine\n"


def _text(command: str) -> str:
    return command.replace("'", "")


def test_a_marker_in_pieces_is_found() -> None:
    cutter = OutputFilter(b"mark ")
    pieces = [b"noi", b"se ma", b"rk", b" 1", b"2\nbody", b" mark 3\n"]
    assert b"".join(cutter.feed(piece) for piece in pieces) == b"body mark 3\n"
    assert (bytes(cutter.noise), cutter.pid) == (b"noise ", 12)


def test_noise_without_end_is_given_up() -> None:
    cutter = OutputFilter(b"mark ")
    with pytest.raises(ValueError, match="without end"):
        cutter.feed(b"x" * (NOISE + 1))


def test_a_variable_with_an_impossible_name_is_refused() -> None:
    spec = SiteSpec(name="site", kind="shell", environment={"A B": "1"})
    with pytest.raises(BadRequest, match="A B"):
        transport_for(spec, Link(lambda _link: None))
