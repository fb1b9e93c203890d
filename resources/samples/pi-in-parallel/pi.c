/* The area below 4 / (1 + x * x) from 0 to 1 is pi. Each process adds up every n-th of the strips. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    long strips = count > 1 ? atol(words[1]) : 1000000;
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    double part = 0, pi = 0, began;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    began = MPI_Wtime();
    for (long i = rank; i < strips; i += size) {
        double x = (i + 0.5) / strips;
        part += 4 / (1 + x * x) / strips;
    }
    printf("Process %d of %d on %s has %.10f.\n", rank, size, host, part);
    fflush(stdout);
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("Together: %.10f after %.2f s.\n", pi, MPI_Wtime() - began);
    MPI_Finalize();
    return rank == 0 && fabs(pi - 3.1415926536) > 1e-9;
}
