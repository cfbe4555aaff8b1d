# A recipe for Spack 1.0 or later. In the source tree:
#   spack repo add packaging/spack/spack_repo/hopwave
#   spack dev-build hopwave@main
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Hopwave(AutotoolsPackage, CudaPackage):
    """Breadth-first search and shortest paths on very large graphs: programs that pass
    HDF5 files, chained into studies by Snakemake."""

    license("Apache-2.0")

    version("main")

    variant("nccl", default=False, when="+cuda", description="Build the transport nccl")
    variant("workflow", default=True, description="Bring Snakemake, to run studies")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("autoconf", type="build")
    depends_on("automake@1.15:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")

    depends_on("mpi@3.1:")
    # Parallel or not; 2.x too.
    depends_on("hdf5@1.10:")
    depends_on("xxhash@0.8:")
    depends_on("jansson@2.7:")
    depends_on("zlib-api")
    depends_on("xz")
    depends_on("bzip2")
    depends_on("zstd")
    depends_on("libarchive@3.2:")
    depends_on("random123")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl", when="+nccl")
    # NCCL is built for the same devices, which it wants to be named.
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+nccl", msg="+nccl needs cuda_arch=, such as cuda_arch=90")

    with when("+workflow"):
        depends_on("python@3.11:", type="run")
        depends_on("snakemake@9:", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-jsonschema", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-pandas", type="run")
        depends_on("py-pygments", type="run")
        depends_on("py-requests", type="run")
        # To compare studies; archives want rocrate and bagit too, which pip brings.
        depends_on("py-scipy", type="run")

    def autoreconf(self, spec, prefix):
        which("autoreconf")("-fi")

    def configure_args(self):
        spec = self.spec
        # CC is Spack's compiler in the environment, and would be taken in place of MPICC.
        args = [
            f"CC={spec['mpi'].mpicc}",
            f"MPICC={spec['mpi'].mpicc}",
            f"--with-hdf5={spec['hdf5'].prefix}",
            f"CPPFLAGS=-I{spec['random123'].prefix.include}",
        ]
        if "+cuda" not in spec:
            return [*args, "--without-cuda"]
        args.append(f"--with-cuda={spec['cuda'].prefix}")
        archs = spec.variants["cuda_arch"].value
        if archs != ("none",):
            args.append("--with-cuda-arch=" + ",".join(archs))
        # NCCL is found where Spack's compilers find it, with +nccl alone.
        return args
