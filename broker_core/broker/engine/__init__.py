"""The engine: records what the scheduler decides, carries it out, and streams what became durable."""
