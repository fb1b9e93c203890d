"""The broker's sites: added, changed, drained, removed, and the work that is done at each."""
