"""The checks of a description, one file for each subject."""
