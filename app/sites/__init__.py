"""Sites: cards with their state, the wizard that adds one, questions about credentials."""
