# Sourced once, before the processes start: mpicc is that of the MPI that will start them.
mpicc -O3 -I"$CROSSDESK_PUBLISH" -o plasma plasma.c -lm
