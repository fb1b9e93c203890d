"""The page of virtual slots."""
