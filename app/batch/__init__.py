"""The page of a batch: how it goes, why jobs failed, and what came out for each value."""
