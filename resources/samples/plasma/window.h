/* One window on an X11 display, with no library: there may be none where the job runs.
 *
 * Shapes are drawn beside the screen and shown all at once. Without a display every call does nothing.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WINDOW_ROOM 65536 /* bytes of requests that are sent at once */
#define WINDOW_BOXES 512  /* of one request */

struct window {
    int line;
    uint32_t id, behind, pen;
    uint16_t width, height;
    uint32_t color;
    uint32_t requests[WINDOW_ROOM / 4];
    size_t used; /* words of requests */
    unsigned char event[32];
    size_t heard;
};

static uint32_t pair(int low, int high)
{
    uint16_t both[2] = {(uint16_t)low, (uint16_t)high};
    uint32_t word;
    memcpy(&word, both, 4);
    return word;
}

/* The first word of a request. */
static uint32_t head(int code, int detail, size_t words)
{
    uint8_t parts[2] = {(uint8_t)code, (uint8_t)detail};
    uint16_t length = (uint16_t)words;
    uint32_t word;
    memcpy(&word, parts, 2);
    memcpy((char *)&word + 2, &length, 2);
    return word;
}

static void window_close(struct window *on)
{
    if (on->line >= 0)
        close(on->line);
    on->line = -1;
}

static int whole(int line, void *into, size_t size)
{
    for (ssize_t got; size > 0; size -= (size_t)got, into = (char *)into + got)
        if ((got = recv(line, into, size, 0)) <= 0)
            return 0;
    return 1;
}

static void window_flush(struct window *on)
{
    const char *at = (const char *)on->requests;
    size_t left = on->used * 4;
    on->used = 0;
    while (on->line >= 0 && left > 0) {
        ssize_t sent = send(on->line, at, left, MSG_NOSIGNAL);
        if (sent <= 0)
            window_close(on);
        else
            at += sent, left -= (size_t)sent;
    }
}

static void request(struct window *on, const uint32_t *words, size_t count)
{
    if (on->line < 0)
        return;
    if (on->used + count > WINDOW_ROOM / 4)
        window_flush(on);
    memcpy(on->requests + on->used, words, count * 4);
    on->used += count;
}

/* The secret for display `number` out of the file that XAUTHORITY names. */
static int secret(const char *number, unsigned char *into)
{
    const char *path = getenv("XAUTHORITY");
    FILE *from = path != NULL ? fopen(path, "rb") : NULL;
    unsigned char size[2], part[4][256];
    int found = 0;
    while (from != NULL && !found && fread(size, 2, 1, from) == 1) {
        size_t lengths[4], one;
        for (one = 0; one < 4 && fread(size, 2, 1, from) == 1; one++) {
            lengths[one] = (size_t)size[0] << 8 | size[1];
            if (lengths[one] >= sizeof part[0] || fread(part[one], 1, lengths[one], from) != lengths[one])
                break;
            part[one][lengths[one]] = 0;
        }
        if (one < 4)
            break;
        found = strcmp((char *)part[1], number) == 0 && lengths[3] == 16;
        if (found)
            memcpy(into, part[3], 16);
    }
    if (from != NULL)
        fclose(from);
    return found;
}

static int window_call(const char *number)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int line = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "/tmp/.X11-unix/X%s", number);
    if (line >= 0 && connect(line, (struct sockaddr *)&at, sizeof at) != 0) {
        close(line);
        line = -1;
    }
    return line;
}

