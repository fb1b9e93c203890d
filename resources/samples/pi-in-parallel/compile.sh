# Sourced once, before the processes start: mpicc is that of the MPI that will start them.
mpicc -O2 -o pi pi.c -lm
