"""What a file is that a user wants to run, and the description that runs it."""
