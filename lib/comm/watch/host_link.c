#include "lib/comm/watch/host_link.h"

#include "lib/comm/context.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16
#define ATTEMPTS HW_HOST_ADDRESSES
#define PROBES 3 /* unanswered ones until a connection is given up */

enum { NEXT, PREVIOUS };

/* Connections of which none is chosen yet. */
struct attempts {
    int fd[ATTEMPTS]; /* -1: none */
    bool greeted[ATTEMPTS];
};

/* ---- addresses ---- */

static bool address_of(const struct ifaddrs *interface, struct in6_addr *address)
{
    if (interface->ifa_addr->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, interface->ifa_addr, sizeof six);
        *address = six.sin6_addr;
        return !IN6_IS_ADDR_LINKLOCAL(address);
    }
    if (interface->ifa_addr->sa_family != AF_INET)
        return false;
    struct sockaddr_in four;
    memcpy(&four, interface->ifa_addr, sizeof four);
    *address = (struct in6_addr)IN6ADDR_ANY_INIT;
    address->s6_addr[10] = address->s6_addr[11] = 0xff;
    memcpy(address->s6_addr + 12, &four.sin_addr, sizeof four.sin_addr);
    return true;
}

/* Adds the addresses of interfaces that are loopback ones, or that are not. */
static void add_addresses(const struct ifaddrs *all, const char *name, bool loopback,
                          struct hw_host_contact *contact)
{
    for (const struct ifaddrs *i = all; i && contact->count < HW_HOST_ADDRESSES; i = i->ifa_next) {
        struct in6_addr address;
        if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || (name && strcmp(name, i->ifa_name) != 0))
            continue;
        if (((i->ifa_flags & IFF_LOOPBACK) != 0) == loopback && address_of(i, &address))
            contact->address[contact->count++] = address;
    }
}

