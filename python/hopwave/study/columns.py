"""The columns of results.csv, but for those that name a further option of a method."""

NUMBERS = ["min", "firstquartile", "median", "thirdquartile", "max"]
# What a row is about.
ABOUT = ["graph", "scale", "layout", "parts", "algorithm", "method", "repeat"]
FILES = ["tree"]
# Attributes of /run in the tree file: of the degree-separated layout ...
PARTITION = ["degree_threshold"]
SHARES = ["nn_share", "nd_share", "dn_share", "dd_share", "delegates_share"]
# ... of the searches ...
RUN = ["SCALE", "edgefactor", "NBFS", "construction_time", "scans_per_edge"]
# ... and those whose names begin there with that of the algorithm.
STATISTICS = [
    *[f"{number}_time" for number in [*NUMBERS, "mean", "stddev"]],
    *[f"{number}_nedge" for number in [*NUMBERS, "mean", "stddev"]],
    *[f"{number}_TEPS" for number in NUMBERS],
    "harmonic_mean_TEPS",
    "harmonic_stddev_TEPS",
    "geometric_mean_TEPS",
    "arithmetic_mean_TEPS",
    "search_order_harmonic_mean_TEPS",
]
# device: cpu, cuda, or emulated, whose times say nothing.
MACHINE = ["resolved_method", "device", "transport", "threads", "peak_memory"]
# Of the machine, and of when: attributes of /run as they are. memory is that of the node of rank 0.
HOST = ["version", "started", "ended", "hosts", "ranks", "cores_of_rank_0", "cores", "processor"]
HOST += ["sockets", "memory", "gpus", "network", "mpi", "hdf5", "compiler"]
# oversubscribed: whether a node had more ranks times threads than cores for them.
HOST += ["oversubscribed"]
# Phases of a step: those that compute, and those that communicate.
COMPUTING = ["expansion", "update"]
COMMUNICATING = [
    "expand_exchange",
    "fold_exchange",
    "local_exchange",
    "normal_exchange",
    "delegate_reduction",
    "reductions",
]
# Of the steps: seconds, vertices and edges are means over the searches.
STEPS = [
    "search_order_time",
    "levels",
    "computing_time",
    "communicating_time",
    "top_down_time",
    "bottom_up_time",
    "top_down_edges",
    "bottom_up_edges",
    # Making queues; of the second level bottom-up, what the first discovered already.
    "queue_time",
    "early_share",
    *[f"{phase}_time" for phase in COMPUTING + COMMUNICATING],
]
BYTES = ["search_bytes_per_rank", "model_bytes_per_rank", "parents_bytes_per_rank"]
BYTES += ["internode_bytes", "internode_messages"]
# Lists of the degree-separated layout by its paper's Table I, and of others: edges of two 64-bit
# ids, or CSR with 64-bit columns.
LISTS = ["lists_bytes", "edge_list_bytes", "csr_bytes"]
DIGESTS = ["digest", "graph_digest"]
COLUMNS = ABOUT + FILES + PARTITION + SHARES + RUN + STATISTICS + MACHINE + STEPS + BYTES + LISTS
COLUMNS += HOST + DIGESTS

# degrees.csv: the work bottom-up on vertices of at least so many sources, below twice as many.
DEGREES = [*ABOUT, "edgefactor", "device", "degree", "vertices", "edges_checked"]
DEGREES += ["checked_per_vertex", "checked_of_degree"]
# enqueue.csv: what gpu-enqueue prints, a method for each way.
WAYS = ["scan", "select", "atomic-warp", "atomic"]
ENQUEUE = ["graph", "scale", "edgefactor", "device", "method", "entries", "enqueue_time"]
TABLES = {"results": COLUMNS, "degrees": DEGREES, "enqueue": ENQUEUE}
