"""Batch systems behind a shell: Slurm, Grid Engine, PBS, LSF, HTCondor, and hosts without one."""
