"""Starts plain programs without a shell, and writes the records that `job_starter.sh` would."""
