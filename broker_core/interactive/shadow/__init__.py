"""The shadow: the desk's end of an interactive job (CB-IA-01)."""
