/*
 * Messages between all ranks of a communicator, point to point.
 */
#ifndef HOPWAVE_ENGINE_CORE_PEER_EXCHANGE_H
#define HOPWAVE_ENGINE_CORE_PEER_EXCHANGE_H

#include "lib/comm/context.h"
#include "lib/engine/core/trace.h"

/* One message out and one in between this rank and a peer. */
struct hw_peer_message {
    const void *out;
    void *in;
    hw_count out_bytes, in_bytes;
};

/* Those to and from every rank. Zero-initialise; hw_peer_exchange_free() it. */
struct hw_peer_exchange {
    MPI_Comm comm;
    int peers, me;
    int together;                    /* consecutive ranks of comm on one node */
    struct hw_peer_message *message; /* [peers] */
    MPI_Request *request;            /* [capacity] */
    int capacity;
};

/* Room for messages to and from every rank of comm, of at most so many bytes in
 * all; `together` consecutive ranks are on one node. Borrows comm. Local. */
enum hw_status hw_peer_exchange_open(struct hw_peer_exchange *exchange, MPI_Comm comm, int together,
                                     hw_count bytes, struct hw_error *err);

/* Frees the memory. Local. */
void hw_peer_exchange_free(struct hw_peer_exchange *exchange);

/*
 * Sends and receives what exchange->message says; both sides know the sizes, and empty
 * messages are not sent. Adds bytes and messages to the record. Collective over the
 * ranks that have anything for each other.
 */
enum hw_status hw_peer_exchange_run(struct hw_peer_exchange *exchange,
                                    struct hw_trace_record *record, struct hw_error *err);

/* Adds bytes for one rank to the record; crosses: it is on another node. Local. */
static inline void hw_trace_add_bytes(struct hw_trace_record *record, hw_count bytes, bool crosses)
{
    record->bytes_sent += bytes;
    record->bytes_internode += crosses ? bytes : 0;
}

/*
 * Adds what one rank sends in a reduction of `bytes` whose result all of them get,
 * 2 (ranks-1)/ranks of them; between the nodes, of `together` ranks each, each rank
 * reduces its share of what its node has combined. Local.
 */
void hw_trace_add_reduction(struct hw_trace_record *record, hw_count bytes, int ranks,
                            int together);

/* The same of a gathering to all, or of `bytes` for each other rank. Local. */
void hw_trace_add_gather(struct hw_trace_record *record, hw_count bytes, int ranks, int together);

#endif
