"""The user's keyring, asked in a thread of its own: it may block until somebody unlocks it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

SERVICE = "crossdesk"
"""Name under which the entries stand in the keyring."""
_PLAIN = ("fail", "null", "PlaintextKeyring", "EncryptedKeyring")
T = TypeVar("T")
PATIENCE = 30.0
"""Seconds for whoever unlocks it; then it is as good as none, for this question."""


class KeyringAccess:
    """Reads and writes entries of the service `crossdesk`; says once why there is no keyring."""

    def __init__(self) -> None:
        self._why: str | None = None

    async def missing(self) -> str:
        """Why no answer can be kept, in one sentence; empty: it can."""
        if self._why is None:
            self._why = await in_background(_missing)
        return self._why

    async def read(self, name: str) -> str:
        """Return the kept answer; empty if there is none, no keyring, or one that nobody unlocks."""
        if await self.missing():
            return ""
        try:
            async with asyncio.timeout(PATIENCE):
                return await in_background(lambda: _read(name))
        except TimeoutError:
            return ""

    async def write(self, name: str, value: str) -> str:
        """Keep an answer; returns why it could not be kept, empty if it was."""
        try:
            if missing := await self.missing():
                return missing
            async with asyncio.timeout(PATIENCE):
                return await in_background(lambda: _write(name, value))
        except TimeoutError:
            return "It could not be kept in the keyring, which nobody unlocked."

    async def forget(self, name: str) -> None:
        """Remove an answer, if there is one."""
        if not await self.missing():
            await in_background(lambda: _forget(name))


async def in_background(work: Callable[[], T]) -> T:
    """Run something that may block for ever in a thread of its own, which holds up no exit."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(value: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        try:
            value, error = work(), None
        except Exception as problem:  # noqa: BLE001 - handed over to who waits
            value, error = None, problem
        try:
            loop.call_soon_threadsafe(finish, value, error)
        except RuntimeError:
            return  # the loop is closed: nobody waits

    threading.Thread(target=run, name="keyring", daemon=True).start()
    return await done


def _missing() -> str:
    import keyring

    try:
        backend = keyring.get_keyring()
        parts = getattr(backend, "backends", None) or [backend]
    except Exception as error:  # noqa: BLE001 - a broken keyring is as good as none, and said so
        return f"The keyring cannot be used ({error}), so this is asked each time."
    if all(_stores_plainly(one) for one in parts):
        return "There is no keyring here that keeps secrets safely, so this is asked each time."
    return ""


def _stores_plainly(backend: object) -> bool:
    kind = type(backend)
    return kind.__module__.rpartition(".")[2] in _PLAIN or kind.__name__ in _PLAIN


def _read(name: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(SERVICE, name) or ""
    except KeyringError:
        return ""  # locked and not opened: the user is asked instead


def _write(name: str, value: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, name, value)
    except KeyringError as error:
        return f"It could not be kept in the keyring: {error}."
    return ""


def _forget(name: str) -> None:
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        keyring.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return  # there was none
    except KeyringError as error:
        raise OSError(f"the keyring does not let go of it: {error}") from error
