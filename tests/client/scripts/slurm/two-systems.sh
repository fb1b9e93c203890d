#!/bin/bash
#SBATCH --job-name=both
#SBATCH --time=20
#PBS -N both
./work
