/* The network of a component of an MPI job where nodes give programs no namespace of their own.

   Loaded into a program by LD_PRELOAD, it lets the program believe that the machine has two devices, lo and tun0, and
   that tun0 has the component's address in 10.99.0.0/16. Connections to other addresses of that network go to the
   carrier on this machine (broker_core/worker/scripts/overlay_streams.py), which takes them to their component. What
   the program does with a connection then is between it and the kernel: this is in the way only where addresses are
   named, and keeps nothing of single connections, so that fork, exec and dup need no care.

   An address of the program is one of the loopback device, 127.n.x.y for 10.99.x.y; n is the carrier's choice. Other
   users of the machine can call it there. The carrier therefore knows each connection that is of the job, and accept
   closes those which it does not know.

   The functions of the C library that are replaced are called as system calls, so that no other symbol of it is needed
   than those which the oldest one in use has. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define VARIABLE "CROSSDESK_OVERLAY_DOOR" /* NAME ADDRESS LOOPBACK PORT: of the carrier, ours, ours, the carrier's */
#define CONTROL_PORT 7100                 /* of 127.0.0.1: the launcher of the job, by way of the carrier */
#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif
#define PATIENCE 130000                   /* milliseconds, as long as the kernel tries to connect */

enum { OPEN = 1, LOCAL, FORGET, WHO, PEER, LISTEN }; /* questions to the carrier */

/* Numbers are in the order of the network, as in addresses. */
struct question {
    uint8_t what, unused;
    in_port_t port, other;
    uint16_t none;
    in_addr_t address;
};
struct answer {
    uint16_t error;
    in_port_t port;
    in_addr_t address;
};

static struct {
    bool known;
    char name[64];
    in_addr_t address, loopback;
    in_port_t port;
} here;

__attribute__((constructor)) static void find_out(void)
{
    const char *given = getenv(VARIABLE);
    char address[16], loopback[16];
    unsigned port;
    if (given == NULL || sscanf(given, "%63s %15s %15s %u", here.name, address, loopback, &port) != 4)
        return;
    here.known = inet_pton(AF_INET, address, &here.address) == 1 && inet_pton(AF_INET, loopback, &here.loopback) == 1;
    here.port = htons((uint16_t)port);
}

static int failed(int error)
{
    errno = error;
    return -1;
}

/* --- The carrier */

/* Its answer on a connection of its own, so that threads and processes do not get each other's; raises errno. */
static int asked(int door, const struct question *question, struct answer *answer)
{
    struct sockaddr_un carrier = {.sun_family = AF_UNIX};
    size_t length = strlen(here.name);
    memcpy(carrier.sun_path + 1, here.name, length);
    if (syscall(SYS_connect, door, &carrier, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) != 0)
        return -1;
    struct ucred other;
    socklen_t size = sizeof other;
    /* After the carrier's end anyone could have its name. */
    if (getsockopt(door, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0 || other.uid != geteuid())
        return failed(EACCES);
    if (send(door, question, sizeof *question, MSG_NOSIGNAL) != sizeof *question)
        return -1;
    struct pollfd ready = {.fd = door, .events = POLLIN};
    int count;
    do
        count = poll(&ready, 1, PATIENCE);
    while (count < 0 && errno == EINTR);
    if (count == 0)
        return failed(ETIMEDOUT);
    ssize_t got = recv(door, answer, sizeof *answer, 0);
    return got == sizeof *answer ? 0 : failed(got < 0 ? errno : ENETDOWN);
}

/* 0, or an error that the carrier or the way to it has. */
static int ask(uint8_t what, in_port_t port, in_port_t other, in_addr_t address, struct answer *answer)
{
    struct question question = {.what = what, .port = port, .other = other, .address = address};
    struct answer unused;
    if (answer == NULL)
        answer = &unused;
    int before = errno, door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (door < 0)
        return errno;
    int error = asked(door, &question, answer) == 0 ? ntohs(answer->error) : errno;
    close(door);
    errno = before;
    return error;
}

/* --- Addresses */

static bool is_stream(int fd)
{
    int kind = 0;
    socklen_t size = sizeof kind;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_STREAM;
}

static bool is_of_network(in_addr_t address) { return (ntohl(address) ^ ntohl(here.address)) >> 16 == 0; }
static bool is_loopback(in_addr_t address) { return ntohl(address) >> 24 == 127; }

/* The address at which a function of the C library was given one; NULL if it is not of IPv4. */
static const struct sockaddr_in *ipv4(const struct sockaddr *address, socklen_t size)
{
    bool is = here.known && address != NULL && size >= sizeof(struct sockaddr_in) && address->sa_family == AF_INET;
    return is ? (const struct sockaddr_in *)address : NULL;
}

static struct sockaddr_in ours(in_port_t port)
{
    struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = port};
    made.sin_addr.s_addr = here.loopback;
    return made;
}

