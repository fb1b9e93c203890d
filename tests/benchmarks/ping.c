/* How long messages from the first rank to the last one take, one way: of 1 KiB, and how fast 4 MiB are.

   Prints the median of the first in microseconds, and megabytes a second of the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 1024
#define LARGE (4 << 20)
#define TIMES 2000
#define BURSTS 20

static int rising(const void *one, const void *two)
{
    double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

/* Seconds of one message there and back. */
static double there_and_back(char *buffer, int size, int rank, int last)
{
    double begin = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(buffer, size, MPI_CHAR, last, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, size, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Recv(buffer, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

int main(int count, char **words)
{
    int rank, size;
    static double times[TIMES];
    double begin;
    char *buffer = malloc(LARGE), end = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(buffer, 1, LARGE);
    for (int i = 0; i < 100; i++)
        there_and_back(buffer, SMALL, rank, size - 1);
    for (int i = 0; i < TIMES; i++)
        times[i] = there_and_back(buffer, SMALL, rank, size - 1) / 2;
    begin = MPI_Wtime();
    for (int i = 0; i < BURSTS; i++) {
        if (rank == 0)
            MPI_Send(buffer, LARGE, MPI_CHAR, size - 1, 2, MPI_COMM_WORLD);
        else if (rank == size - 1)
            MPI_Recv(buffer, LARGE, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == size - 1)
        MPI_Send(&end, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&end, 1, MPI_CHAR, size - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin = MPI_Wtime() - begin;
        qsort(times, TIMES, sizeof(double), rising);
        printf("%.2f %.2f\n", times[TIMES / 2] * 1e6, (double)BURSTS * LARGE / begin / 1e6);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
