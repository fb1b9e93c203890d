"""Jobs: kinds, life cycle, events and records. Pure: time comes in with events."""
