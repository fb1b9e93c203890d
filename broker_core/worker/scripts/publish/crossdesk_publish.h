/* Publish what a running job has, which desks show live, and let them change it. C99, C++11.
 *
 *     #include "crossdesk_publish.h"       cc -I"$CROSSDESK_PUBLISH" ...
 *
 *     crossdesk_series(step, "energy", 0.31);
 *     size_t shape[] = {64, 64};
 *     crossdesk_array("field", "f8", field, 2, shape);
 *     crossdesk_progress(0.4, "step 4 of 10");
 *
 * Each of these returns 0, or -1 where nothing was published: outside of a job, at the limit, with a full disk; the program
 * goes on. Each call is one write at the end of the file that CROSSDESK_DATA names, so that threads and processes of
 * one node may publish at once.
 *
 * Values that desks may change while the program runs are in crossdesk_parameters.h, which is included here.
 */
#ifndef CROSSDESK_PUBLISH_H
#define CROSSDESK_PUBLISH_H

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __GNUC__
#define CROSSDESK_MAY_BE_UNUSED __attribute__((unused))
#else
#define CROSSDESK_MAY_BE_UNUSED
#endif

/* Bytes that a job may publish. */
#define CROSSDESK_MOST (1LL << 30)
/* Bytes of a name or text that are published. */
#define CROSSDESK_TEXT 200

/* Append one record: a line of JSON and the bytes that follow it. */
CROSSDESK_MAY_BE_UNUSED static int crossdesk_record(const char *line, const void *payload, size_t size)
{
    static int stopped = 0;
    const char *path = getenv("CROSSDESK_DATA");
    struct iovec parts[2];
    struct stat found;
    struct rlimit files;
    long long most = CROSSDESK_MOST;
    size_t length = strlen(line);
    ssize_t written = -1;
    int handle;
    if (stopped || path == NULL || *path == 0)
        return -1;
    handle = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    /* A file that grew to the limit of files would end the program. */
    if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY && (long long)files.rlim_cur < most)
        most = (long long)files.rlim_cur;
    if (handle >= 0 && fstat(handle, &found) == 0 && (long long)found.st_size + (long long)(length + size) <= most) {
        parts[0].iov_base = (void *)line;
        parts[0].iov_len = length;
        parts[1].iov_base = (void *)payload;
        parts[1].iov_len = size;
        do
            written = writev(handle, parts, size > 0 ? 2 : 1);
        while (written < 0 && errno == EINTR);
    }
    if (handle >= 0)
        close(handle);
    if (written >= 0 && (size_t)written == length + size)
        return 0;
    stopped = 1;
    return -1;
}

/* Write `text` as a string of JSON; `into` has room for 6 * CROSSDESK_TEXT + 3 bytes. */
CROSSDESK_MAY_BE_UNUSED static void crossdesk_quote(const char *text, char *into)
{
    size_t count;
    *into++ = '"';
    for (count = 0; text[count] != 0 && count < CROSSDESK_TEXT; count++) {
        unsigned char one = (unsigned char)text[count];
        if (one < 0x20 || one == '"' || one == '\\')
            into += sprintf(into, "\\u%04x", one);
        else
            *into++ = (char)one;
    }
    *into++ = '"';
    *into = 0;
}

/* Write a number of JSON, whatever the locale; `into` has room for 40 bytes. */
CROSSDESK_MAY_BE_UNUSED static void crossdesk_number(double value, char *into)
{
    char *comma;
    if (isnan(value)) {
        strcpy(into, "NaN");
    } else if (isinf(value)) {
        strcpy(into, value > 0 ? "Infinity" : "-Infinity");
    } else {
        sprintf(into, "%.17g", value);
        if ((comma = strchr(into, ',')) != NULL)
            *comma = '.';
    }
}

/* Read a number with a point, whatever the locale. */
CROSSDESK_MAY_BE_UNUSED static double crossdesk_read_number(const char *text, char **end)
{
    char copy[60] = "", shown[8], *stop, *point;
    double value;
    strncat(copy, text, sizeof copy - 1);
    sprintf(shown, "%.1f", 0.5);
    if ((point = strchr(copy, '.')) != NULL)
        *point = shown[1];
    value = strtod(copy, &stop);
    if (end != NULL)
        *end = (char *)text + (stop - copy);
    return value;
}

/* Add a point to the curve `name`. */
CROSSDESK_MAY_BE_UNUSED static int crossdesk_series(double x, const char *name, double value)
{
    char line[6 * CROSSDESK_TEXT + 200], quoted[6 * CROSSDESK_TEXT + 3], at[40], number[40];
    crossdesk_quote(name, quoted);
    crossdesk_number(x, at);
    crossdesk_number(value, number);
    sprintf(line, "{\"series\":{%s:%s},\"x\":%s}\n", quoted, number, at);
    return crossdesk_record(line, NULL, 0);
}

/* Publish an array of one to three dimensions in the order of C. `type`: f4, f8, u1, i4 and the like. */
CROSSDESK_MAY_BE_UNUSED static int
crossdesk_array(const char *name, const char *type, const void *values, int dimensions, const size_t *shape)
{
    char line[6 * CROSSDESK_TEXT + 300], quoted[6 * CROSSDESK_TEXT + 3], extent[100] = "";
    const unsigned short one = 1;
    char order = *(const unsigned char *)&one == 1 ? '<' : '>';
    size_t size = (size_t)atoi(type + 1);
    int axis;
    if (dimensions < 1 || dimensions > 3 || strlen(type) != 2)
        return -1;
    for (axis = 0; axis < dimensions; axis++) {
        sprintf(extent + strlen(extent), axis ? ",%zu" : "%zu", shape[axis]);
        size *= shape[axis];
    }
    crossdesk_quote(name, quoted);
    sprintf(line, "{\"array\":%s,\"shape\":[%s],\"type\":\"%c%s\",\"bytes\":%zu}\n", quoted, extent, order, type, size);
    return crossdesk_record(line, values, size);
}

/* Tell how far the program is, 0 to 1, and what it does. */
CROSSDESK_MAY_BE_UNUSED static int crossdesk_progress(double share, const char *text)
{
    char line[6 * CROSSDESK_TEXT + 200], quoted[6 * CROSSDESK_TEXT + 3], number[40];
    crossdesk_quote(text, quoted);
    crossdesk_number(share, number);
    sprintf(line, "{\"progress\":%s,\"text\":%s}\n", number, quoted);
    return crossdesk_record(line, NULL, 0);
}

#include "crossdesk_parameters.h"

#endif
