/* Parameters of a running program, which desks change. C99, C++11. Included by crossdesk_publish.h.
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
#ifndef CROSSDESK_PARAMETERS_H
#define CROSSDESK_PARAMETERS_H

#include "crossdesk_publish.h"

/* Parameters of a program, bytes of a name and of all choices. */
#define CROSSDESK_PARAMETERS_MOST 64
#define CROSSDESK_NAME 80
#define CROSSDESK_CHOICES 1000

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
