#include "lib/comm/watch/host_ring.h"

#include "lib/comm/context.h"
#include "lib/comm/watch/host_link.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_MIN 4
#define TIMEOUT_MAX 3600
#define CONNECT_TIMEOUT 5.0 /* seconds */

/* What neighbors know of each other. */
struct card {
    struct hw_host_contact contact;
    int32_t rank, process, ranks;
    char host[64];
};

/* For signal handlers; 0: none, since standard input has that number. */
static volatile sig_atomic_t connections[2];

enum hw_status hw_host_timeout(int *seconds, struct hw_error *err)
{
    static const char name[] = "HOPWAVE_HOST_TIMEOUT";
    const char *text = getenv(name);
    char *end = NULL;

    *seconds = HW_HOST_TIMEOUT;
    if (!text || !*text)
        return HW_OK;
    const long value = strtol(text, &end, 10);
    if (*end || (value != 0 && (value < TIMEOUT_MIN || value > TIMEOUT_MAX)))
        return hw_fail(err, HW_USAGE, "%s: '%s' is neither 0 nor a number of seconds, %d to %d",
                       name, text, TIMEOUT_MIN, TIMEOUT_MAX);
    *seconds = (int)value;
    return HW_OK;
}

/* Sends this host's card to both neighbors and receives theirs. Collective. */
static enum hw_status exchange_cards(MPI_Comm first, const struct hw_host_ring *ring,
                                     const struct card *own, struct card *next,
                                     struct card *previous, struct hw_error *err)
{
    const int size = (int)sizeof *own, after = (ring->own + 1) % ring->hosts,
              before = (ring->own + ring->hosts - 1) % ring->hosts;

    HW_TRY(hw_mpi(MPI_Sendrecv(own, size, MPI_BYTE, before, 0, next, size, MPI_BYTE, after, 0,
                               first, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv", err));
    return hw_mpi(MPI_Sendrecv(own, size, MPI_BYTE, after, 1, previous, size, MPI_BYTE, before, 1,
                               first, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv", err);
}

static struct hw_host_neighbor neighbor_of(const struct card *card, int fd)
{
    struct hw_host_neighbor neighbor = {
        .fd = fd, .rank = card->rank, .process = card->process, .ranks = card->ranks};

    memcpy(neighbor.host, card->host, sizeof neighbor.host);
    return neighbor;
}

static enum hw_status connect_ring(const struct hw_context *ctx, MPI_Comm first, int seconds,
                                   struct hw_host_ring *ring, struct hw_error *err)
{
    const char *interface = getenv("HOPWAVE_HOST_INTERFACE");
    struct card own = {.rank = ctx->rank, .process = (int32_t)getpid(), .ranks = ctx->node_size},
                next, previous;
    int fd[2] = {-1, -1};

    (void)gethostname(own.host, sizeof own.host - 1);
    const int listener = hw_host_listen(interface && *interface ? interface : NULL, &own.contact);
    enum hw_status status = exchange_cards(first, ring, &own, &next, &previous, err);
    if (status == HW_OK) {
        hw_host_connect(listener, &own.contact, &next.contact, CONNECT_TIMEOUT, fd);
        ring->next = neighbor_of(&next, fd[0]);
        ring->previous = neighbor_of(&previous, fd[1]);
        if (fd[0] < 0 || !hw_host_keep_alive(fd[0], seconds))
            status = hw_fail(err, HW_RESOURCES, "rank %d on host %s cannot reach host %s by TCP",
                             ctx->rank, own.host, next.host);
        else if (fd[1] < 0 || !hw_host_keep_alive(fd[1], seconds))
            status = hw_fail(err, HW_RESOURCES, "rank %d on host %s is not reached by host %s",
                             ctx->rank, own.host, previous.host);
    }
    if (listener >= 0)
        close(listener);
    return status;
}

enum hw_status hw_host_ring_open(const struct hw_context *ctx, MPI_Comm first, int seconds,
                                 struct hw_host_ring *ring, struct hw_error *err)
{
    *ring = (struct hw_host_ring){.next.fd = -1, .previous.fd = -1};
    HW_TRY(hw_mpi(MPI_Comm_size(first, &ring->hosts), "MPI_Comm_size", err));
    HW_TRY(hw_mpi(MPI_Comm_rank(first, &ring->own), "MPI_Comm_rank", err));
    const enum hw_status status =
        hw_agree(first, connect_ring(ctx, first, seconds, ring, err), err);
    if (status != HW_OK) {
        hw_host_ring_close(ring);
        return status;
    }
    connections[0] = ring->next.fd;
    connections[1] = ring->previous.fd;
    return HW_OK;
}

enum hw_host_event hw_host_ring_receive(struct hw_host_neighbor *neighbor, int *status)
{
    signed char word = 0;

    if (neighbor->ended)
        return HW_HOST_NOTHING;
    const ssize_t got = recv(neighbor->fd, &word, sizeof word, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return HW_HOST_NOTHING;
    const bool closed = got == 0 || (got < 0 && (errno == ECONNRESET || errno == EPIPE));
    *status = word;
    neighbor->ended = true;
    if (got > 0)
        return word == HW_OK ? HW_HOST_LEFT : HW_HOST_ENDS;
    return closed ? HW_HOST_CLOSED : HW_HOST_SILENT;
}

void hw_host_ring_tell(enum hw_status status)
{
    const signed char word = (signed char)status;

    for (int i = 0; i < 2; i++)
        if (connections[i] > 0)
            (void)!send(connections[i], &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void hw_host_ring_close(struct hw_host_ring *ring)
{
    connections[0] = connections[1] = 0;
    if (ring->hosts > 0 && ring->next.fd >= 0)
        close(ring->next.fd);
    if (ring->hosts > 0 && ring->previous.fd >= 0)
        close(ring->previous.fd);
    *ring = (struct hw_host_ring){0};
}
