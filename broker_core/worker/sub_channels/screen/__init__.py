"""The private screen of a job at its node: the server, what it shows, and input for it."""
