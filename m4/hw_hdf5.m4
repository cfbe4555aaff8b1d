# HW_CHECK_HDF5
# -------------
# HDF5 1.10 or later, parallel or not: the first that links of --with-hdf5=DIR, pkg-config
# (builds for our MPI and serial ones first), and plain -lhdf5 as a module file sets it
# up. A parallel one must be of our MPI. 1.10 is the first whose V110 files we write.
# Sets HDF5_CFLAGS, HDF5_LIBS and hw_hdf5_kind.
AC_DEFUN([HW_TRY_HDF5], [
AS_IF([test "x$hw_hdf5" = xno], [
  hw_save_CPPFLAGS=$CPPFLAGS hw_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $1" LIBS="$2 $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <hdf5.h>
#include <mpi.h>
#if !H5_VERSION_GE(1, 10, 0)
#error too old
#endif
]], [[
#ifdef H5_HAVE_PARALLEL
if (H5Pset_fapl_mpio(0, MPI_COMM_WORLD, MPI_INFO_NULL) < 0)
    return 1;
#endif
return H5open() < 0;]])],
    [hw_hdf5="$3" HDF5_CFLAGS="$1" HDF5_LIBS="$2"
     AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
#include <hdf5.h>
#ifndef H5_HAVE_PARALLEL
#error serial
#endif
]])], [hw_hdf5_kind=parallel], [hw_hdf5_kind=serial])])
  CPPFLAGS=$hw_save_CPPFLAGS LIBS=$hw_save_LIBS
])])

AC_DEFUN([HW_CHECK_HDF5], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
AC_ARG_WITH([hdf5], [AS_HELP_STRING([--with-hdf5=DIR], [HDF5 installed in DIR])],
  [], [with_hdf5=guess])
AC_MSG_CHECKING([for HDF5 1.10 or later])
hw_hdf5=no hw_hdf5_kind= HDF5_CFLAGS= HDF5_LIBS=
AS_IF([test "x$with_hdf5" != xguess && test "x$with_hdf5" != xyes],
  [HW_TRY_HDF5([-I$with_hdf5/include], [-L$with_hdf5/lib -Wl,-rpath,$with_hdf5/lib -lhdf5], [$with_hdf5])],
  [AS_CASE([$MPICC], [*openmpi*], [hw_flavours="hdf5-openmpi"], [hw_flavours="hdf5-mpich"])
   for hw_module in $hw_flavours hdf5-mpi hdf5-serial hdf5; do
     AS_IF([$PKG_CONFIG --exists $hw_module 2>/dev/null],
       [hw_c=`$PKG_CONFIG --cflags $hw_module` hw_l=`$PKG_CONFIG --libs $hw_module`
        HW_TRY_HDF5([$hw_c], [$hw_l], [$hw_module])])
   done
   HW_TRY_HDF5([], [-lhdf5], [-lhdf5])])
AS_IF([test "x$hw_hdf5" = xno], [AC_MSG_RESULT([no])], [AC_MSG_RESULT([$hw_hdf5 ($hw_hdf5_kind)])])
AS_IF([test "x$hw_hdf5" = xno],
  [AC_MSG_ERROR([HDF5 1.10 or later is needed, and a parallel one only if it was built with this MPI: install libhdf5-dev or libhdf5-mpich-dev, load a module, or give --with-hdf5=DIR])])
AC_SUBST([HDF5_CFLAGS])
AC_SUBST([HDF5_LIBS])
])
