"""Commands for what is beside the program of a job: pages that it serves, parameters that it has."""
