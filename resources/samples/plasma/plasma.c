/* A plasma of electrons and ions in a round device, seen along its magnetic field.
 *
 *     plasma DEVICE STEPS
 *
 * The first process is the master: it moves the particles, draws them in a window of its own, and publishes what
 * it measures. The others, the workers, compute for their share of the particles what all the others do to them.
 * Magnetic field and temperature are parameters that desks change while it runs; a click pushes what is near it.
 */
#include "crossdesk_publish.h"
#include "window.h"
#include <mpi.h>
#include <time.h>

#define MOST 4000  /* particles */
#define FRAMES 30  /* a second */
#define TURNS 2    /* steps of a frame */
#define STEP 0.01  /* of time */
#define DRAG 1.0   /* how fast particles come to the temperature of the device */
#define PUSH 1.5   /* speed that a click gives */
#define BINS 40
#define SIDE 32
#define GROUND 0x101820
#define WALL 0x5A7088
#define ELECTRON 0x4FC3F7
#define ION 0xFFB74D

struct device {
    double electrons, ions, mass, coupling, field, temperature, seed;
};

struct plasma {
    int count, electrons;
    double mass[MOST], charge[MOST];
    double place[2 * MOST + 1], speed[2 * MOST], force[2 * MOST];
};

static struct plasma all;
static double coupling;
static int rank, size;

/* Numbers from 0 to 1, the same on every machine. */
static double chance(void)
{
    static unsigned long long state = 88172645463325252ULL;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - chance())) * cos(6.283185307179586 * chance());
}

