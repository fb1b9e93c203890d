"""What matching needs of the world: its context, the locality of data, and policies that were plugged in."""
