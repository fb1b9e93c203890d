"""Scripts survive every login shell, and noise is cut from what they print."""

from __future__ import annotations

import subprocess

import pytest

from broker_core.errors import BadRequest
from broker_core.sites.link import Link
from broker_core.sites.transport.envelope import NOISE, Cutter, wrap
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec

TOKEN = "0123456789abcdef"
SCRIPTS = {
    "signs": r"""x='!hi'; echo "$x! it's" '\' "\\" `echo a` $(echo b) %s ~ ^ # [a-z] {1,2}; cat""",
    "lines": "cat <<'end'\n$x `date` \\ ! 'q' \"d\"\n\n  indented\tby a tab\nend\ncat",
    "letters": "echo 'äöü €'; cat",
    "one long line": "#" + "y" * 20_000 + "\ncat",
    "many lines": "".join(f"# line {number} !\n" for number in range(900)) + "cat",
    "longer than a command may be": "#" + "y" * 300_000 + "\ncat",
    "arguments": 'echo $# "$*"; set -- a b; echo $#; cat',
    "environment": 'printf %s "$HARD"; cat',
}
HARD = "q'uo\"te!\\ $x `y`\n second line "


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("shell", ["sh", "bash", pytest.param("csh", marks=pytest.mark.cluster)])
def test_a_script_means_the_same_in_every_login_shell(script: str, shell: str) -> None:
    plain = _run(["sh", "-c", script] if len(script) < 100_000 else ["cat"], b"input", {"HARD": HARD})
    parcel = wrap(script, {"HARD": HARD}, TOKEN)
    out, err = _run([shell, "-c", parcel.command], parcel.head + b"input", {})
    assert (Cutter(parcel.marker).feed(out), Cutter(parcel.marker).feed(err)) == plain


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
    assert Cutter(parcel.marker).feed(out) == b"mine\n"


def _text(command: str) -> str:
    return command.replace("'", "")


def test_a_marker_in_pieces_is_found() -> None:
    cutter = Cutter(b"mark ")
    pieces = [b"noi", b"se ma", b"rk", b" 1", b"2\nbody", b" mark 3\n"]
    assert b"".join(cutter.feed(piece) for piece in pieces) == b"body mark 3\n"
    assert (bytes(cutter.noise), cutter.pid) == (b"noise ", 12)


def test_noise_without_end_is_given_up() -> None:
    cutter = Cutter(b"mark ")
    with pytest.raises(ValueError, match="without end"):
        cutter.feed(b"x" * (NOISE + 1))


def test_a_variable_with_an_impossible_name_is_refused() -> None:
    spec = SiteSpec(name="site", kind="shell", environment={"A B": "1"})
    with pytest.raises(BadRequest, match="A B"):
        transport_for(spec, Link(lambda _link: None))
