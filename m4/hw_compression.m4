# HW_CHECK_COMPRESSION
# --------------------
# What hopwave-import reads besides gzip and xz, each if its library is there: bzip2, Zstandard,
# tar archives (libarchive 3). --without-NAME leaves it out, --with-NAME insists.
# Sets hw_bzip2, hw_zstd, hw_libarchive (yes or no), BZIP2_LIBS, ZSTD_CFLAGS, ZSTD_LIBS,
# LIBARCHIVE_CFLAGS, LIBARCHIVE_LIBS.
AC_DEFUN([HW_INSIST],
  [AS_IF([test "x$with_$1" = xyes && test "x$hw_$1" = xno],
    [AC_MSG_ERROR([$1 was asked for and is not there: install $2])])])

AC_DEFUN([HW_CHECK_COMPRESSION], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
AC_ARG_WITH([bzip2], [AS_HELP_STRING([--without-bzip2], [import no files compressed by bzip2])],
  [], [with_bzip2=guess])
AC_ARG_WITH([zstd], [AS_HELP_STRING([--without-zstd], [import no files compressed by Zstandard])],
  [], [with_zstd=guess])
AC_ARG_WITH([libarchive], [AS_HELP_STRING([--without-libarchive], [import no tar archives])],
  [], [with_libarchive=guess])
hw_bzip2=no hw_zstd=no hw_libarchive=no BZIP2_LIBS=
# Not every bzip2 brings a file for pkg-config.
AS_IF([test "x$with_bzip2" != xno],
  [AC_CHECK_HEADER([bzlib.h],
    [AC_CHECK_LIB([bz2], [BZ2_bzDecompressInit], [hw_bzip2=yes BZIP2_LIBS=-lbz2])])])
HW_INSIST([bzip2], [libbz2-dev])
AS_IF([test "x$with_zstd" != xno],
  [PKG_CHECK_MODULES([ZSTD], [libzstd >= 1.4], [hw_zstd=yes], [hw_zstd=no])])
HW_INSIST([zstd], [libzstd-dev])
AS_IF([test "x$with_libarchive" != xno],
  [PKG_CHECK_MODULES([LIBARCHIVE], [libarchive >= 3.2], [hw_libarchive=yes], [hw_libarchive=no])])
HW_INSIST([libarchive], [libarchive-dev])
AS_IF([test $hw_bzip2 = yes], [AC_DEFINE([HAVE_BZIP2], [1], [files compressed by bzip2 are read])])
AS_IF([test $hw_zstd = yes], [AC_DEFINE([HAVE_ZSTD], [1], [files compressed by Zstandard are read])])
AS_IF([test $hw_libarchive = yes], [AC_DEFINE([HAVE_LIBARCHIVE], [1], [tar archives are read])])
AC_SUBST([BZIP2_LIBS])
])
