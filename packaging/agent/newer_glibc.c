/* Two functions that CPython of Debian 12 calls and glibc 2.28 has not. They are hidden, so that libraries of the
 * node go on to see those of the node. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define SECOND 1000000000L
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* glibc 2.34; where the kernel does not know it, CPython closes files one by one. */
HIDDEN int close_range(unsigned first, unsigned last, int flags) {
    return (int)syscall(SYS_close_range, first, last, flags);
}

/* glibc 2.30: waits until a time of any clock. The node's own where it has one; else the time that is left is
 * turned into one of the wall clock, as CPython does itself where it was built without this function. */
HIDDEN int sem_clockwait(sem_t *lock, clockid_t clock, const struct timespec *until) {
    int (*own)(sem_t *, clockid_t, const struct timespec *) = dlsym(RTLD_DEFAULT, "sem_clockwait");
    struct timespec now, wall;
    if (own)
        return own(lock, clock, until);
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    long long left = (until->tv_sec - now.tv_sec) * (long long)SECOND + until->tv_nsec - now.tv_nsec;
    left += wall.tv_nsec;
    wall.tv_sec += left >= 0 ? left / SECOND : -1;
    wall.tv_nsec = left >= 0 ? left % SECOND : 0;
    return sem_timedwait(lock, &wall);
}
