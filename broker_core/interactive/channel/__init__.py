"""What both ends of the agent-shadow channel share: frames, rendezvous, liveness (CB-IA)."""
