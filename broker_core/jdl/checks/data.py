"""Files in grid storage, and addresses of other machines (conventions of gLite and CREAM)."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.jdl.names import has_wildcard, is_fetched, scheme
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Ad, Expression, ListOf

_ASKED = ("http", "https", "ldap", "ldaps")
_LOGICAL = ("lfn:", "guid:", "si-lfn:", "si-guid:")
_ADDRESSES = ("inputsandboxbaseuri", "outputsandboxbasedesturi", "outputsandboxdesturi")


def check(reading: Reading) -> None:
    """Complain about data attributes that cannot be understood; tell that nothing of them is sent."""
    if reading.has("inputdata") or reading.has("datarequirements"):
        _input(reading)
    for key, inside in (
        ("datarequirements", ("InputData", "DataCatalogType")),
        ("outputdata", ("OutputFile",)),
    ):
        _ads(reading, key, inside)
    for key in _ADDRESSES:
        _addresses(reading, key)
    _destinations(reading)
    for text, place in reading.strings("usercontact"):
        if text.count("@") != 1 or text[0] == "@" or text[-1] == "@":
            message = f"{text!r} is no mail address; write it as name@host."
            reading.error("contact-form", message, "usercontact", place)


def _input(reading: Reading) -> None:
    key = "inputdata" if reading.has("inputdata") else "datarequirements"
    if reading.limits.dialect != "crossdesk":
        if not reading.has("dataaccessprotocol"):
            message = f"{reading.ad.entries[key].name} needs DataAccessProtocol: how the job reads its data."
            reading.error("protocol-missing", message, key)
        for text, place in reading.strings("inputdata"):
            if not text.lower().startswith(_LOGICAL):
                message = f"{text!r} must begin with one of {', '.join(_LOGICAL)}."
                reading.error("input-data-form", message, "inputdata", place)
    message = (
        f"The files of {reading.ad.entries[key].name} are not sent along: the job is placed near them and"
        " reads them itself. List local files in InputSandbox."
    )
    reading.hint("data-not-sent", message, key)
    for name, node in _catalogs(reading):
        _catalog(reading, name, node)


def _catalogs(reading: Reading) -> Iterator[tuple[str, Expression]]:
    """The addresses of ReplicaCatalog, and of DataCatalog in the ads of DataRequirements."""
    ads = reading.node("datarequirements")
    inner = [Reading(one, reading.findings) for one in getattr(ads, "items", ()) if isinstance(one, Ad)]
    for one, key in ((reading, "replicacatalog"), *((one, "datacatalog") for one in inner)):
        node = one.node(key)
        if node is not None:
            yield one.string(key), node


def _catalog(reading: Reading, address: str, node: Expression) -> None:
    allowed = reading.limits.catalogs
    if scheme(address) not in _ASKED:
        why = f"only addresses with {', '.join(_ASKED)} can be"
    elif allowed is not None and address not in allowed:
        why = "this broker asks those alone that its settings list ([replicas] described)"
    else:
        return
    message = (
        f"The catalogue {address} is not asked: {why}. The broker asks that of its own settings instead."
    )
    key = "replicacatalog" if node is reading.node("replicacatalog") else "datarequirements"
    reading.warning("catalogue-not-asked", message, key, node)


def _ads(reading: Reading, key: str, inside: tuple[str, ...]) -> None:
    node = reading.node(key)
    for item in node.items if isinstance(node, ListOf) else ():
        missing = [name for name in inside if isinstance(item, Ad) and item.get(name) is None]
        if missing:
            message = f"Each ad of {reading.ad.entries[key].name} needs {' and '.join(missing)}."
            reading.error("data-ad", message, key, item)
        name = Reading(item, reading.findings).string("logicalfilename") if isinstance(item, Ad) else ""
        if name and not name.lower().startswith("lfn:"):
            reading.error("data-ad", f"LogicalFileName {name!r} must begin with lfn:.", key, item)


def _addresses(reading: Reading, key: str) -> None:
    for text, place in reading.strings(key):
        if not scheme(text):
            message = f"{text!r} is no address; write it as protocol://host/folder."
            reading.error("address-form", message, key, place)


def _destinations(reading: Reading) -> None:
    """One address for each output, and one name for each input."""
    for key, of in (("outputsandboxdesturi", "outputsandbox"), ("inputsandboxdestfilename", "inputsandbox")):
        given, files = reading.strings(key), reading.strings(of)
        if not reading.has(key) or not reading.has(of):
            continue
        name, whole = reading.ad.entries[key].name, reading.ad.entries[of].name
        if len(given) != len(files):
            message = f"{name} has {len(given)} items for {len(files)} of {whole}; give one for each."
            reading.error("items-differ", message, key)
        elif any(has_wildcard(text) and not is_fetched(text) for text, _ in files):
            message = f"{name} cannot be used with wildcards in {whole}; list the files one by one."
            reading.error("items-differ", message, key)
