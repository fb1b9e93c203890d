"""Whether a server's key may be trusted: known, new and asked about, or changed and asked about loudly."""

from __future__ import annotations

from collections.abc import Callable

import asyncssh

from broker_core.sites.link import Question, QuestionKind
from broker_core.sites.transport.questions import AnswerStore
from broker_core.sites.transport.ssh_settings import SshSettings


class HostCheck:
    """Judges the key that one server shows, should the files of known hosts not have it."""

    def __init__(self, settings: SshSettings, answers: AnswerStore, tell: Callable[[str], None]) -> None:
        """`tell` takes a line for the link's log."""
        self.question: Question | None = None
        """What the user has to say first."""
        self.trouble = ""
        """Why the key is not trusted."""
        self._settings, self._answers, self._tell = settings, answers, tell

    def trusts(self, key: asyncssh.SSHKey) -> bool:
        """True where the user said so, and the key is kept. For a changed key they say its fingerprint."""
        if self._settings.known.keys:
            return self._trusts_changed(key)
        about = f"trust {self._settings.known.name} {key.get_fingerprint()}"
        given = self._answers.value(about)
        if given is None:
            self.question = self._answers.question(
                QuestionKind.TRUST_HOST, about, self._new_text(key), secret=False
            )
            return False
        if given.strip().lower() == "yes" or _same(given, key):
            self._keep(key, self._settings.hosts.add)
            return True
        return self._decline(key)

    def _trusts_changed(self, key: asyncssh.SSHKey) -> bool:
        about = f"changed {self._settings.known.name} {key.get_fingerprint()}"
        given = self._answers.value(about)
        if given is not None and _same(given, key):
            self._keep(key, self._settings.hosts.replace)
            return True
        if given == "":
            return self._decline(key)
        if given is not None:
            self._answers.refuse(about)
        self.question = self._answers.question(
            QuestionKind.CHANGED_HOST, about, self._changed_text(key), secret=False
        )
        return False

    def _decline(self, key: asyncssh.SSHKey) -> bool:
        host = self._settings.target.host
        self.trouble = f"The key {key.get_fingerprint()} of {host} is not trusted: you declined it."
        return False

    def _keep(self, key: asyncssh.SSHKey, write: Callable[[str, asyncssh.SSHKey], None]) -> None:
        name, file = self._settings.known.name, self._settings.hosts.own
        try:
            write(name, key)
        except OSError as error:
            self._tell(f"the key is trusted, but cannot be kept in {file}: {error.strerror}")
            return
        self._tell(f"the key {key.get_fingerprint()} of {name} is kept in {file}")

    def _new_text(self, key: asyncssh.SSHKey) -> str:
        return (
            f"{self._settings.target.place} is not known yet. Its {_kind(key)} key has the fingerprint"
            f" {key.get_fingerprint()}. Compare it with what the site publishes. Trust it?"
        )

    def _changed_text(self, key: asyncssh.SSHKey) -> str:
        old = ", ".join(f"{one.get_fingerprint()} ({_kind(one)})" for one in self._settings.known.keys)
        return (
            f"THE KEY OF {self._settings.target.place} HAS CHANGED. Somebody may be listening in, or the"
            f" server was set up anew: ask the site before you go on. Known is {old}; shown is"
            f" {key.get_fingerprint()} ({_kind(key)}). To trust the new key, type its fingerprint as the site"
            f" told it."
        )


def _kind(key: asyncssh.SSHKey) -> str:
    return key.get_algorithm().removeprefix("ssh-").upper()


def _same(given: str, key: asyncssh.SSHKey) -> bool:
    """The `SHA256:` may be left out; all else must be the same."""
    return given.strip().removeprefix("SHA256:") == key.get_fingerprint().removeprefix("SHA256:")
