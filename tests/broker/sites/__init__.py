"""A broker with real sites: Slurm behind SSH, and sites that do not answer."""