/* As the kernel gives an address to who asks for it. */
static void give(const void *found, socklen_t length, struct sockaddr *address, socklen_t *size)
{
    if (address == NULL || size == NULL)
        return;
    memcpy(address, found, *size < length ? *size : length);
    *size = length;
}

/* The address of a socket if that is of IPv4, by SYS_getsockname or SYS_getpeername. */
static bool name_of(int fd, long which, struct sockaddr_in *name)
{
    struct sockaddr_storage found;
    socklen_t size = sizeof found;
    if (syscall(which, fd, &found, &size) != 0 || found.ss_family != AF_INET)
        return false;
    memcpy(name, &found, sizeof *name);
    return true;
}

int getifaddrs(struct ifaddrs **list)
{
    struct device {
        struct ifaddrs entry;
        struct sockaddr_in address, mask, all;
    } *made = calloc(2, sizeof *made);
    if (made == NULL)
        return -1;
    static char *const names[] = {"lo", "tun0"};
    const in_addr_t addresses[] = {htonl(INADDR_LOOPBACK), here.address}, masks[] = {htonl(0xff000000), htonl(0xffff0000)};
    const unsigned flags[] = {IFF_UP | IFF_RUNNING | IFF_LOOPBACK, IFF_UP | IFF_RUNNING | IFF_POINTOPOINT | IFF_NOARP};
    for (int i = 0; i < 2; i++) {
        struct device *one = &made[i];
        one->address.sin_family = one->mask.sin_family = one->all.sin_family = AF_INET;
        one->address.sin_addr.s_addr = one->all.sin_addr.s_addr = addresses[i];
        one->mask.sin_addr.s_addr = masks[i];
        one->entry = (struct ifaddrs){NULL, names[i], flags[i], (struct sockaddr *)&one->address,
                                      (struct sockaddr *)&one->mask, {(struct sockaddr *)&one->all}, NULL};
    }
    if (here.known)
        made[0].entry.ifa_next = &made[1].entry;
    *list = &made[0].entry;
    return 0;
}

void freeifaddrs(struct ifaddrs *list) { free(list); }

int getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
    struct sockaddr_in found;
    if (!here.known || !name_of(fd, SYS_getsockname, &found) || found.sin_addr.s_addr != here.loopback)
        return syscall(SYS_getsockname, fd, address, size);
    found.sin_addr.s_addr = here.address;
    give(&found, sizeof found, address, size);
    return 0;
}

int getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
    struct sockaddr_in found, own;
    struct answer answer;
    if (!here.known || !name_of(fd, SYS_getpeername, &found) || found.sin_addr.s_addr != here.loopback ||
        !name_of(fd, SYS_getsockname, &own))
        return syscall(SYS_getpeername, fd, address, size);
    found.sin_addr.s_addr = here.address;
    if (ask(PEER, own.sin_port, found.sin_port, 0, &answer) == 0) {
        found.sin_addr.s_addr = answer.address;
        found.sin_port = answer.port;
    }
    give(&found, sizeof found, address, size);
    return 0;
}

/* --- Being called */

/* In a namespace nobody outside could call a socket of all addresses: here neither. */
int bind(int fd, const struct sockaddr *address, socklen_t size)
{
    const struct sockaddr_in *to = ipv4(address, size);
    if (to != NULL && (to->sin_addr.s_addr == here.address || (to->sin_addr.s_addr == INADDR_ANY && is_stream(fd)))) {
        struct sockaddr_in own = ours(to->sin_port);
        return syscall(SYS_bind, fd, &own, sizeof own);
    }
    return syscall(SYS_bind, fd, address, size);
}

/* Set `port` to that of a socket, which gets one of ours if it has none; false for sockets that are not ours. */
static bool own_port(int fd, in_port_t *port)
{
    struct sockaddr_in name, own = ours(0);
    int off = 0;
    if (!name_of(fd, SYS_getsockname, &name))
        return false;
    /* A program may want its port only once it is connected, and one that was refused has lost its port though the
       kernel still names it: the carrier has to know the port before. What has one cannot be bound again. */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &off, sizeof off);
    if ((syscall(SYS_bind, fd, &own, sizeof own) != 0 && errno != EINVAL) || !name_of(fd, SYS_getsockname, &name))
        return false;
    *port = name.sin_port;
    return name.sin_addr.s_addr == here.loopback;
}

int listen(int fd, int most)
{
    in_port_t port;
    bool is_ours = here.known && is_stream(fd) && own_port(fd, &port);
    if (syscall(SYS_listen, fd, most) != 0)
        return -1;
    int error = is_ours ? ask(LISTEN, port, 0, 0, NULL) : 0;
    return error ? failed(error) : 0;
}

