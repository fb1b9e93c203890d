"""Identity boxing: a program and its children in one directory, without rights on the node (CB-SEC)."""