/* A socket for addresses of both families, or of IPv4 alone where the kernel has no IPv6. */
static int open_listener(struct hw_host_contact *contact)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    socklen_t size = sizeof six, size4 = sizeof four;
    const int no = 0, type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd = socket(AF_INET6, type, 0);

    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0 &&
        bind(fd, (struct sockaddr *)&six, size) == 0 && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&six, &size) == 0) {
        contact->port = six.sin6_port;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    fd = socket(AF_INET, type, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&four, size4) == 0 && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&four, &size4) == 0) {
        contact->port = four.sin_port;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int hw_host_listen(const char *interface, struct hw_host_contact *contact)
{
    struct ifaddrs *all = NULL;

    *contact = (struct hw_host_contact){0};
    if (getrandom(&contact->token, sizeof contact->token, 0) != (ssize_t)sizeof contact->token ||
        getifaddrs(&all) != 0)
        return -1;
    add_addresses(all, interface, false, contact);
    add_addresses(all, interface, true, contact);
    freeifaddrs(all);
    return open_listener(contact);
}

/* ---- connecting ---- */

static void drop(struct attempts *attempts, int i)
{
    close(attempts->fd[i]);
    attempts->fd[i] = -1;
}

/* Begins to connect to an address; -1: cannot. */
static int begin(const struct hw_host_contact *to, int i)
{
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = to->port, .sin6_addr = to->address[i]};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = to->port};
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
    const int fd =
        socket(mapped ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, sizeof four.sin_addr);
    const int failed = mapped ? connect(fd, (struct sockaddr *)&four, sizeof four)
                              : connect(fd, (struct sockaddr *)&six, sizeof six);
    if (failed == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

static bool send_token(int fd, uint64_t token)
{
    return send(fd, &token, sizeof token, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof token;
}

static bool is_token(int fd, uint64_t token)
{
    uint64_t got = 0;

    return recv(fd, &got, sizeof got, MSG_DONTWAIT) == (ssize_t)sizeof got && got == token;
}

/* Sends the token once connected; the other answers one connection with the same. Returns the
 * one that was answered, which is taken out of the attempts; -1: none yet. */
static int advance_outgoing(struct attempts *out, int i, uint64_t token)
{
    const int fd = out->fd[i];
    int why = 0;
    socklen_t size = sizeof why;

    if (out->greeted[i]) {
        if (is_token(fd, token)) {
            out->fd[i] = -1;
            return fd;
        }
        drop(out, i);
        return -1;
    }
    out->greeted[i] =
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 && why == 0 && send_token(fd, token);
    if (!out->greeted[i])
        drop(out, i);
    return -1;
}

static int advance_incoming(struct attempts *in, int i, uint64_t token)
{
    const int fd = in->fd[i];

    if (is_token(fd, token) && send_token(fd, token)) {
        in->fd[i] = -1;
        return fd;
    }
    drop(in, i);
    return -1;
}

static void accept_one(int listener, struct attempts *in)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    for (int i = 0; fd >= 0 && i < ATTEMPTS; i++)
        if (in->fd[i] < 0) {
            in->fd[i] = fd;
            return;
        }
    if (fd >= 0)
        close(fd);
}

static void close_all(struct attempts *attempts)
{
    for (int i = 0; i < ATTEMPTS; i++)
        if (attempts->fd[i] >= 0)
            drop(attempts, i);
}

/* Waits for an event of a connection that is not chosen yet, and deals with all there are. */
static void connect_step(int listener, const uint64_t token[2], struct attempts tries[2], int ms,
                         int fd[2])
{
    struct pollfd polled[2 * ATTEMPTS + 1];

    for (int i = 0; i < ATTEMPTS; i++) {
        const short wanted = tries[NEXT].greeted[i] ? POLLIN : POLLOUT;
        polled[i] = (struct pollfd){.fd = fd[NEXT] < 0 ? tries[NEXT].fd[i] : -1, .events = wanted};
        polled[ATTEMPTS + i] =
            (struct pollfd){.fd = fd[PREVIOUS] < 0 ? tries[PREVIOUS].fd[i] : -1, .events = POLLIN};
    }
    polled[2 * ATTEMPTS] =
        (struct pollfd){.fd = fd[PREVIOUS] < 0 ? listener : -1, .events = POLLIN};
    if (poll(polled, 2 * ATTEMPTS + 1, ms) <= 0)
        return;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (polled[i].revents && fd[NEXT] < 0)
            fd[NEXT] = advance_outgoing(&tries[NEXT], i, token[NEXT]);
        if (polled[ATTEMPTS + i].revents && fd[PREVIOUS] < 0)
            fd[PREVIOUS] = advance_incoming(&tries[PREVIOUS], i, token[PREVIOUS]);
    }
    if (polled[2 * ATTEMPTS].revents)
        accept_one(listener, &tries[PREVIOUS]);
}

void hw_host_connect(int listener, const struct hw_host_contact *own,
                     const struct hw_host_contact *next, double seconds, int fd[2])
{
    const double until = hw_seconds() + seconds;
    const uint64_t token[2] = {next->token, own->token};
    struct attempts tries[2] = {0};

    fd[NEXT] = fd[PREVIOUS] = -1;
    for (int i = 0; i < ATTEMPTS; i++) {
        tries[NEXT].fd[i] = next->port != 0 && i < next->count ? begin(next, i) : -1;
        tries[PREVIOUS].fd[i] = -1;
    }
    while (fd[NEXT] < 0 || fd[PREVIOUS] < 0) {
        const double left = until - hw_seconds();
        if (left <= 0)
            break;
        connect_step(listener, token, tries, (int)(1000 * left) + 1, fd);
    }
    close_all(&tries[NEXT]);
    close_all(&tries[PREVIOUS]);
}

/* ---- keeping alive ---- */

bool hw_host_keep_alive(int fd, int seconds)
{
    const int yes = 1, probes = PROBES, interval = seconds / (PROBES + 1);
    const int idle = seconds - PROBES * interval;
    /* Below the time of the last probe, at which the kernel looks. */
    const unsigned timeout = 1000 * (unsigned)seconds - 500;

    return setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout) == 0;
}

double hw_host_silence(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return 1e-3 * (double)info.tcpi_last_ack_recv;
}
