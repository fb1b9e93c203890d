"""The state of a terminal without its widget: libghostty, frames, keys and searching."""
