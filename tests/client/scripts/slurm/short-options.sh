#!/bin/bash
#SBATCH -J mini -p short -t 0:30:00
#SBATCH -n 1 -c 4
#SBATCH -o %x-%j.out -e %x-%j.err
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
./threads
