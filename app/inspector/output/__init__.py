"""The Output tab: files of a job and their previews."""
