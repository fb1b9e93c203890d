"""The C++ ClassAd library with all its functions, also those of the batch system that it comes from."""

from __future__ import annotations

import classad2

__all__ = ["classad2"]

list(classad2.parseAds("known = 1"))
"""The first ads that it reads make it register those."""
