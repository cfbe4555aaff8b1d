# lib/store: HDF5 files, their schemas and digests
libhopwave_a_SOURCES += \
  lib/store/allocate_datasets.c \
  lib/store/block_distribution.c \
  lib/store/block_distribution.h \
  lib/store/complete_file.c \
  lib/store/describe.c \
  lib/store/describe.h \
  lib/store/hdf5_errors.c \
  lib/store/io_hints.c \
  lib/store/machine_record.c \
  lib/store/read_column.c \
  lib/store/read_converted.c \
  lib/store/read_file.c \
  lib/store/rename_into_place.c \
  lib/store/run_record.c \
  lib/store/store.h \
  lib/store/store_internal.h \
  lib/store/write_file.c
# what a file holds: attributes and datasets
libhopwave_a_SOURCES += \
  lib/store/catalogue/attributes.c \
  lib/store/catalogue/catalogue.c \
  lib/store/catalogue/catalogue_broadcast.c \
  lib/store/catalogue/metadata_scan.c \
  lib/store/catalogue/renamed.c \
  lib/store/catalogue/schema.c
libhopwave_a_SOURCES += \
  lib/store/digest/content_digest.c
check_PROGRAMS += lib/store/test_store.mt
TESTS += lib/store/test_store.mt
lib_store_test_store_mt_SOURCES = lib/store/test_store.c \
  tests/fixtures/store_files.c tests/fixtures/store_files.h
lib_store_test_store_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/store/test_io_hints.mt
TESTS += lib/store/test_io_hints.mt
lib_store_test_io_hints_mt_SOURCES = lib/store/test_io_hints.c \
  tests/fixtures/store_files.c tests/fixtures/store_files.h
lib_store_test_io_hints_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/store/test_damage.mt
TESTS += lib/store/test_damage.mt
lib_store_test_damage_mt_SOURCES = lib/store/test_damage.c \
  tests/fixtures/store_files.c tests/fixtures/store_files.h
lib_store_test_damage_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += tests/faults/make_file
tests_faults_make_file_SOURCES = tests/faults/make_file.c
tests_faults_make_file_LDADD = $(LDADD)
# Failing file systems, for programs of any kind.
check_PROGRAMS += tests/faults/libbroken-disk.so
tests_faults_libbroken_disk_so_SOURCES = tests/faults/broken_disk.c
tests_faults_libbroken_disk_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fPIC
tests_faults_libbroken_disk_so_LDFLAGS = -shared
tests_faults_libbroken_disk_so_LDADD =
