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
 *     double rate = crossdesk_parameter("learning rate", 0.1, 0.001, 1, "1/s");
 *     long long size = crossdesk_integer("size", 3, 1, 10, "");
 *     int paused = crossdesk_switch("paused", 0);
 *     const char *solver = crossdesk_choice("solver", "cg", "cg|gmres");
 *     const char *title = crossdesk_text("title", "first");
 *
 * Each returns the value to use now: the one given, until a desk changes it. Call them in the loop, from one
 * thread; the first call declares the parameter, and so does one with another range. -INFINITY and INFINITY are
 * no limits. A text is valid until the next call. Outside of a job the values are those given.
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
/* Parameters of a program, bytes of a name and of all choices. */
#define CROSSDESK_PARAMETERS_MOST 64
#define CROSSDESK_NAME 80
#define CROSSDESK_CHOICES 1000

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

/* One parameter, with the value that is in use. */
struct crossdesk_value {
    char type; /* n, i, s, c or t */
    char name[CROSSDESK_NAME + 1], unit[CROSSDESK_NAME + 1], choices[CROSSDESK_CHOICES + 1];
    char text[CROSSDESK_TEXT + 1];
    double minimum, maximum;
    long long change;
};

CROSSDESK_MAY_BE_UNUSED static struct crossdesk_value *crossdesk_values(int **count)
{
    static struct crossdesk_value all[CROSSDESK_PARAMETERS_MOST];
    static int known = 0;
    *count = &known;
    return all;
}

/* Whether `text` is one of the choices. */
CROSSDESK_MAY_BE_UNUSED static int crossdesk_chosen(const char *choices, const char *text)
{
    size_t length = strlen(text);
    const char *at = choices;
    while (length > 0 && (at = strstr(at, text)) != NULL) {
        if ((at == choices || at[-1] == '|') && (at[length] == 0 || at[length] == '|'))
            return strchr(text, '|') == NULL;
        at++;
    }
    return 0;
}

/* Whether `text` is a value of a parameter. */
CROSSDESK_MAY_BE_UNUSED static int crossdesk_fits(const struct crossdesk_value *of, const char *text)
{
    char *end = NULL;
    double value;
    if (strlen(text) > CROSSDESK_TEXT)
        return 0;
    if (of->type == 's')
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    if (of->type == 'c')
        return crossdesk_chosen(of->choices, text);
    if (of->type == 't')
        return 1;
    if (of->type == 'i') {
        errno = 0;
        value = (double)strtoll(text, &end, 10);
        if (errno != 0 || fabs(value) > 9007199254740992.0)
            return 0;
    } else {
        value = crossdesk_read_number(text, &end);
    }
    return end != text && *end == 0 && isfinite(value) && value >= of->minimum && value <= of->maximum;
}

/* Write the value of a parameter as JSON. */
CROSSDESK_MAY_BE_UNUSED static void crossdesk_json(const struct crossdesk_value *of, char *into)
{
    if (of->type == 'c' || of->type == 't')
        crossdesk_quote(of->text, into);
    else if (of->type == 'n')
        crossdesk_number(crossdesk_read_number(of->text, NULL), into);
    else if (of->type == 'i')
        sprintf(into, "%lld", strtoll(of->text, NULL, 10));
    else
        strcpy(into, of->text);
}

