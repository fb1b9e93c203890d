"""Whatever entries say, joining them gives facts that the cache can take, or remarks; never an accident."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.information.glue.entries import KINDS, Entries
from broker_core.information.glue.join import joined
from broker_core.information.ldap.address import address_of
from broker_core.information.ldap.names import DETAILS, LINKS
from broker_core.information.ldap.services import listing
from broker_core.jdl.glue.attributes import GLUE

_NAMES = sorted({name for names in (*DETAILS.values(), *LINKS.values()) for name in names})
_SAME = st.sampled_from([b"a", b"b", b"ce.example.org:2119/jobmanager-pbs-q", b"GlueClusterUniqueID=a"])
_VALUES = st.one_of(
    _SAME,
    st.sampled_from(
        [b"ldap://[bad", b"ldap://h:99999/x", b"https://h:8443/x", b"TRUE", b"-1", b"1e400", b""]
    ),
    st.binary(max_size=12),
    st.integers(-5, 20).map(lambda number: str(number).encode()),
)
_ENTRY = st.tuples(
    st.tuples(st.sampled_from(sorted(KINDS)), st.one_of(_SAME, st.binary(max_size=6))).map(
        lambda parts: parts[0].encode() + b"=" + parts[1] + b",Mds-Vo-name=x,o=grid"
    ),
    st.dictionaries(
        st.sampled_from(_NAMES).map(str.encode), st.lists(_VALUES, max_size=3), min_size=1, max_size=12
    ),
)
_TYPES = {"integer": (int, float), "boolean": (bool,), "string": (str,), "strings": (list,)}
_ALSO_LISTS = {"GLUE2ApplicationEnvironmentAppName"}
_NUMBERS = {"GlueSiteLatitude", "GlueSiteLongitude"}


@settings(max_examples=150)
@given(st.lists(_ENTRY, max_size=14))
def test_any_entries_give_facts_of_the_right_types_or_remarks(
    given_entries: list[tuple[bytes, dict[bytes, list[bytes]]]],
) -> None:
    entries = Entries()
    for name, values in given_entries:
        entries.add(name, values)
    facts = joined(entries)
    assert len({one.ce for one in facts}) == len(facts)
    for one in facts:
        assert one.site
        for name, value in one.attributes.items():
            known = GLUE.get(name.lower())
            if known is not None and name not in _ALSO_LISTS | _NUMBERS:
                assert isinstance(value, _TYPES[known.type]), (name, value)
    listing(entries, address_of("ldap://127.0.0.1:1"))


@given(free=st.integers(0, 100), total=st.integers(0, 100))
def test_no_more_is_free_than_there_is(free: int, total: int) -> None:
    entries = Entries()
    ce = b"ce.example.org:2119/jobmanager-pbs-q"
    said = {b"GlueCEInfoTotalCPUs": [str(total).encode()], b"GlueCEStateFreeCPUs": [str(free).encode()]}
    entries.add(b"GlueCEUniqueID=x,o=grid", {b"GlueCEUniqueID": [ce], **said})
    (one,) = joined(entries)
    assert ("GlueCEStateFreeCPUs" in one.attributes) is (free <= total)
    assert entries.remarks.count == (free > total)
