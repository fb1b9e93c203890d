/* Computes pi in all processes together, passes the edges of their cells around the ring, and says how many took
   part, and how many programs started them: one on each host.

   ranks [exit RANK CODE | kill RANK | wait FILE]

   Exit status 0 if all results are right. */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 1000000
#define CELLS 1000

static double part_of_pi(int rank, int size)
{
    double sum = 0;
    for (int i = rank; i < STEPS; i += size) {
        double x = (i + 0.5) / STEPS;
        sum += 4 / (1 + x * x);
    }
    return sum / STEPS;
}

/* Halo exchange: 1 if a border is not the edge of its neighbor. */
static int halo_is_wrong(int rank, int size)
{
    double line[CELLS + 2];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 1; i <= CELLS; i++)
        line[i] = (double)rank * CELLS + i;
    MPI_Sendrecv(&line[CELLS], 1, MPI_DOUBLE, right, 1, &line[0], 1, MPI_DOUBLE, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&line[1], 1, MPI_DOUBLE, left, 2, &line[CELLS + 1], 1, MPI_DOUBLE, right, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return line[0] != (double)left * CELLS + CELLS || line[CELLS + 1] != (double)right * CELLS + 1;
}

int main(int count, char **words)
{
    int rank, size, ranks = 0, wrong;
    double mine, pi = 0;
    char *given = getenv("GIVEN");
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = part_of_pi(rank, size);
    MPI_Allreduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong = halo_is_wrong(rank, size) || fabs(pi - 3.14159265) > 1e-6 || ranks != size * (size - 1) / 2;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int *launchers = malloc(size * sizeof(int)), launcher = getppid(), different = 0;
    MPI_Allgather(&launcher, 1, MPI_INT, launchers, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= launchers[j] == launchers[i];
        different += !seen;
    }
    if (rank == size - 1) {
        printf("%d ranks of %d launchers, pi %.6f, halo %s, given %s\n", size, different, pi,
               wrong ? "wrong" : "right", given ? given : "-");
        fflush(stdout);
    }
    if (count == 4 && !strcmp(words[1], "exit")) {
        MPI_Finalize();
        return rank == atoi(words[2]) ? atoi(words[3]) : 0;
    }
    if (count == 3 && !strcmp(words[1], "kill") && rank == atoi(words[2]))
        raise(SIGKILL);
    if (count == 3 && !strcmp(words[1], "wait"))
        while (access(words[2], F_OK))
            usleep(50000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
