"""Live snapshots of what the broker holds; views render them."""
