"""Commands that behave as the manuals of PBS, LSF and HTCondor say, where the real ones cannot be had.

They keep their state in a folder and really run the jobs, but they are not the real thing: tests with them
test against our reading of the manuals.
"""