/* False if the caller of an accepted socket is none of the job's; sets `from` to its address. */
static bool is_welcome(int fd, struct sockaddr_in *from)
{
    struct sockaddr_in own;
    struct answer answer;
    if (!name_of(fd, SYS_getsockname, &own) || own.sin_addr.s_addr != here.loopback)
        return true;
    if (from->sin_addr.s_addr != here.loopback || ask(WHO, own.sin_port, from->sin_port, 0, &answer) != 0)
        return false;
    from->sin_addr.s_addr = answer.address;
    from->sin_port = answer.port;
    return true;
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    for (;;) {
        struct sockaddr_storage found;
        socklen_t length = sizeof found;
        int caller = (int)syscall(SYS_accept4, fd, &found, &length, flags);
        if (caller < 0)
            return -1;
        if (!here.known || found.ss_family != AF_INET || is_welcome(caller, (struct sockaddr_in *)&found)) {
            give(&found, length, address, size);
            return caller;
        }
        close(caller);
    }
}

int accept(int fd, struct sockaddr *address, socklen_t *size) { return accept4(fd, address, size, 0); }

/* --- Calling */

/* Connect to the carrier, which answers at once, also where the program does not want to wait. */
static int connect_carrier(int fd)
{
    struct sockaddr_in carrier = ours(here.port);
    if (syscall(SYS_connect, fd, &carrier, sizeof carrier) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return -1;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int count, error = 0;
    socklen_t size = sizeof error;
    do
        count = poll(&ready, 1, PATIENCE);
    while (count < 0 && errno == EINTR);
    if (count == 0)
        return failed(ETIMEDOUT);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0 ? 0 : failed(error ? error : EIO);
}

/* To another component, or to the launcher. The answer of the far end is waited for in here, on any socket: it comes
   from carriers, not from programs, which so never wait for each other; and nothing that waits for the socket, as
   epoll does, can see it before it is known whether it is connected. */
static int connect_away(int fd, const struct sockaddr_in *to)
{
    in_port_t port;
    if (!own_port(fd, &port))
        return failed(EADDRNOTAVAIL);
    if (connect_carrier(fd) != 0)
        return -1;
    int error = ask(OPEN, port, to->sin_port, to->sin_addr.s_addr, NULL);
    if (error == 0)
        return 0;
    struct sockaddr_in none = {.sin_family = AF_UNSPEC};
    syscall(SYS_connect, fd, &none, sizeof none); /* it may be tried again, as after a refusal by the kernel */
    return failed(error);
}

/* To a program of this component, in the kernel's own way: the carrier is to know who calls. */
static int connect_here(int fd, in_port_t to)
{
    in_port_t port;
    if (!own_port(fd, &port))
        return failed(EADDRNOTAVAIL);
    ask(LOCAL, port, to, 0, NULL);
    struct sockaddr_in own = ours(to);
    int result = (int)syscall(SYS_connect, fd, &own, sizeof own), error = errno;
    if (result != 0 && error != EINPROGRESS && error != EINTR)
        ask(FORGET, port, to, 0, NULL);
    errno = error;
    return result;
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    const struct sockaddr_in *to = ipv4(address, size);
    in_addr_t where = to == NULL ? 0 : to->sin_addr.s_addr;
    if (to == NULL || (!is_of_network(where) && !is_loopback(where)))
        return (int)syscall(SYS_connect, fd, address, size);
    if (!is_stream(fd))
        return is_of_network(where) ? failed(ENETUNREACH) : (int)syscall(SYS_connect, fd, address, size);
    struct sockaddr_in peer;
    if (name_of(fd, SYS_getpeername, &peer))
        return failed(EISCONN);
    if (where == here.address)
        return connect_here(fd, to->sin_port);
    if (is_of_network(where) || (where == htonl(INADDR_LOOPBACK) && ntohs(to->sin_port) == CONTROL_PORT))
        return connect_away(fd, to);
    /* Who listens at all addresses is called by way of the loopback device, too; other programs have it as well. */
    if (ask(LOCAL, 0, to->sin_port, 0, NULL) == 0)
        return connect_here(fd, to->sin_port);
    return (int)syscall(SYS_connect, fd, address, size);
}

/* Datagrams are not carried; they must not get to another network that has such addresses. */
ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *address, socklen_t size)
{
    const struct sockaddr_in *to = ipv4(address, size);
    if (to != NULL && is_of_network(to->sin_addr.s_addr) && !is_stream(fd))
        return failed(ENETUNREACH);
    return syscall(SYS_sendto, fd, data, length, flags, address, size);
}
