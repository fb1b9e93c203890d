"""Shortages of this machine: they pass, and say nothing about a job or its site (reliability case 6)."""

from __future__ import annotations

import errno

_KINDS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


def is_shortage(error: BaseException | None) -> bool:
    """True for want of room, descriptors, processes or memory."""
    return isinstance(error, OSError) and error.errno in _KINDS
