"""PSI/J on top of CrossDesk."""
