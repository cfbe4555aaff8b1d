/*
 * Halo exchange: the messages between the ranks that own vertices and those that have ghosts
 * (copies) of them. One interface for all of them, in the spirit of PETSc's PetscSF.
 *
 *   Who has what      The user knows which of its elements other ranks need, by rank: a message to
 *                     and a message from each rank of a communicator.
 *                     hw_halo_map (exchange/halo_map.h) derives these lists where only the ghosts
 *                     are known.
 *   Scatter           hw_halo_exchange(): variable lists whose lengths both sides know.
 *   Broadcast         the same with options.same (each rank's one list to many), or
 *                     hw_halo_broadcast() (one rank's array to all).
 *   Share             hw_halo_share_send(): one list of unknown length from each rank to all, one
 * copy to each node. Single messages   hw_halo_receive(), hw_halo_send(), hw_halo_wait_*():
 * receives are posted ahead, and work overlaps with them; lengths may be unknown to the receiver.
 *
 * Backends (lib/comm/exchange/):
 *
 *   HW_HALO_POINT_TO_POINT  One message from each rank to each rank that gets any bytes. Not a
 *                           collective of MPI: ranks without messages for each other do not wait
 *                           for each other.
 *   HW_HALO_NODE_AWARE      The ranks of a node stage in shared memory, and one message goes from
 *                           each rank to each other node. For few large messages.
 *
 * Apart from these stand (doc/communication.md says why): exchange/large_alltoallv.h (lists of
 * unknown lengths, allocated for the caller), exchange/batched_alltoallv.h (streams of records
 * through buffers of bounded size), exchange/owner_query.h (requests to owners, and replies).
 *
 * What is sent is counted in one place: every function that sends takes a struct hw_traffic.
 */
#ifndef HOPWAVE_COMM_HALO_EXCHANGE_H
#define HOPWAVE_COMM_HALO_EXCHANGE_H

#include "lib/comm/exchange/memory_ops.h"
#include "lib/comm/node_topology.h"
#include "lib/comm/traffic.h"

enum hw_halo_kind { HW_HALO_POINT_TO_POINT, HW_HALO_NODE_AWARE };

/* What this rank sends to and receives from one rank. Either may be empty. */
struct hw_halo_message {
    const void *out;
    void *in;
    hw_count out_bytes, in_bytes;
};

/* How a halo is set up. What is borrowed must outlive it. */
struct hw_halo_setup {
    enum hw_halo_kind kind;
    MPI_Comm comm;                   /* borrowed; node-aware: ctx->world */
    const struct hw_context *ctx;    /* node-aware only; borrowed */
    const struct hw_nodes *nodes;    /* the nodes of comm's ranks; borrowed. NULL (not for
                                      * node-aware or shares): by ranks_per_node */
    int ranks_per_node;              /* without nodes: so many consecutive ranks are on one node */
    const struct hw_memory_ops *ops; /* copied; NULL: host memory */
    hw_count piece;        /* point to point: bytes of a message at most; 0: what MPI takes */
    hw_count shared_bytes; /* node-aware: shared memory of a node */
};

struct hw_halo_backend;

/* Messages between the ranks of a communicator. Zero-initialize; hw_halo_close() it. */
struct hw_halo {
    MPI_Comm comm;
    int ranks, rank;
    int ranks_per_node;
    const struct hw_nodes *nodes;
    struct hw_halo_message *message; /* [ranks] set by the user before each exchange */
    MPI_Request *request;            /* [3 ranks] receives by slot, then sends */
    int sends;                       /* in flight */
    hw_count piece;
    struct hw_memory_ops ops;
    struct hw_node_aware *node_aware; /* or NULL */
};

/* How one exchange is done. */
struct hw_halo_options {
    bool same; /* all receivers of a rank get the same bytes, from one address */
    /* Node-aware: [ranks] the memory of other ranks where this rank can address it (all ranks of
     * the node, or NULL for none); it copies what it receives straight from there. Messages lie
     * at the same distance from base here as from base_of at the sender. May be NULL. */
    char *const *base_of;
    const char *base; /* where this rank's own memory begins; with base_of */
    /* The outcome of this rank's work before. A rank that failed still takes part, so that no
     * rank waits for it; its failure is returned. */
    enum hw_status status;
    bool agree; /* all ranks return the most severe status (node-aware: always) */
};

/*
 * Prepares exchanges, and allocates. After a failure hw_halo_close() may be called.
 * Point to point: local. Node-aware: collective over comm, ranks agree; HW_RESOURCES where the
 * node has no shared memory, or /dev/shm too little.
 */
enum hw_status hw_halo_open(struct hw_halo *halo, const struct hw_halo_setup *setup,
                            struct hw_error *err);

/* Accepts one that is zeroed. Node-aware: collective over the node; else local. */
void hw_halo_close(struct hw_halo *halo);

