/*
 * Message operations: how messages go between the buffers of two nodes' ranks, where that is not
 * by MPI. One-sided transports offer them, whose buffers have the same layout on all ranks.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_MESSAGE_OPS_H
#define HOPWAVE_COMM_EXCHANGE_MESSAGE_OPS_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <stdbool.h>

/* Buffers that messages take turns in: a message of a pair of ranks may be sent while so many minus
 * one before it are on their way. */
#define HW_MESSAGE_STAGES 3

/* A message to or from a rank. Messages of a pair of ranks use stages in turn. */
struct hw_message {
    int peer, stage;
    char *buffer;    /* this rank's: what is sent, or where it is received */
    char *symmetric; /* send(): where the receiver's buffer would be on this rank */
    hw_count bytes;
    bool is_free; /* send(): the receiver's buffer is known to be free, and is not posted */
};

/* All local. With memory operations that are in order (memory_ops.h) no function waits. */
struct hw_message_ops {
    void *self;
    /* Tells the sender that this rank's buffer is free. Does not wait. */
    enum hw_status (*post)(void *self, const struct hw_message *message, struct hw_error *err);
    /* Starts to send, once the receiver has posted or is free. Does not wait; the buffer may be
     * changed after wait_sends(). */
    enum hw_status (*send)(void *self, const struct hw_message *message, struct hw_error *err);
    /* Waits for a message. */
    enum hw_status (*receive)(void *self, const struct hw_message *message, struct hw_error *err);
    /* Has all that was sent leave its buffers, after the last send of an exchange. Does not wait.
     */
    enum hw_status (*end_sends)(void *self, struct hw_error *err);
    /* Waits until all that was sent has left its buffers. */
    enum hw_status (*wait_sends)(void *self, struct hw_error *err);
};

#endif
