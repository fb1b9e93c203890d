"""The sites view: how each site stands, adding one, its questions, and what can be done with it."""
