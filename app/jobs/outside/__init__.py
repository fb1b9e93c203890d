"""Jobs that were submitted outside CrossDesk: their part of the jobs table."""
