"""The description editor: text and form side by side, checked while typing (CB-UI-04)."""
