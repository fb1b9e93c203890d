"""The Scheduling Agent as a reactor: events in, effects out. Pure."""
