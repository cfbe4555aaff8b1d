# lib/store: HDF5 files, their schemas and digests
libhopwave_a_SOURCES += \
  lib/store/attributes.c \
  lib/store/catalogue.c \
  lib/store/column.c \
  lib/store/commit.c \
  lib/store/describe.c lib/store/describe.h \
  lib/store/digest.c \
  lib/store/hdf5.c \
  lib/store/internal.h \
  lib/store/lay.c \
  lib/store/publish.c \
  lib/store/read.c \
  lib/store/run.c \
  lib/store/scan.c \
  lib/store/schema.c \
  lib/store/share.c \
  lib/store/slices.c lib/store/slices.h \
  lib/store/store.h \
  lib/store/write.c
check_PROGRAMS += lib/store/test_store.mt lib/store/make_file
TESTS += lib/store/test_store.mt
lib_store_test_store_mt_SOURCES = lib/store/test_store.c lib/store/test_files.c \
  lib/store/test_files.h
lib_store_test_store_mt_LDADD = $(TAP_LDADD)
lib_store_make_file_SOURCES = lib/store/make_file.c
lib_store_make_file_LDADD = $(LDADD)
check_PROGRAMS += lib/store/test_damage.mt
TESTS += lib/store/test_damage.mt
lib_store_test_damage_mt_SOURCES = lib/store/test_damage.c lib/store/test_files.c \
  lib/store/test_files.h
lib_store_test_damage_mt_LDADD = $(TAP_LDADD)
