"""What an agent tells desks beside the program, each over a channel of its own."""
