"""Names that the Job Starter and who runs it agree on (CB-JS-03)."""

from __future__ import annotations

BLOCK = 512
"""Bytes in a unit of `__file_limit`."""
MARK = "CROSSDESK_ATTEMPT"
"""Variable that every process of an attempt has in its environment, with the attempt's tag."""
