"""The scheduler view: the queue with its reasons, the policy, the decisions."""
