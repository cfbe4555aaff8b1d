/*
 * Messages between nodes by NVSHMEM (lib/comm/exchange/message_ops.h): puts of whole buffers, each
 * with a signal that follows its bytes.
 *
 * Protocol. A pair of ranks numbers its messages in each stage of the pipeline from 1, and those
 * among them whose buffer is not known to be free. For these the receiver sets the sender's word
 * `ready` of the stage to the number when its buffer is free, and the sender waits for that. The
 * sender puts the bytes with a signal that sets the receiver's word `arrived`. Puts and signals of
 * different messages may overtake each other, and do no harm: the words of a stage have one writer
 * each, which sets the next number only after the other word has answered the last, or an exchange
 * has ended. Waits are bounded.
 *
 * In order, copies out of own memory, puts, waits and copies into it are operations of one stream,
 * and the host waits once an exchange.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_MESSAGES_H
#define HOPWAVE_GPU_COMM_NVSHMEM_MESSAGES_H

#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "lib/comm/exchange/message_ops.h"

struct hw_nvshmem_messages;

/* Allocates the signals. in_order: as in struct hw_memory_ops, whose copies the user starts in
 * hw_nvshmem_messages_stream(). Borrows nvshmem. Collective over its ranks; they agree. After a
 * failure *made may be closed. */
enum hw_status hw_nvshmem_messages_open(struct hw_nvshmem *nvshmem, bool in_order,
                                        struct hw_nvshmem_messages **made, struct hw_error *err);

/* Buffers of messages must be symmetric memory. Valid until the messages are closed. Local. */
const struct hw_message_ops *hw_nvshmem_message_ops(const struct hw_nvshmem_messages *self);

/* The cudaStream_t of puts and waits. Local. */
void *hw_nvshmem_messages_stream(const struct hw_nvshmem_messages *self);

/* Waits for all that was started in the stream, 8 s at most. Local. */
enum hw_status hw_nvshmem_messages_wait(struct hw_nvshmem_messages *self, struct hw_error *err);

/* Accepts NULL. Collective over the ranks of nvshmem. */
void hw_nvshmem_messages_close(struct hw_nvshmem_messages *self);

#endif
