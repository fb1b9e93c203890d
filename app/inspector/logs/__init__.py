"""The Logs tab: output of a running or ended job, searched and followed."""
