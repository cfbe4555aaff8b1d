# HW_GIVEN_NAME(VARIABLE)
# -----------------------
# Looks for what the user gave alone; AC_PATH_PROGS takes only full paths for given.
AC_DEFUN([HW_GIVEN_NAME], [
AS_CASE([$$1], [""|/*], [], [hw_names=$$1 $1=])
])

# HW_PROG_MPICC
# -------------
# Chooses the MPI compiler wrapper as CC (unless CC or MPICC is given) and the
# launcher MPIEXEC that belongs to it. Must come before AC_PROG_CC. MPICH's
# suffixed names go first, because a machine that has several MPIs often
# points the plain names at another one.
AC_DEFUN([HW_PROG_MPICC], [
AC_ARG_VAR([MPICC], [MPI C compiler wrapper])
AC_ARG_VAR([MPIEXEC], [MPI launcher used by the tests and the workflow])
hw_names="mpicc.mpich mpicc mpicc.openmpi cc"
HW_GIVEN_NAME([MPICC])
AC_PATH_PROGS([MPICC], [$hw_names])
AS_CASE([$MPICC],
  [*.mpich], [hw_names="mpiexec.mpich mpiexec"],
  [*.openmpi], [hw_names="mpiexec.openmpi mpiexec"],
  [hw_names="mpiexec mpirun"])
HW_GIVEN_NAME([MPIEXEC])
AC_PATH_PROGS([MPIEXEC], [$hw_names])
AS_IF([test -z "$CC"], [CC=$MPICC hw_given_cc=], [hw_given_cc="; CC=$CC is taken in place of MPICC"])
])

# HW_CHECK_MPI
# ------------
# Fails unless an MPI 3.1 program links. Defines HAVE_MPI_LARGE_COUNT where the
# MPI-4 large-count calls (MPI_Alltoallv_c and the rest) exist; without them
# messages are split.
AC_DEFUN([HW_CHECK_MPI], [
AC_MSG_CHECKING([for MPI 3.1 or later])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#if MPI_VERSION < 3 || (MPI_VERSION == 3 && MPI_SUBVERSION < 1)
#error MPI 3.1 is needed
#endif
]], [[MPI_Init(0, 0); MPI_Finalize();]])],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([MPI 3.1 or later is needed: install mpich and libmpich-dev, load a module that has mpicc, or set MPICC$hw_given_cc])])
AC_MSG_CHECKING([for the large-count calls of MPI 4])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
  [[MPI_Count c[1] = {0}; MPI_Aint d[1] = {0};
    MPI_Alltoallv_c(0, c, d, MPI_BYTE, 0, c, d, MPI_BYTE, MPI_COMM_WORLD);]])],
  [AC_MSG_RESULT([yes])
   hw_large_count=yes
   AC_DEFINE([HAVE_MPI_LARGE_COUNT], [1], [MPI has the large-count calls of MPI 4])],
  [AC_MSG_RESULT([no])
   hw_large_count="no (messages are split)"])
])
