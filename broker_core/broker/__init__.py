"""The broker: the process, what it answers, and the parts that carry out what the scheduler decides."""