/* Wait without keeping a processor busy: there may be more processes than processors. */
static void await(MPI_Request *what)
{
    struct timespec pause = {0, 100000};
    for (int done = 0;;) {
        MPI_Test(what, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

/* Lines of a name and a number; # begins a remark. */
static int read_device(const char *path, struct device *into)
{
    const char *names[] = {"electrons", "ions", "mass", "coupling", "field", "temperature", "seed"};
    double *values = &into->electrons, value;
    char line[200], name[40];
    FILE *from = fopen(path, "r");
    if (from == NULL)
        return 0;
    while (fgets(line, sizeof line, from) != NULL)
        if (sscanf(line, "%39s %lf", name, &value) == 2)
            for (int one = 0; one < 7; one++)
                if (strcmp(name, names[one]) == 0)
                    values[one] = value;
    fclose(from);
    return into->electrons >= 1 && into->ions >= 1 && into->electrons + into->ions <= MOST && into->mass > 0;
}

static void fill(const struct device *by)
{
    all.electrons = (int)by->electrons;
    all.count = all.electrons + (int)by->ions;
    for (int burn = 0; burn < 100 + (int)by->seed; burn++)
        chance();
    for (int one = 0; one < all.count; one++) {
        double away = 0.9 * sqrt(chance()), turn = 6.283185307179586 * chance();
        all.mass[one] = one < all.electrons ? 1 : by->mass;
        all.charge[one] = one < all.electrons ? -1 : 1;
        for (int axis = 0; axis < 2; axis++) {
            all.place[2 * one + axis] = away * (axis ? sin(turn) : cos(turn));
            all.speed[2 * one + axis] = sqrt(by->temperature / all.mass[one]) * normal();
        }
    }
}

/* First and last particle of a worker; the master has none, unless it is alone. */
static int first_of(int worker)
{
    if (size == 1)
        return worker > 0 ? all.count : 0;
    return worker < 1 ? 0 : (int)((long)all.count * (worker - 1) / (size - 1));
}

/* What all others do to particles `from` to `to`: in a plane the force falls with the distance. */
static void compute(int from, int to, double *force)
{
    for (int one = from; one < to; one++) {
        double x = all.place[2 * one], y = all.place[2 * one + 1], right = 0, up = 0;
        for (int other = 0; other < all.count; other++) {
            double across = x - all.place[2 * other], along = y - all.place[2 * other + 1];
            double by = all.charge[other] / (across * across + along * along + 4e-4);
            right += by * across;
            up += by * along;
        }
        force[2 * (one - from)] = coupling * all.charge[one] * right;
        force[2 * (one - from) + 1] = coupling * all.charge[one] * up;
    }
}

/* One exchange with the workers: places out, forces back. With `go` 0 it is the last one. */
static int exchange(int go)
{
    static double mine[2 * MOST];
    static int sizes[1024], starts[1024];
    MPI_Request sent, gathered;
    int from, to;
    all.place[2 * all.count] = go;
    MPI_Ibcast(all.place, 2 * all.count + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &sent);
    await(&sent);
    if (all.place[2 * all.count] == 0)
        return 0;
    from = first_of(rank);
    to = rank == 0 && size > 1 ? 0 : first_of(rank + 1);
    compute(from, to, mine);
    for (int one = 0; one < size; one++) {
        starts[one] = 2 * first_of(one);
        sizes[one] = one == 0 && size > 1 ? 0 : 2 * first_of(one + 1) - starts[one];
    }
    MPI_Igatherv(mine, 2 * (to - from), MPI_DOUBLE, all.force, sizes, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD, &gathered);
    await(&gathered);
    return 1;
}

/* Half a push by forces, a turn around the field, the other half (Boris), with drag and chance of a bath. */
static void move(double field, double temperature)
{
    for (int one = 0; one < all.count; one++) {
        double *at = all.place + 2 * one, *v = all.speed + 2 * one, m = all.mass[one];
        double push[2] = {all.force[2 * one] * STEP / (2 * m), all.force[2 * one + 1] * STEP / (2 * m)};
        double t = all.charge[one] * field * STEP / (2 * m), s = 2 * t / (1 + t * t), x, y, away;
        double kick = sqrt(2 * DRAG * temperature * STEP / m);
        v[0] += push[0], v[1] += push[1];
        x = v[0] + t * v[1], y = v[1] - t * v[0];
        v[0] += s * y + push[0], v[1] -= s * x - push[1];
        v[0] += kick * normal() - DRAG * STEP * v[0];
        v[1] += kick * normal() - DRAG * STEP * v[1];
        at[0] += v[0] * STEP, at[1] += v[1] * STEP;
        if ((away = hypot(at[0], at[1])) > 1) { /* the wall throws it back */
            double out = (v[0] * at[0] + v[1] * at[1]) / away;
            for (int axis = 0; axis < 2; axis++) {
                v[axis] -= out > 0 ? 2 * out * at[axis] / away : 0;
                at[axis] /= away;
            }
        }
    }
}

static int across(const struct window *on)
{
    return (on->width < on->height ? on->width : on->height) - 20;
}

static void draw(struct window *on)
{
    static int16_t boxes[MOST][4];
    int wide = across(on), middle[2] = {on->width / 2, on->height / 2};
    int16_t whole[1][4] = {{0, 0, (int16_t)on->width, (int16_t)on->height}};
    if (on->line < 0)
        return;
    for (int one = 0; one < all.count; one++) {
        int side = one < all.electrons ? 3 : 5;
        for (int axis = 0; axis < 2; axis++) {
            double place = all.place[2 * one + axis] * (axis ? -1 : 1);
            boxes[one][axis] = (int16_t)(middle[axis] + place * wide / 2 - side / 2);
            boxes[one][2 + axis] = (int16_t)side;
        }
    }
    window_color(on, GROUND);
    window_boxes(on, (const int16_t(*)[4])whole, 1);
    window_color(on, WALL);
    window_circle(on, middle[0] - wide / 2 - 4, middle[1] - wide / 2 - 4, wide + 8);
    window_color(on, ION);
    window_boxes(on, (const int16_t(*)[4])boxes + all.electrons, (size_t)(all.count - all.electrons));
    window_color(on, ELECTRON);
    window_boxes(on, (const int16_t(*)[4])boxes, (size_t)all.electrons);
    window_show(on);
}

/* A click pushes particles away. */
static void push(struct window *on)
{
    int x, y;
    while (window_pressed(on, &x, &y)) {
        double at[2] = {2.0 * (x - on->width / 2) / across(on), -2.0 * (y - on->height / 2) / across(on)};
        for (int one = 0; one < all.count; one++) {
            double right = all.place[2 * one] - at[0], up = all.place[2 * one + 1] - at[1];
            double away = hypot(right, up);
            if (away > 0 && away < 0.35) {
                all.speed[2 * one] += PUSH * right / away;
                all.speed[2 * one + 1] += PUSH * up / away;
            }
        }
    }
}

/* Mean energy of the motion of particles `from` to `to`: by how much it differs from the temperature is chance. */
static double energy(int from, int to)
{
    double sum = 0;
    for (int one = from; one < to; one++)
        sum += all.mass[one] * (all.speed[2 * one] * all.speed[2 * one] + all.speed[2 * one + 1] * all.speed[2 * one + 1]);
    return sum / 2 / (to - from);
}

/* How many electrons have which speed, and where how much charge is. */
static void publish_arrays(double temperature)
{
    static float speeds[BINS], charge[SIDE][SIDE];
    size_t bins[] = {BINS}, sides[] = {SIDE, SIDE};
    double fastest = 4 * sqrt(temperature);
    memset(speeds, 0, sizeof speeds);
    memset(charge, 0, sizeof charge);
    for (int one = 0; one < all.count; one++) {
        double *at = all.place + 2 * one, *v = all.speed + 2 * one;
        int bin = (int)(hypot(v[0], v[1]) / fastest * BINS);
        int column = (int)((at[0] + 1) / 2 * (SIDE - 1) + 0.5), row = (int)((1 - at[1]) / 2 * (SIDE - 1) + 0.5);
        if (one < all.electrons && bin < BINS)
            speeds[bin]++;
        charge[row][column] += (float)all.charge[one];
    }
    crossdesk_array("speeds of electrons", "f4", speeds, 1, bins);
    crossdesk_array("charge", "f4", charge, 2, sides);
}

static void publish(int frame, int frames, double temperature, FILE *table)
{
    double light = energy(0, all.electrons), heavy = energy(all.electrons, all.count);
    char told[80];
    crossdesk_series(frame, "energy of electrons", light);
    crossdesk_series(frame, "energy of ions", heavy);
    if (frame % 15 == 0) {
        publish_arrays(temperature);
        sprintf(told, "picture %d of %d", frame, frames);
        crossdesk_progress((double)frame / frames, told);
    }
    if (table != NULL)
        fprintf(table, "%d,%.5f,%.5f\n", frame, light, heavy);
}

/* Wait for the time of the next frame. */
static void pace(struct timespec *due)
{
    struct timespec now;
    due->tv_nsec += 1000000000L / FRAMES;
    if (due->tv_nsec >= 1000000000L)
        due->tv_nsec -= 1000000000L, due->tv_sec++;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > due->tv_sec || (now.tv_sec == due->tv_sec && now.tv_nsec > due->tv_nsec))
        *due = now; /* late: what was missed is not caught up */
    else
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

static void lead(const struct device *by, int frames)
{
    struct window on;
    struct timespec due;
    FILE *table = fopen("energies.csv", "w");
    if (table != NULL)
        fprintf(table, "picture,electrons,ions\n");
    printf("%d electrons and %d ions, %d workers\n", all.electrons, all.count - all.electrons, size - 1);
    if (!window_open(&on, GROUND))
        printf("There is no display here: nothing is drawn, and the rest goes on.\n");
    fflush(stdout);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int frame = 1; frame <= frames; frame++) {
        double field = crossdesk_parameter("magnetic field", by->field, 0, 20, "");
        double temperature = crossdesk_parameter("temperature", by->temperature, 0.05, 4, "");
        for (int turn = 0; turn < TURNS; turn++) {
            exchange(1);
            move(field, temperature);
        }
        push(&on);
        draw(&on);
        if (frame % 3 == 0 || frame == frames)
            publish(frame, frames, temperature, table);
        pace(&due);
    }
    exchange(0);
    window_close(&on);
    if (table != NULL)
        fclose(table);
    printf("energies.csv written\n");
}

int main(int count, char **words)
{
    struct device by = {0, 0, 25, 0.02, 6, 0.5, 1};
    int frames = count > 2 ? atoi(words[2]) : 3000;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (count < 2 || !read_device(words[1], &by) || size > 1023) {
        if (rank == 0)
            fprintf(stderr, "plasma: the device cannot be read: its file has electrons, ions and mass.\n");
        MPI_Finalize();
        return 1;
    }
    coupling = by.coupling;
    fill(&by);
    if (rank == 0)
        lead(&by, frames);
    else
        while (exchange(1))
            ;
    MPI_Finalize();
    return 0;
}
