"""The text of a job description without its editor: words, statements, values, edits and files."""
