"""Words that tell a reader nothing, and British spellings, in names that the product defines itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module
from tests.architecture.names import defined_names

_BANNED = re.compile(r"(?:place[sd]?|placing|told|said|heard|kept|look(?:s|ed)?|wish(?:es)?|things?|deeds?)$")
"""Whole words of a name; `placement`, `placeholder` and `lookup` are other words."""
_ON_THE_WIRE = {
    "ErrorView.place", "JobDetail.queue_place", "WhyView.place", "SessionContact.places",
    "AttributeView.heard", "LinkView.heard", "SourceView.last_heard", "LogLine.words",
}  # fmt: skip
"""Fields that clients read: they stay until the second version of the API."""
_GEOMETRY = {"TerminalView._place_bar", "SourceView._place_gutter"}
"""What puts a widget at a point of its parent."""
_LOCATION = {"CrossDeskError.place", "CrossDeskError.__init__.place"}
"""Where an error is."""
_EXEMPT = _ON_THE_WIRE | _GEOMETRY | _LOCATION
_BRITISH = re.compile(
    r"(?:colours?|cancell(?:ed|ing|er|able)\w*|behaviours?|centres?|centred|grey\w*|favourites?|favours?"
    r"|neighbours?|honours?|labell\w*|modell\w*|travell\w*|signall\w*|catalogues?|dialogues?|licences?|defence"
    r"|artefacts?|judgements?|programmes?|metres?|organisations?|\w{3,}(?:ise|ised|ises|ising|isation)"
    r"|analyse[sd]?|ageing)$"
)
_AMERICAN_TOO = re.compile(
    r"(?:otherwise|exercise[sd]?|precise|concise|promise[sd]?|raise[sd]?|rais(?:ing)|advertise[sd]?|advise[sd]?|advising"
    r"|compromise[sd]?|noise|expertise|franchise|improvise|likewise|revise[sd]?|rise|rising|supervise[sd]?"
    r"|surprise[sd]?|wise|praise|disguise|enterprise|merchandise|premise|bitwise|pairwise|stepwise)$"
)
"""Words with -ise in America too."""


def banned_words(modules: Sequence[Module]) -> list[str]:
    return [
        f"{name.where} {name.owner}"
        for name in defined_names(modules)
        if name.owner not in _EXEMPT and any(map(_BANNED.match, name.parts()))
    ]


def british_spellings(modules: Sequence[Module]) -> list[str]:
    return [
        f"{name.where} {name.owner}" for name in defined_names(modules) if any(map(_is_british, name.parts()))
    ]


def _is_british(word: str) -> bool:
    return bool(_BRITISH.match(word)) and not _AMERICAN_TOO.match(word)


BANNED_WORDS = Measure(
    "banned_words", "own names with a word that tells nothing (place, told, kept, ...)", 0, banned_words
)
BRITISH = Measure(
    "british_spellings", "own names spelled in the British way (cancelled, colour, ...)", 0, british_spellings
)
