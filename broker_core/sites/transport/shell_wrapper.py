"""How a script travels through whatever login shell an account has, and how noise is cut from its output.

The login shell gets one command of plain words and quotes that mean the same to sh, csh, fish and their kin:
inside single quotes only what none of them looks at, and outside of them what all of them take off. Each line
of the script is one word, since csh allows no newline inside quotes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

IN_COMMAND = 24 * 1024
"""Bytes of a script that go into the command itself; longer ones, or not in ASCII, go before the input."""
LONGEST_WORD = 8000
"""Bytes of one word of a command, with its quotes: Debian's own csh takes 8,186 (tcsh any number)."""
MOST_WORDS = 900
"""Words of the script in one command: Debian's own csh gives at most 996 to a program (tcsh any number)."""
NOISE = 2**20
"""Bytes before the marker that are looked through; more is no login message."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN = re.compile(r"[\t\n -~]*\Z")
_SPELLED = {"'": "'\"'\"'", "!": "'\\!'", "\\": "'\\\\'"}
"""Characters that no two shells treat alike inside single quotes."""
_SPECIAL = re.compile(r"['!\\]")
_MARK = "m={first}; echo ${{m}}{second} $$; echo ${{m}}{second} $$ >&2; "
# IFS begins as space, tab and newline, so what is left of it is a newline, for which there is no other word.
_SHORT = """exec /bin/sh -c '{mark}n=${{IFS#??}}; s=; for l; do s=$s$l$n; done; eval "$s"' sh {words}"""
_LONG = (
    "exec /bin/sh -c '{mark}"
    'eval "$(dd bs={size} count=1 iflag=fullblock 2>/dev/null || dd bs=1 count={size} 2>/dev/null)"\' sh'
)
_TIDY = "shift $#; unset l m n s"


@dataclass(frozen=True, slots=True)
class WrappedScript:
    """A script made ready for a login shell."""

    command: str
    head: bytes
    """What stdin begins with, before the caller's input."""
    marker: bytes
    """Begins the line that stdout and stderr have before the script's own output; the shell's pid ends it."""


def wrap(script: str, environment: Mapping[str, str], token: str) -> WrappedScript:
    """Make a script ready; raises ValueError for a byte 0.

    `token`: letters and digits that nobody can guess. The names in `environment` are variables.
    """
    text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
    content = f"{_TIDY}\n{text}{script}\n"
    if "\0" in content:
        raise ValueError("A shell script cannot hold the byte 0.")
    # In two parts, so that a shell which echoes the command itself does not show the marker.
    half = len(token) // 2
    mark = _MARK.format(first=token[:half], second=token[half:])
    marker = f"{token} ".encode()
    words = _words(content)
    if words is not None:
        return WrappedScript(_SHORT.format(mark=mark, words=" ".join(words)), b"", marker)
    head = content.encode()
    return WrappedScript(_LONG.format(mark=mark, size=len(head)), head, marker)


def _words(content: str) -> list[str] | None:
    """The lines of a script as words of a command; None where not every login shell would take them."""
    if len(content) > IN_COMMAND or not _PLAIN.match(content):
        return None
    words = [_word(line) for line in content.split("\n")]
    if len(words) > MOST_WORDS or max(map(len, words)) > LONGEST_WORD:
        return None
    return words


def _word(line: str) -> str:
    return "'" + _SPECIAL.sub(lambda found: _SPELLED[found[0]], line) + "'"


def is_variable(name: str) -> bool:
    """True for what a shell takes as the name of a variable."""
    return _NAME.match(name) is not None


class OutputFilter:
    """Lets through what follows the marker in one stream."""

    def __init__(self, marker: bytes) -> None:
        self._marker = marker
        self.noise = bytearray()
        """What came before the marker; all of it while the marker did not come."""
        self.begun = False
        """The marker was seen: the script runs."""
        self.pid: int | None = None
        """Of the script's shell, at the site."""

    def feed(self, data: bytes) -> bytes:
        """The part of the next piece that is the script's; raises ValueError when there is only noise."""
        if self.begun:
            return data
        self.noise += data
        at = self.noise.find(self._marker)
        end = self.noise.find(b"\n", at) if at >= 0 else -1
        if end < 0:
            if len(self.noise) > NOISE:
                raise ValueError("The account's login shell prints without end.")
            return b""
        self.begun = True
        self.pid = int(self.noise[at + len(self._marker) : end])
        rest = bytes(self.noise[end + 1 :])
        del self.noise[at:]
        return rest
