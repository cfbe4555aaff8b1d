/* Names of the transports between GPUs, and of the buffers that MPI is given. */
#ifndef HOPWAVE_COMM_TRANSPORT_KIND_H
#define HOPWAVE_COMM_TRANSPORT_KIND_H

/* How bytes travel between GPUs; between processors they travel over MPI. */
enum hw_transport_kind {
    HW_TRANSPORT_AUTO,
    HW_TRANSPORT_MPI,
    HW_TRANSPORT_PEER,
    HW_TRANSPORT_NCCL,
    HW_TRANSPORT_SHMEM /* symmetric memory, puts and signals */
};

/* What MPI is given for bytes in device memory: copies in host memory, or device pointers. */
enum hw_mpi_buffers { HW_MPI_BUFFERS_AUTO, HW_MPI_BUFFERS_HOST, HW_MPI_BUFFERS_DEVICE };

#endif
