"""What is shipped to worker nodes; imports nothing of the rest."""