/* Whether a rank is on another node than this one. Local. */
static inline bool hw_halo_is_internode(const struct hw_halo *halo, int rank)
{
    return halo->nodes ? halo->nodes->node[rank] != halo->nodes->node[halo->rank]
                       : rank / halo->ranks_per_node != halo->rank / halo->ranks_per_node;
}

/* Counts a message to a rank. Local. */
static inline void hw_halo_count(const struct hw_halo *halo, int to, hw_count bytes,
                                 struct hw_traffic *traffic)
{
    hw_traffic_add(traffic, bytes, 1, hw_halo_is_internode(halo, to));
}

/*
 * Sends and receives halo->message; both sides know the lengths, and empty messages are not sent.
 * options may be NULL: all zero. Adds what this rank sends to traffic. Complete on return.
 * Point to point: collective over the ranks that have messages for each other; the status is this
 * rank's own unless options->agree. Node-aware: collective over comm; ranks agree.
 */
enum hw_status hw_halo_exchange(struct hw_halo *halo, const struct hw_halo_options *options,
                                struct hw_traffic *traffic, struct hw_error *err);

/* Copies `bytes` bytes at `own` of rank `root` to `to` on all ranks, rank `root` included, by
 * MPI's broadcast. Not counted. Collective over comm; ranks agree. */
enum hw_status hw_halo_broadcast(struct hw_halo *halo, int root, const void *own, hw_count bytes,
                                 void *to, struct hw_error *err);

/* Node-aware: the shared host memory of the node, and the part of it that this rank may use
 * between exchanges: empty where ops.allocate placed the buffers elsewhere. Local. */
void *hw_halo_shared_memory(const struct hw_halo *halo, size_t *bytes);
void *hw_halo_own_buffer(const struct hw_halo *halo, size_t *bytes);

/* ---- single messages ---- */

/* Elements in the memory of this rank. */
struct hw_halo_elements {
    void *data;
    hw_count count; /* at most INT_MAX; of a receive: at most so many */
    int size;       /* bytes of an element: 1, 4 or 8 */
    int tag;        /* >= 0; of a receive also MPI_ANY_TAG */
};

/* Posts a receive from a rank. slot: in [0, ranks), free until it is waited for. Local. */
enum hw_status hw_halo_receive(struct hw_halo *halo, int slot, int from,
                               const struct hw_halo_elements *elements, struct hw_error *err);

/* Starts to send, and counts it; at most 2 ranks sends may be in flight. The elements must not
 * change until hw_halo_wait_sends(). Local. */
enum hw_status hw_halo_send(struct hw_halo *halo, int to, const struct hw_halo_elements *elements,
                            struct hw_traffic *traffic, struct hw_error *err);

/* Whether a receive is posted in a slot and not waited for yet. Local. */
static inline bool hw_halo_is_posted(const struct hw_halo *halo, int slot)
{
    return halo->request[slot] != MPI_REQUEST_NULL;
}

/* Waits for the receive of a slot; *bytes and *tag of what came. */
enum hw_status hw_halo_wait_receive(struct hw_halo *halo, int slot, int *bytes, int *tag,
                                    struct hw_error *err);

/* Waits for all receives that are posted, whatever their lengths; and for all sends. */
enum hw_status hw_halo_wait_receives(struct hw_halo *halo, struct hw_error *err);
enum hw_status hw_halo_wait_sends(struct hw_halo *halo, struct hw_error *err);

/* ---- share: one list from each rank to all others, one copy to each node ---- */

/*
 * The message of a rank goes to the carrier (hw_nodes_carrier()) of each other node and to the
 * ranks of its own node; carriers forward it within theirs. A message keeps its tag.
 * Not HW_HALO_NODE_AWARE: its barriers cost more than short lists take, and receives could not be
 * posted ahead.
 *
 * hw_halo_share_source(): the rank from which this one receives the message of rank `whose`.
 * hw_halo_share_send(): starts to send own elements to carriers and to the own node.
 * hw_halo_share_forwards(): whether this rank forwards the message of `whose` within its node;
 * then, once it has come, hw_halo_share_forward() starts that.
 * The receiver posts one receive for each other rank: first for ranks that send to it themselves,
 * then for forwarded messages, both in ascending order. For messages of one sender arrive in the
 * order in which they were sent: its own first, then those that it forwards. halo->nodes must be
 * set. Local.
 */
int hw_halo_share_source(const struct hw_halo *halo, int whose);
bool hw_halo_share_forwards(const struct hw_halo *halo, int whose);
enum hw_status hw_halo_share_send(struct hw_halo *halo, const struct hw_halo_elements *elements,
                                  struct hw_traffic *traffic, struct hw_error *err);
enum hw_status hw_halo_share_forward(struct hw_halo *halo, const struct hw_halo_elements *elements,
                                     struct hw_traffic *traffic, struct hw_error *err);

#endif
