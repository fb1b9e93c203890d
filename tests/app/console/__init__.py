"""The console pane."""