/* Tell desks of a parameter. */
CROSSDESK_MAY_BE_UNUSED static void crossdesk_declare(const struct crossdesk_value *of)
{
    static const char *const types[] = {"number", "integer", "switch", "choice", "text"};
    static const char letters[] = "nisct";
    char line[16 * CROSSDESK_TEXT + 8 * CROSSDESK_CHOICES], quoted[6 * CROSSDESK_TEXT + 3], limit[40];
    char one[CROSSDESK_TEXT + 1];
    const char *at = of->choices;
    crossdesk_quote(of->name, quoted);
    sprintf(line, "{\"parameter\":%s,\"type\":\"%s\"", quoted, types[strchr(letters, of->type) - letters]);
    crossdesk_json(of, quoted);
    sprintf(line + strlen(line), ",\"value\":%s", quoted);
    crossdesk_quote(of->unit, quoted);
    sprintf(line + strlen(line), ",\"unit\":%s", quoted);
    if (isfinite(of->minimum)) {
        crossdesk_number(of->minimum, limit);
        sprintf(line + strlen(line), ",\"minimum\":%s", limit);
    }
    if (isfinite(of->maximum)) {
        crossdesk_number(of->maximum, limit);
        sprintf(line + strlen(line), ",\"maximum\":%s", limit);
    }
    strcat(line, ",\"choices\":[");
    while (*at != 0) {
        size_t length = strcspn(at, "|");
        sprintf(one, "%.*s", (int)(length < CROSSDESK_TEXT ? length : CROSSDESK_TEXT), at);
        crossdesk_quote(one, quoted);
        sprintf(line + strlen(line), at == of->choices ? "%s" : ",%s", quoted);
        at += at[length] == '|' ? length + 1 : length;
    }
    strcat(line, "]}\n");
    crossdesk_record(line, NULL, 0);
}

/* Take a change over, if it is a value of the parameter, and say so. */
CROSSDESK_MAY_BE_UNUSED static void
crossdesk_take(struct crossdesk_value *of, long long change, const char *by, const char *text)
{
    char line[20 * CROSSDESK_TEXT], quoted[6 * CROSSDESK_TEXT + 3], desk[6 * CROSSDESK_TEXT + 3];
    int fits = crossdesk_fits(of, text);
    of->change = change;
    if (fits)
        strcpy(of->text, text);
    crossdesk_quote(of->name, quoted);
    crossdesk_quote(by, desk);
    sprintf(line, "{\"parameter\":%s,\"change\":%lld,\"by\":%s,", quoted, change, desk);
    crossdesk_json(of, quoted);
    if (fits)
        sprintf(line + strlen(line), "\"value\":%s}\n", quoted);
    else
        strcat(line, "\"refused\":\"It is no value that the program takes.\"}\n");
    crossdesk_record(line, NULL, 0);
}

/* Read the file with the changes, if it is another one, or if `again`. */
CROSSDESK_MAY_BE_UNUSED static void crossdesk_read_changes(int again)
{
    static ino_t file = 0;
    static struct timespec written = {0, 0};
    const char *path = getenv("CROSSDESK_PARAMETERS");
    char line[CROSSDESK_NAME * 2 + CROSSDESK_TEXT + 40], *parts[4], *at;
    struct crossdesk_value *all;
    struct stat found;
    FILE *from;
    int *count, one, part;
    if (path == NULL || stat(path, &found) != 0 ||
        (!again && found.st_ino == file && found.st_mtim.tv_sec == written.tv_sec &&
         found.st_mtim.tv_nsec == written.tv_nsec) ||
        (from = fopen(path, "re")) == NULL)
        return;
    file = found.st_ino;
    written = found.st_mtim;
    all = crossdesk_values(&count);
    while (fgets(line, sizeof line, from) != NULL) {
        line[strcspn(line, "\n")] = 0;
        for (part = 0, at = line; part < 4 && at != NULL; part++) {
            parts[part] = at;
            if ((at = strchr(at, '\t')) != NULL)
                *at++ = 0;
        }
        for (one = 0; part == 4 && at == NULL && one < *count; one++)
            if (strcmp(all[one].name, parts[2]) == 0 && strtoll(parts[0], NULL, 10) > all[one].change)
                crossdesk_take(&all[one], strtoll(parts[0], NULL, 10), parts[1], parts[3]);
    }
    fclose(from);
}

