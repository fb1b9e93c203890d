"""Questions of sites on the command line: from the keyring, from the user, and never twice for one answer."""

from __future__ import annotations

import io
from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from broker_core.command_line.invocation import begin
from broker_core.command_line.questions import Asker
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.wire.sites import QuestionAnswer, QuestionView

LOCKED = QuestionView(id="p-0", kind="passphrase", text="Passphrase of id_ed25519?", keep_as="key id_ed25519")
AGAIN = LOCKED.model_copy(update={"id": "p-1"})
TRUST = QuestionView(id="t", kind="trust-host", text="Its key is SHA256:abc. Trust it?", secret=False)
CHANGED = TRUST.model_copy(update={"kind": "changed-host"})


class InMemory(KeyringBackend):
    """A keyring in memory; a desktop's own cannot be had without a desktop."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Sent:
    """What a broker would get."""

    def __init__(self) -> None:
        self.values: list[str] = []

    async def __call__(self, answer: QuestionAnswer) -> None:
        self.values.append(answer.value)


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = keyring.get_keyring()
    begin([])
    typed(monkeypatch, "")
    yield
    keyring.set_keyring(before)


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


async def test_a_kept_answer_is_used_once_then_the_user_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = InMemory()
    ring.set_password("crossdesk", LOCKED.keep_as, "kept")
    keyring.set_keyring(ring)
    asker, sent = Asker(), Sent()
    await asker.answer(LOCKED, sent)
    typed(monkeypatch, "typed\n")
    await asker.answer(AGAIN, sent)
    assert sent.values == ["kept", "typed"]
    assert ring.kept == {("crossdesk", LOCKED.keep_as): "kept"}


class Terminal(io.StringIO):
    """Standard input that is a terminal."""

    def isatty(self) -> bool:
        return True


async def test_only_an_answer_that_was_right_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = InMemory()
    keyring.set_keyring(ring)
    typed_hidden = iter(["a slip", "open sesame"])
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(typed_hidden))
    offers: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text, **_: offers.append(text) or True)
    asker, sent = Asker(), Sent()
    await asker.answer(LOCKED, sent)
    await asker.answer(AGAIN, sent)
    assert (sent.values, ring.kept, offers) == (["a slip", "open sesame"], {}, [])
    await asker.accepted()
    assert ring.kept == {("crossdesk", LOCKED.keep_as): "open sesame"}
    assert offers == ["Keep the passphrase in the keyring?"]


async def test_without_a_keyring_it_is_said_why_and_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keyring.set_keyring(NoKeyring())  # type: ignore[no-untyped-call]
    typed(monkeypatch, "open sesame\n")
    asker, sent = Asker(), Sent()
    await asker.answer(LOCKED, sent)
    asker.another()
    await asker.answer(LOCKED, sent)
    assert sent.values == ["open sesame", "open sesame"]
    said = capsys.readouterr()
    assert "no keyring" in said.err
    assert "open sesame" not in said.out + said.err


async def test_a_code_is_asked_for_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring.set_keyring(NoKeyring())  # type: ignore[no-untyped-call]
    typed(monkeypatch, "111\n222\n")
    asker, sent = Asker(), Sent()
    for number in "12":
        await asker.answer(QuestionView(id=number, kind="code", text="Code?"), sent)
    assert sent.values == ["111", "222"]


async def test_a_host_key_is_trusted_by_yes_or_by_its_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent()
    await Asker("SHA256:abc").answer(TRUST, sent)
    await Asker("SHA256:abc").answer(CHANGED, sent)
    typed(monkeypatch, "yes\n")
    await Asker("SHA256:other").answer(TRUST, sent)
    assert sent.values == ["SHA256:abc", "SHA256:abc", "yes"]
    typed(monkeypatch, "no\n")
    with pytest.raises(CrossDeskError, match="not answered"):
        await Asker().answer(TRUST, sent)
    assert sent.values[-1] == ""


async def test_with_nobody_to_ask_that_is_said() -> None:
    with pytest.raises(BadRequest, match="nobody"):
        await Asker().answer(TRUST, Sent())


async def test_a_slip_at_the_question_for_a_host_is_asked_about_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed(monkeypatch, "y\nYES\n")
    sent = Sent()
    await Asker().answer(TRUST, sent)
    assert sent.values == ["yes"]
    typed(monkeypatch, "ja\nno\n")
    with pytest.raises(CrossDeskError, match="not answered"):
        await Asker().answer(TRUST, sent)
    assert sent.values == ["yes", ""]


async def test_who_never_says_yes_or_no_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "y\n" * 100)
    sent = Sent()
    with pytest.raises(CrossDeskError, match="not answered"):
        await Asker().answer(TRUST, sent)
    assert sent.values == [""]
