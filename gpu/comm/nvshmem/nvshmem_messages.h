/*
 * Messages between nodes by NVSHMEM (lib/comm/exchange/message_ops.h): puts of whole buffers, each
 * with a signal that follows its bytes.
 *
 * Protocol. A pair of ranks numbers its messages in each stage of the pipeline from 1. The receiver
 * sets the sender's word `ready` of the stage to the number when its buffer is free; the sender
 * waits for that, then puts the bytes with a signal that sets the receiver's word `arrived`. Puts
 * and signals of different messages may overtake each other, and do no harm: the words of a stage
 * have one writer each, which sets the next number only after the other word has answered the last.
 * Waits are bounded.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_MESSAGES_H
#define HOPWAVE_GPU_COMM_NVSHMEM_MESSAGES_H

#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "lib/comm/exchange/message_ops.h"

struct hw_nvshmem_messages;

/* Allocates the signals. Borrows nvshmem. Collective over its ranks; they agree. After a failure
 * *made may be closed. */
enum hw_status hw_nvshmem_messages_open(struct hw_nvshmem *nvshmem,
                                        struct hw_nvshmem_messages **made, struct hw_error *err);

/* Buffers of messages must be symmetric memory. Valid until the messages are closed. Local. */
const struct hw_message_ops *hw_nvshmem_message_ops(const struct hw_nvshmem_messages *self);

/* Accepts NULL. Collective over the ranks of nvshmem. */
void hw_nvshmem_messages_close(struct hw_nvshmem_messages *self);

#endif
