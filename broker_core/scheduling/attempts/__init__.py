"""The attempts of jobs at sites: what sites report of them, and what follows."""
