"""The View tab: what programs publish, drawn while they run and after their end."""
