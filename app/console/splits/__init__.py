"""Parts of a console side by side."""
