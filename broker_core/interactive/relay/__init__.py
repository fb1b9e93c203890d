"""The relay: forwards bytes between agents and desks, and holds no key (CB-GCB)."""
