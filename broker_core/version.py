"""The one place that holds the version of CrossDesk and of what it exchanges."""

VERSION = "0.2.0"
"""Release of the whole product (PEP 440)."""

API_VERSION = 1
"""Version of the HTTP interface, the `1` of `/v1/`."""

SCHEMA = 7
"""Schema number that every stored record carries."""
