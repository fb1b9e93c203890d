"""What programs of jobs publish with: for Python, C and scripts."""
