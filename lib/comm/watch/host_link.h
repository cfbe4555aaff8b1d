/*
 * TCP connections with which hosts watch each other.
 *
 * The kernels at both ends keep them alive: a host that has vanished stops answering, and a
 * process that ends closes its end. A process that is slow, stopped or held by a debugger does
 * neither, since its kernel answers for it.
 */
#ifndef HOPWAVE_COMM_WATCH_HOST_LINK_H
#define HOPWAVE_COMM_WATCH_HOST_LINK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define HW_HOST_ADDRESSES 8 /* of a host that are tried */

/* How a process can be reached. Plain data, sent between ranks of one architecture. */
struct hw_host_contact {
    uint64_t token;                             /* drawn at random; a caller must know it */
    uint16_t port;                              /* of network byte order; 0: cannot be reached */
    uint16_t count;                             /* of addresses */
    struct in6_addr address[HW_HOST_ADDRESSES]; /* IPv4 ones mapped into IPv6 */
};

/* Listens on a free port and fills contact with the addresses of all interfaces that are up, or
 * of the one that is named (NULL: all); loopback comes last. Returns the socket, to be closed by
 * the caller, or -1 (contact->port is 0 then). Local. */
int hw_host_listen(const char *interface, struct hw_host_contact *contact);

/*
 * Connects to `next` on all its addresses at once and keeps the first that answers, while
 * `previous`, which knows the token of `own`, connects to `listener`. fd[0]: connected to next,
 * fd[1]: to previous; -1: not within so many seconds. The caller owns both. Blocks. Local.
 */
void hw_host_connect(int listener, const struct hw_host_contact *own,
                     const struct hw_host_contact *next, double seconds, int fd[2]);

/* Has the kernel report the other end as lost (ETIMEDOUT) when it has not answered for so many
 * seconds, 4 at least. Returns false where that cannot be set. Local. */
bool hw_host_keep_alive(int fd, int seconds);

/* Seconds since the other end's kernel last answered; 0 where the system does not say. Local. */
double hw_host_silence(int fd);

#endif