/* The parameter as it is now; declared if it is new or has another range. NULL: it cannot be one. */
CROSSDESK_MAY_BE_UNUSED static const struct crossdesk_value *crossdesk_steered(const struct crossdesk_value *wanted)
{
    int *count, one;
    struct crossdesk_value *all = crossdesk_values(&count), *known;
    for (one = 0; one < *count && strcmp(all[one].name, wanted->name) != 0; one++)
        ;
    if (one == CROSSDESK_PARAMETERS_MOST || wanted->name[0] == 0 || !crossdesk_fits(wanted, wanted->text))
        return NULL;
    known = &all[one];
    if (one == *count || known->type != wanted->type || known->minimum != wanted->minimum ||
        known->maximum != wanted->maximum || strcmp(known->choices, wanted->choices) != 0) {
        struct crossdesk_value former = *known;
        *known = *wanted;
        if (one < *count && former.change != 0) {
            known->change = former.change;
            if (former.type == wanted->type && crossdesk_fits(wanted, former.text))
                strcpy(known->text, former.text);
        }
        *count += one == *count;
        crossdesk_declare(known);
        crossdesk_read_changes(1);
    } else {
        crossdesk_read_changes(0);
    }
    return known;
}

/* What is wanted of a parameter, in a form to compare; names and texts that are too long are cut off. */
CROSSDESK_MAY_BE_UNUSED static struct crossdesk_value
crossdesk_wanted(char type, const char *name, const char *text, const char *unit, const char *choices)
{
    struct crossdesk_value made;
    memset(&made, 0, sizeof made);
    made.type = type;
    made.minimum = -INFINITY;
    made.maximum = INFINITY;
    strncat(made.name, name, CROSSDESK_NAME);
    strncat(made.text, text, CROSSDESK_TEXT);
    strncat(made.unit, unit, CROSSDESK_NAME);
    strncat(made.choices, choices, CROSSDESK_CHOICES);
    return made;
}

/* A number that desks may change. */
CROSSDESK_MAY_BE_UNUSED static double
crossdesk_parameter(const char *name, double value, double minimum, double maximum, const char *unit)
{
    char text[40];
    struct crossdesk_value wanted;
    const struct crossdesk_value *now;
    crossdesk_number(value, text);
    wanted = crossdesk_wanted('n', name, text, unit, "");
    wanted.minimum = minimum;
    wanted.maximum = maximum;
    now = crossdesk_steered(&wanted);
    return now == NULL ? value : crossdesk_read_number(now->text, NULL);
}

/* A whole number that desks may change. */
CROSSDESK_MAY_BE_UNUSED static long long
crossdesk_integer(const char *name, long long value, double minimum, double maximum, const char *unit)
{
    char text[40];
    struct crossdesk_value wanted;
    const struct crossdesk_value *now;
    sprintf(text, "%lld", value);
    wanted = crossdesk_wanted('i', name, text, unit, "");
    wanted.minimum = minimum;
    wanted.maximum = maximum;
    now = crossdesk_steered(&wanted);
    return now == NULL ? value : strtoll(now->text, NULL, 10);
}

/* A switch that desks may change: 0 or 1. */
CROSSDESK_MAY_BE_UNUSED static int crossdesk_switch(const char *name, int value)
{
    struct crossdesk_value wanted = crossdesk_wanted('s', name, value ? "true" : "false", "", "");
    const struct crossdesk_value *now = crossdesk_steered(&wanted);
    return now == NULL ? value : now->text[0] == 't';
}

/* One of `choices`, which stand with | between them, that desks may change. */
CROSSDESK_MAY_BE_UNUSED static const char *crossdesk_choice(const char *name, const char *value, const char *choices)
{
    struct crossdesk_value wanted = crossdesk_wanted('c', name, value, "", choices);
    const struct crossdesk_value *now = crossdesk_steered(&wanted);
    return now == NULL ? value : now->text;
}

/* A line that desks may change. */
CROSSDESK_MAY_BE_UNUSED static const char *crossdesk_text(const char *name, const char *value)
{
    struct crossdesk_value wanted = crossdesk_wanted('t', name, value, "", "");
    const struct crossdesk_value *now = crossdesk_steered(&wanted);
    return now == NULL ? value : now->text;
}

#endif
