"""Nouns and verbs of the command line: what a word that is none was meant to be, and help without types."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from broker_core.command_line.invocation import session
from broker_core.command_line.shielding import unshielded
from broker_core.errors import BadRequest

_MEANT = 3
"""Commands that are offered at most for one word."""
_SAME = (
    ("submit", "run", "sub", "send", "execute", "new", "create"),
    ("list", "ls", "ps", "all", "query"),
    ("status", "show", "stat", "info", "view", "state", "describe", "details"),
    ("top", "watch", "monitor"),
    ("log", "logs", "tail", "cat", "peek", "stdout", "stderr"),
    ("get-output", "output", "outputs", "results", "result", "fetch", "download", "get"),
    ("logging-info", "history", "events", "story"),
    ("cancel", "kill", "stop", "abort", "terminate", "rm", "del", "delete", "remove"),
    ("purge", "clean", "clear", "rm", "delete", "remove", "forget"),
    ("remove", "rm", "del", "delete", "forget", "purge"),
    ("resubmit", "rerun", "retry", "restart", "again"),
    ("release", "unhold"),
    ("hold", "pause", "suspend"),
    ("tag", "tags", "untag", "label", "annotate", "note", "comment", "mark"),
    ("resume", "undrain"),
    ("wait", "join"),
    ("exec", "shell"),
    ("attach", "connect", "console"),
    ("list-match", "match", "matches"),
    ("add", "new", "create", "register"),
    ("change", "edit", "set", "modify", "update", "configure"),
    ("choose", "set", "use", "select"),
    ("check", "validate", "lint", "verify"),
    ("eval", "evaluate"),
    ("start", "up", "launch"),
    ("stop", "down", "shutdown"),
)  # fmt: skip
"""Words for the same thing; a verb is offered for the others of its row."""
_OTHERS = {
    "submit": "qsub sbatch bsub condor_submit glite-wms-job-submit glite-ce-job-submit edg-job-submit arcsub",
    "submit --follow": "srun salloc qrsh",
    "list": "qstat squeue bjobs condor_q",
    "list --all": "sacct qacct bhist condor_history",
    "status": "glite-wms-job-status glite-ce-job-status edg-job-status arcstat",
    "cancel": "qdel scancel bkill condor_rm glite-wms-job-cancel glite-ce-job-cancel edg-job-cancel arckill",
    "hold": "qhold condor_hold bstop",
    "release": "qrls condor_release bresume",
    "list-match": "glite-wms-job-list-match edg-job-list-match",
    "logging-info": "glite-wms-job-logging-info edg-job-get-logging-info",
    "get-output": "glite-wms-job-output glite-ce-job-output edg-job-get-output arcget",
    "log": "condor_tail bpeek arccat",
}
"""Verb of `job`, with its option, to the commands of other systems that do the same."""
_FOREIGN = {word: verb for verb, words in _OTHERS.items() for word in words.split()}
_DESKTOP = frozenset({"desktop", "desk", "gui", "window", "ui", "open", "app"})
"""What the desktop is called; it opens without a word."""
_FOREIGN_SITES = frozenset({"sinfo", "qhost", "bhosts", "pbsnodes", "condor_status", "arcinfo"})


class UnknownCommand(BadRequest):
    """A word stands where a noun or verb belongs; the remedy is the line that was probably meant."""

    code = "usage"


class NounGroup(TyperGroup):
    """The commands of one noun, or all nouns; a near miss is answered with the whole line to type."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As the base class; raises UnknownCommand for a word that is no command."""
        if not ctx.resilient_parsing and args and not args[0].startswith("-"):
            word = unshielded(args[0])
            if self.get_command(ctx, word) is None:
                nouns = _nouns(ctx.find_root().command)
                noun = ctx.info_name if ctx.parent is not None else ""
                raise _unknown(nouns, noun, word, [unshielded(one) for one in args[1:]])
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with a word for each value."""
        return _named_values(super().get_params(ctx))


class Verb(TyperCommand):
    """A command whose help says what stands behind an option as people write it: nothing, N, TEXT."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with a word for each value."""
        return _named_values(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The line `Usage:`, with `FILE...` where the base class writes `{FILE}...`."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def _named_values(params: list[Any]) -> list[Any]:
    for one in params:
        if isinstance(one, TyperOption) and one.metavar is None:
            one.metavar = _value_word(one)
        elif isinstance(one, TyperArgument):
            # The name of an argument says what it is; its type is a word of the programming language.
            one.display_type_rich = lambda ctx: ""  # type: ignore[method-assign]
    return params


def _value_word(option: TyperOption) -> str:
    """What stands for the value of an option in the help."""
    described = option.type_descriptor
    if option.is_flag:
        return ""
    if described.is_choice:
        return str(option.name).upper() if described.is_list else "|".join(map(str, described.choices or ()))
    if described.is_path:
        return "DIR" if described.path_type == "dir" else "FILE"
    by_type = {"int": "N", "float": "SECONDS" if option.name == "timeout" else "NUMBER"}
    return by_type.get(option.bare_type(), "FILE" if "Path" in option.bare_type() else "TEXT")


def _nouns(root: TyperGroup) -> dict[str, TyperGroup]:
    return {name: one for name, one in root.commands.items() if isinstance(one, TyperGroup)}


def _unknown(nouns: Mapping[str, TyperGroup], noun: str, word: str, rest: Sequence[str]) -> UnknownCommand:
    here = f"{noun} {word}".strip()
    if not noun and rest and (close := _close(word, [*nouns])):
        lines = [_line(close, rest)]  # `crossdesk jbo list`
    else:
        lines = list(dict.fromkeys(_lines(nouns, noun, word, rest)))[:_MEANT]
    help_line = f"`crossdesk{f' {noun}' if noun else ''} --help` names all commands."
    meant = " or ".join(f"`{line}`" for line in lines)
    return UnknownCommand(
        f"There is no command {here!r}.", remedy=f"Did you mean {meant}?" if lines else help_line
    )


def _lines(nouns: Mapping[str, TyperGroup], noun: str, word: str, rest: Sequence[str]) -> Iterator[str]:
    """Whole command lines that may have been meant, the most likely one first."""
    lower = word.lower().replace("_", "-") if word not in _FOREIGN else word
    if lower in _FOREIGN:
        yield _foreign(nouns["job"], _FOREIGN[lower], rest)
        return
    if lower in _FOREIGN_SITES:
        yield _line("site list")
        return
    if not noun and lower in _DESKTOP and lower not in nouns:
        yield _line("")
        return
    singular = lower.removesuffix("s").replace("policie", "policy")
    if not noun and singular in nouns:  # `crossdesk jobs`
        yield _line(f"{singular} {rest[0] if rest else 'list'}", rest[1:])
        return
    if noun and singular in nouns and singular != noun:  # `crossdesk job sites`
        yield _line(f"{singular} list")
    order = [noun] if noun else [*nouns]
    found = False
    if not noun and lower not in nouns["job"].commands:  # `crossdesk stop`
        for name in (one for one in nouns if lower in nouns[one].commands):
            found = True
            yield _line(f"{name} {lower}", rest or _needed(nouns[name], lower))
    for name in [*order, *(one for one in nouns if one not in order)]:
        verbs = _meant_verbs(lower, [*nouns[name].commands])
        found = found or bool(verbs)
        yield from (_line(f"{name} {verb}", rest or _needed(nouns[name], verb)) for verb in verbs)
        if verbs and name in ("job", noun):
            return
    for name in () if found else order:
        if close := _close(lower, [*nouns[name].commands]):
            yield _line(f"{name} {close}", rest or _needed(nouns[name], close))


def _meant_verbs(word: str, verbs: Sequence[str]) -> list[str]:
    """Those of the verbs that are the word, or mean the same."""
    if word in verbs:
        return [word]
    rows = [row for row in _SAME if word in row]
    return list(dict.fromkeys(verb for row in rows for verb in row if verb in verbs))[:1]


def _close(word: str, known: Sequence[str]) -> str:
    return next(iter(get_close_matches(word.lower(), known, 1, 0.65)), "")


def _foreign(jobs: TyperGroup, verb: str, rest: Sequence[str]) -> str:
    """The line for a command of another system, without options: they mean other things there."""
    words = list(rest)
    if any(word.startswith("-") for word in rest):
        words = [word for word in rest if os.path.isfile(word)] if verb.startswith("submit") else []
    return _line(f"job {verb}", words or _needed(jobs, verb.partition(" ")[0]))


def _needed(noun: TyperGroup, verb: str) -> list[str]:
    """Words for what has to be named behind a verb."""
    return [
        one.display_name_raw.partition("...")[0]
        for one in noun.commands[verb].params
        if isinstance(one, TyperArgument) and one.required
    ]


def _line(command: str, rest: Sequence[str] = ()) -> str:
    state_dir = session().state_dir
    before = f" --state-dir {shlex.quote(str(state_dir))}" if state_dir else ""
    return " ".join([f"crossdesk{before}", *filter(None, (command, *map(shlex.quote, rest)))])
