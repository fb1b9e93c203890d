"""The form side of the editor: the usual attributes as fields, kept in step with the text."""
