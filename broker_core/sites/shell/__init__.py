"""Sites that are used through a shell: one adapter for every batch system and transport."""
