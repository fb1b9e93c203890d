"""The launchers that an administrator has installed at the broker, each with a signature (CB-AL-20)."""

from __future__ import annotations

import re
from pathlib import Path

from broker_core.errors import BadRequest

SIGNERS = "allowed_signers"
"""File with the authorities that are trusted, as of ssh-keygen(1)."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_MOST = 1_000_000
"""Bytes of a launcher."""
_REMEDY = "Ask who looks after the broker, or leave ApplicationLauncher out."


class NoApplicationLauncher(BadRequest):
    """A launcher that a description names is not there, or nobody who is trusted has signed it."""

    code = "no_such_launcher"


class ApplicationLaunchers:
    """Files NAME.py with NAME.py.sig in one folder. Names are read once, signatures checked at each use."""

    def __init__(self, folder: str) -> None:
        """Empty: there are none."""
        self._folder = Path(folder)
        found = self._folder.glob("*.py") if folder else ()
        self.names = frozenset(one.stem for one in found if _NAME.fullmatch(one.stem))
        """Of those that are installed, signed or not."""

    def source(self, name: str) -> bytes:
        """The text of a launcher whose signature holds; raises NoApplicationLauncher."""
        if name not in self.names:
            raise NoApplicationLauncher(f"This broker has no application launcher {name}.", remedy=_REMEDY)
        try:
            with (self._folder / f"{name}.py").open("rb") as file:
                text = file.read(_MOST + 1)
            signers = (self._folder / SIGNERS).read_text()
            signature = (self._folder / f"{name}.py.sig").read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise NoApplicationLauncher(
                f"The application launcher {name} has no signature that can be checked: {reason}.",
                place=str(getattr(error, "filename", None) or self._folder),
                remedy=_REMEDY,
            ) from error
        from broker_core.launching.launcher_signatures import holds  # loads asyncssh, which takes long

        if len(text) > _MOST or not holds(text, signature, name, signers):
            raise NoApplicationLauncher(
                f"The application launcher {name} is not signed by an authority that this broker trusts.",
                place=str(self._folder / f"{name}.py.sig"),
                remedy=_REMEDY,
            )
        return text


NONE_OF_OWN = ApplicationLaunchers("")
"""Of a broker without any."""
