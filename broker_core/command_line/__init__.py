"""The noun-verb command line. Never imports Qt."""
