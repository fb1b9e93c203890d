"""From a script for a batch system (Slurm, PBS, Grid Engine, LSF, HTCondor) to a job description."""
