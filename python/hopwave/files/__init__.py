"""The reader of Hopwave's files, after doc/file-formats.md."""
