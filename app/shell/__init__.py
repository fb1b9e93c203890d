"""The main window and what frames the views."""
