# HW_CHECK_CUDA
# -------------
# --with-cuda=DIR|guess|emulated|no, --with-cuda-arch=LIST, --with-nvshmem=DIR. CUDA 12 or later (the first with the cooperative
# launches and CCCL the kernels use) and, if there, NCCL. Absent, it costs the
# GPU methods alone; asked for by name and absent, it is an error. Sets NVCC,
# CUDA_CFLAGS, CUDA_ARCH_FLAGS, CUDA_LIBS and the conditional HAVE_CUDA; defines HAVE_NCCL
# where its header is. The library itself is looked for when a run asks for it. So is NVSHMEM's, which
# needs no headers: first in the folder that is given, HW_NVSHMEM_DIR. Where that has headers and the
# device library too, kernels put to other nodes: sets NVSHMEM_DIR and the conditional NVSHMEM_DEVICE,
# and defines HW_NVSHMEM_DEVICE.
# With emulated devices (gpu/emulated), for tests alone, kernels are C++ that CXX compiles:
# the conditional EMULATED.
AC_DEFUN([HW_CHECK_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR|guess|emulated|no],
  [CUDA Toolkit 12 or later, or devices emulated on processors, for tests (default: guess)])],
  [], [with_cuda=guess])
AC_ARG_WITH([cuda-arch], [AS_HELP_STRING([--with-cuda-arch=LIST],
  [compute capabilities to compile for, such as 80,90, and PTX of the last (default: 75,80,90: Turing to Hopper)])],
  [], [with_cuda_arch=75,80,90])
AC_ARG_WITH([nvshmem], [AS_HELP_STRING([--with-nvshmem=DIR],
  [NVSHMEM 3, in DIR/lib; looked for by transport nvshmem when it runs (default: where the linker looks); with
   its headers and device library, kernels put to other nodes])],
  [], [with_nvshmem=no])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
hw_cuda=no hw_nccl=no hw_nvshmem_kernels=no CUDA_ARCH_FLAGS=
AS_IF([test "x$with_cuda" = xemulated], [
  AC_CHECK_PROGS([CXX], [g++ clang++])
  AC_CHECK_PROGS([PYTHON3], [python3])
  AS_IF([test -z "$CXX" || test -z "$PYTHON3"], [AC_MSG_ERROR([emulated devices need a C++ compiler and Python])])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int is_one[__x86_64__];]])], [],
    [AC_MSG_ERROR([emulated devices run on x86-64 alone])])
  hw_cuda=emulated
  CUDA_CFLAGS='-isystem $(top_srcdir)/gpu/emulated/include'
  CUDA_LIBS="-lpthread -lstdc++"],
  [test "x$with_cuda" != xno], [
  AS_CASE([$with_cuda],
    [guess|yes], [hw_cuda_path=$PATH:/usr/local/cuda/bin],
    [hw_cuda_path=$with_cuda/bin])
  AC_PATH_PROG([NVCC], [nvcc], [], [$hw_cuda_path])
  AS_IF([test -n "$NVCC"], [
    hw_cuda_dir=`dirname "$NVCC"`/..
    AC_MSG_CHECKING([CUDA version])
    hw_cuda_version=`$NVCC --version | sed -n 's/.*release \(@<:@0-9@:>@*\).*/\1/p'`
    AC_MSG_RESULT([$hw_cuda_version])
    AS_IF([test "${hw_cuda_version:-0}" -ge 12], [
      hw_cuda=yes
      dnl Kernels for several architectures take up to a tenth of the space; older drivers cannot
      dnl read them, but those that CUDA 13 asks for can.
      AS_IF([test -z "$NVCCFLAGS" && test "$hw_cuda_version" -ge 13], [NVCCFLAGS=--compress-mode=size])
      CUDA_CFLAGS="-isystem $hw_cuda_dir/include"
      hw_cuda_arch=
      for hw_arch in `echo "$with_cuda_arch" | tr ',' ' '`; do
        AS_CASE([$hw_arch], [*@<:@!0-9a@:>@*],
          [AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: a list such as 80,90 is wanted])])
        CUDA_ARCH_FLAGS="$CUDA_ARCH_FLAGS -gencode arch=compute_$hw_arch,code=sm_$hw_arch"
        hw_cuda_arch=$hw_arch
      done
      CUDA_ARCH_FLAGS="$CUDA_ARCH_FLAGS -gencode arch=compute_$hw_cuda_arch,code=compute_$hw_cuda_arch"
      CUDA_LIBS="-L$hw_cuda_dir/lib64 -lcudadevrt -lcudart_static -lpthread -ldl -lrt -lstdc++"
      hw_save_CPPFLAGS=$CPPFLAGS
      CPPFLAGS="$CPPFLAGS $CUDA_CFLAGS"
      AC_CHECK_HEADER([nccl.h], [hw_nccl=yes
        AC_DEFINE([HAVE_NCCL], [1], [the header of NCCL is there])])
      CPPFLAGS=$hw_save_CPPFLAGS
    ])])
  AS_IF([test $hw_cuda = no && test "x$with_cuda" != xguess],
    [AC_MSG_ERROR([CUDA 12 or later was asked for by --with-cuda=$with_cuda and not found])])
])
AS_CASE([$with_nvshmem], [no], [], [yes],
  [AC_MSG_ERROR([--with-nvshmem needs a folder: --with-nvshmem=DIR, of DIR/lib/libnvshmem_host.so.3])], [
  AS_IF([test ! -e "$with_nvshmem/lib/libnvshmem_host.so.3"],
    [AC_MSG_ERROR([--with-nvshmem=$with_nvshmem: there is no lib/libnvshmem_host.so.3 in it])])
  AC_DEFINE_UNQUOTED([HW_NVSHMEM_DIR], ["$with_nvshmem"], [where NVSHMEM is])
  AS_IF([test $hw_cuda = yes], [
    AC_MSG_CHECKING([whether kernels can put by NVSHMEM])
    AS_IF([test ! -e "$with_nvshmem/lib/libnvshmem_device.a" ||
           test ! -e "$with_nvshmem/include/nvshmemx.h"],
      [hw_nvshmem_kernels="no: include/nvshmemx.h or lib/libnvshmem_device.a is not there"],
      [grep -q cudaLibraryLoadData "$hw_cuda_dir/include/cuda_runtime_api.h"],
      [hw_nvshmem_kernels=yes
       AC_DEFINE([HW_NVSHMEM_DEVICE], [1], [kernels put by NVSHMEM])],
      [hw_nvshmem_kernels="no: CUDA 12.8 or later is needed"])
    AC_MSG_RESULT([$hw_nvshmem_kernels])])])
AC_SUBST([NVSHMEM_DIR], [$with_nvshmem])
AM_CONDITIONAL([NVSHMEM_DEVICE], [test "$hw_nvshmem_kernels" = yes])
AC_SUBST([CUDA_CFLAGS])
AC_SUBST([CUDA_ARCH_FLAGS])
AC_SUBST([CUDA_LIBS])
AM_CONDITIONAL([HAVE_CUDA], [test $hw_cuda != no])
AM_CONDITIONAL([EMULATED], [test $hw_cuda = emulated])
])
