/*
 * The functions of NVSHMEM's host library that transport nvshmem calls. The library is loaded when
 * the transport is opened, so that programs build and start without it. What is declared here is
 * its binary interface, version 3 (nvshmemx_api.h, nvshmem_types.h).
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_API_H
#define HOPWAVE_GPU_COMM_NVSHMEM_API_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

#define HW_NVSHMEM_MAJOR 3

/* nvshmemx_uniqueid_t: identifies a job; made by one rank, given to all. */
struct hw_nvshmem_id {
    int version;
    char content[124];
};

/* nvshmemx_init_attr_t. */
struct hw_nvshmem_init {
    int version;
    void *mpi_comm;
    struct {
        int version;
        struct {
            int version;
            struct hw_nvshmem_id *id;
            int rank, ranks;
        } job;
        char content[96];
    } arguments;
};

/* The value of `version` fields: version 1 of a structure of a size. */
#define HW_NVSHMEM_STRUCT_VERSION(type) ((1 << 16) + (int)sizeof(type))

/* Constants of the interface. */
enum { HW_NVSHMEM_INIT_BY_ID = 1 << 3, HW_NVSHMEM_SIGNAL_SET = 9, HW_NVSHMEM_AT_LEAST = 5 };

/* Functions without `local` are collective over all ranks. `stream`: a cudaStream_t. */
struct hw_nvshmem_api {
    int (*get_id)(struct hw_nvshmem_id *id); /* local */
    int (*set_id)(int rank, int ranks, const struct hw_nvshmem_id *id,
                  struct hw_nvshmem_init *init);         /* local */
    void (*version)(int *major, int *minor, int *patch); /* local */
    int (*init)(unsigned flags, struct hw_nvshmem_init *init);
    void (*finalize)(void);
    void *(*allocate)(size_t bytes);
    void (*free)(void *memory);
    void *(*pointer)(const void *memory, int rank); /* local */
    /* Local. Copies bytes to the address `to` of another rank, then sets a signal there. The
     * source may change after quiet(). */
    void (*put_signal)(void *to, const void *from, size_t bytes, uint64_t *at, uint64_t signal,
                       int operation, int rank, void *stream);
    void (*signal)(uint64_t *at, uint64_t signal, int operation, int rank,
                   void *stream);                                              /* local */
    void (*wait)(uint64_t *at, int comparison, uint64_t signal, void *stream); /* local */
    void (*quiet)(void *stream);                                               /* local */
    /* Make NVSHMEM known to the kernels of an image, a cudaLibrary_t, and end that. NULL where the
     * library has no such functions. Local. */
    int (*init_image)(void *image), (*end_image)(void *image);
};

/* Loads the library and checks its version. Local. Returns HW_RESOURCES where there is none, or
 * one of another major version. It stays loaded: it may have threads. */
enum hw_status hw_nvshmem_load(struct hw_nvshmem_api *api, struct hw_error *err);

#endif
