"""Jobs that wait: how they come in, in which order, where they go, and what they are told."""
