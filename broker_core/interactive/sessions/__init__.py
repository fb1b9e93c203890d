"""Sessions of interactive jobs on the broker's side: desks, keys, relayed lines."""