/* As large as the screen. Returns 0 where there is none to be had. */
static int window_open(struct window *on, uint32_t background)
{
    static const char method[] = "MIT-MAGIC-COOKIE-1";
    const char *display = getenv("DISPLAY"), *colon = display != NULL ? strrchr(display, ':') : NULL;
    char number[16] = "";
    unsigned char hello[48] = {0}, told[8], *about, *screen;
    uint16_t order = 1, major = 11, length, vendor;
    uint32_t base, root;
    memset(on, 0, sizeof *on);
    on->line = -1;
    if (colon == NULL || colon != display)
        return 0; /* a display of another machine */
    snprintf(number, sizeof number, "%.*s", (int)strcspn(colon + 1, "."), colon + 1);
    if ((on->line = window_call(number)) < 0)
        return 0;
    hello[0] = *(unsigned char *)&order == 1 ? 'l' : 'B';
    memcpy(hello + 2, &major, 2);
    if (secret(number, hello + 32)) {
        uint16_t sizes[2] = {sizeof method - 1, 16};
        memcpy(hello + 6, sizes, 4);
        memcpy(hello + 12, method, sizeof method - 1);
    }
    length = hello[6] || hello[7] ? 48 : 12;
    if (send(on->line, hello, length, MSG_NOSIGNAL) != length || !whole(on->line, told, 8) || told[0] != 1) {
        window_close(on);
        return 0;
    }
    memcpy(&length, told + 6, 2);
    about = malloc((size_t)length * 4 + 1);
    if (about == NULL || length < 18 || !whole(on->line, about, (size_t)length * 4)) {
        free(about);
        window_close(on);
        return 0;
    }
    memcpy(&base, about + 4, 4);
    memcpy(&vendor, about + 16, 2);
    screen = about + 32 + (vendor + 3) / 4 * 4 + about[21] * 8;
    if (screen + 40 > about + (size_t)length * 4) {
        free(about);
        window_close(on);
        return 0;
    }
    memcpy(&root, screen, 4);
    memcpy(&on->width, screen + 20, 2);
    memcpy(&on->height, screen + 22, 2);
    on->id = base, on->behind = base + 1, on->pen = base + 2;
    /* Nobody manages windows there: it stands where it is put. It wants to hear of buttons. */
    uint32_t window[] = {head(1, 0, 11), on->id, root, 0, pair(on->width, on->height), pair(0, 1), 0, 0xA02, background, 1, 4};
    uint32_t pixels[] = {head(53, screen[38], 4), on->behind, root, pair(on->width, on->height)};
    uint32_t pen[] = {head(55, 0, 6), on->pen, root, 0x10004, background, 0};
    uint32_t map[] = {head(8, 0, 2), on->id};
    request(on, window, 11);
    request(on, pixels, 4);
    request(on, pen, 6);
    request(on, map, 2);
    on->color = background;
    window_flush(on);
    free(about);
    return on->line >= 0;
}

static void window_color(struct window *on, uint32_t color)
{
    uint32_t words[] = {head(56, 0, 4), on->pen, 4, color};
    if (color != on->color)
        request(on, words, 4);
    on->color = color;
}

/* Filled boxes: left, top, width and height of each. */
static void window_boxes(struct window *on, const int16_t (*boxes)[4], size_t count)
{
    uint32_t words[3 + 2 * WINDOW_BOXES];
    for (size_t now; count > 0; count -= now, boxes += now) {
        now = count < WINDOW_BOXES ? count : WINDOW_BOXES;
        words[0] = head(70, 0, 3 + 2 * now), words[1] = on->behind, words[2] = on->pen;
        memcpy(words + 3, boxes, now * 8);
        request(on, words, 3 + 2 * now);
    }
}

static void window_circle(struct window *on, int left, int top, int across)
{
    uint32_t words[] = {head(68, 0, 6), on->behind, on->pen, pair(left, top), pair(across, across), pair(0, 360 * 64)};
    request(on, words, 6);
}

/* Show what was drawn. */
static void window_show(struct window *on)
{
    uint32_t words[] = {head(62, 0, 7), on->behind, on->id, on->pen, 0, 0, pair(on->width, on->height)};
    request(on, words, 7);
    window_flush(on);
}

/* Where a button was pressed since the last call; 0: nowhere. */
static int window_pressed(struct window *on, int *x, int *y)
{
    while (on->line >= 0) {
        ssize_t got = recv(on->line, on->event + on->heard, 32 - on->heard, MSG_DONTWAIT);
        int16_t at[2];
        if (got == 0)
            window_close(on);
        if (got <= 0)
            return 0;
        if ((on->heard += (size_t)got) < 32)
            continue;
        on->heard = 0;
        if ((on->event[0] & 0x7F) != 4)
            continue;
        memcpy(at, on->event + 24, 4);
        *x = at[0], *y = at[1];
        return 1;
    }
    return 0;
}

#endif
