"""The agent-shadow channel: relay, shadow, sessions and forwards (CB-IA)."""
