"""Input and output sandbox: names, duplicates, sizes (section 4.2, CB-UAM-08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.names import (
    from_base,
    has_wildcard,
    input_name,
    is_fetched,
    local,
    scheme,
    wrong_address,
    wrong_name,
    wrong_output,
)
from broker_core.jdl.reading import FileFact, Reading
from broker_core.jdl.syntax.tokens import quoted
from broker_core.jdl.syntax.tree import Expression, Literal


@dataclass(slots=True)
class Sandbox:
    """The entries of one sandbox."""

    entries: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    names: dict[str, Expression] = field(default_factory=dict)
    """Name of an input at the site, or path of an output, to the place of its entry."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Base name of an input here to its name at the site, where that is another."""
    interpreter: str = ""
    """Command that has to run the program, which is among the inputs and cannot run by itself."""

    def brings(self, name: str) -> bool:
        """True if a file of this name is, or by a wildcard may be, in the sandbox."""
        if name in self.names:
            return True
        return any(has_wildcard(pattern) and fnmatchcase(name, pattern) for pattern in self.names)


def inputs(reading: Reading) -> Sandbox:
    """InputSandbox: what is sent along."""
    sandbox = Sandbox()
    entries = reading.strings("inputsandbox")
    remote = set()
    _commas(reading, "inputsandbox")
    entries = [(from_base(text, reading.string("inputsandboxbaseuri")), place) for text, place in entries]
    for text, place in entries:
        protocol = scheme(text)
        if is_fetched(text):
            if wrong := wrong_address(text):
                reading.error("address-form", wrong, "inputsandbox", place)
        elif protocol and protocol != "file":
            remote.add(f"transfer:{protocol}")
        _wrong_input(reading, input_name(text) if is_fetched(text) else local(text), place)
    _names_at_the_site(reading, sandbox, [(local(text), place) for text, place in entries])
    sandbox.entries = tuple(local(text) for text, _ in entries)
    sandbox.needs = tuple(sorted(remote))
    if reading.files is not None:
        _found(reading, sandbox, entries, reading.files)
    return sandbox


def outputs(reading: Reading) -> Sandbox:
    """OutputSandbox: what is brought back."""
    sandbox = Sandbox()
    entries = reading.strings("outputsandbox")
    _commas(reading, "outputsandbox")
    for text, place in entries:
        if wrong := wrong_output(text.removesuffix("/") or text):
            reading.error(*wrong, "outputsandbox", place)
        else:
            _add_output(reading, sandbox, text, place)
    sandbox.entries = tuple(text for text, _ in entries)
    if reading.has("outputsandboxdesturi") or reading.has("outputsandboxbasedesturi"):
        sandbox.needs = _destinations(reading)
    return sandbox


def _commas(reading: Reading, key: str) -> None:
    """One string with commas was probably meant to be several."""
    node = reading.node(key)
    if not isinstance(node, Literal) or not isinstance(node.value, str) or ", " not in node.value:
        return
    parts = [part.strip() for part in node.value.split(",") if part.strip()]
    fix = Fix("Make it a list", node.start, node.end, f"{{{', '.join(map(quoted, parts))}}}")
    name = reading.ad.entries[key].name
    reading.hint("commas-in-name", f"{name} names one file here, with commas in its name.", key, None, [fix])


def _destinations(reading: Reading) -> tuple[str, ...]:
    keys = ("outputsandboxdesturi", "outputsandboxbasedesturi")
    addresses = [text for key in keys for text, _ in reading.strings(key)]
    return tuple(sorted({f"transfer:{scheme(text) or 'unknown'}" for text in addresses}))


def _wrong_input(reading: Reading, text: str, place: Expression, key: str = "inputsandbox") -> None:
    if wrong := wrong_name(text):
        reading.error(*wrong, key, place)


def _names_at_the_site(reading: Reading, sandbox: Sandbox, entries: list[tuple[str, Expression]]) -> None:
    """Each file keeps its base name unless InputSandboxDestFileName gives it another."""
    given = reading.strings("inputsandboxdestfilename")
    fits = len(given) == len(entries)
    for number, (text, place) in enumerate(entries):
        own = name = input_name(text)
        if fits:
            name = _new_name(reading, *given[number])
            sandbox.renamed |= {own: name} if name != own else {}
        if name in sandbox.names:
            message = f"Two files are called {name}; all arrive in one folder, so rename one of them."
            reading.error("duplicate-sandbox-name", message, "inputsandbox", place)
        else:
            sandbox.names[name] = place


def _new_name(reading: Reading, name: str, place: Expression) -> str:
    key = "inputsandboxdestfilename"
    _wrong_input(reading, name, place, key)
    if "/" in name:
        message = f"{name!r} has a folder in it; all files arrive in one folder, so leave it out."
        reading.error("path-escapes", message, key, place)
    return name


def _add_output(reading: Reading, sandbox: Sandbox, text: str, place: Expression) -> None:
    """Outputs keep their folders when they are fetched, so only the same path twice is a mistake."""
    if text in sandbox.names:
        reading.error(
            "duplicate-sandbox-name", f"{text} is listed twice; leave out one.", "outputsandbox", place
        )
    else:
        sandbox.names[text] = place


def _found(
    reading: Reading,
    sandbox: Sandbox,
    entries: list[tuple[str, Expression]],
    files: Mapping[str, FileFact],
) -> None:
    size, limits = 0, reading.limits
    for text, place in entries:
        fact = files.get(text) or files.get(local(text))
        if fact is not None:
            size += fact.size
            if fact.interpreter:
                sandbox.interpreter = fact.interpreter
            if not fact.readable:
                reading.error("sandbox-file-unreadable", f"{text} cannot be read.", "inputsandbox", place)
        elif scheme(text) in ("", "file"):
            message = f"There is no file {text}; it is looked for next to the description."
            reading.error("sandbox-file-missing", message, "inputsandbox", place)
    if size > limits.input_sandbox_max:
        message = (
            f"The input sandbox has {size:,} bytes; at most {limits.input_sandbox_max:,} are accepted. "
            "Fetch larger data from storage during the run."
        )
        reading.error("sandbox-too-big", message, "inputsandbox")
