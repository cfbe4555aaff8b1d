# lib/verify
