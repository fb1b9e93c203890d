"""Everything about the selected job, in tabs."""
