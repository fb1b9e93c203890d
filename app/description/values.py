"""Between what a form field holds and how it is written in a description."""

from __future__ import annotations

from app.description.lexical import LexicalToken, words

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "'": "'"}


def string_source(value: str) -> str:
    """`value` written as a string literal."""
    return '"' + "".join(_ESCAPES.get(char, char) for char in value) + '"'


def list_source(values: list[str]) -> str:
    """`values` written as a list of strings, on one line if it is short."""
    items = [string_source(value) for value in values]
    line = "{" + ", ".join(items) + "}"
    return line if len(line) <= 72 or len(items) < 2 else "{\n    " + ",\n    ".join(items) + "\n}"


def string_of(source: str) -> str | None:
    """The string that `source` writes, or None if it is not one plain string."""
    found = list(words(source))
    if len(found) == 1 and found[0].kind == "string" and _closed(found[0]):
        return _unescaped(found[0].text[1:-1])
    return None


def strings_of(source: str) -> list[str] | None:
    """The strings of a list (or of one string alone), or None if `source` is anything else."""
    single = string_of(source)
    if single is not None:
        return [single]
    found = [word for word in words(source) if word.kind != "comment"]
    if len(found) < 2 or found[0].text != "{" or found[-1].text != "}":
        return None
    inner = [word for word in found[1:-1] if word.text != ","]
    if all(word.kind == "string" and _closed(word) for word in inner):
        return [_unescaped(word.text[1:-1]) for word in inner]
    return None


def integer_of(source: str) -> int | None:
    """The whole number that `source` writes, or None."""
    text = source.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def truth_of(source: str) -> bool | None:
    """True or False as written, or None."""
    return {"true": True, "false": False}.get(source.strip().lower())


def _closed(word: LexicalToken) -> bool:
    return not word.open and word.text.startswith('"')


def _unescaped(text: str) -> str:
    out: list[str] = []
    chars = iter(text)
    for char in chars:
        if char != "\\":
            out.append(char)
            continue
        after = next(chars, "")
        out.append(_UNESCAPES.get(after, "\\" + after))
    return "".join(out)
