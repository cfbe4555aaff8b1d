# bench
EXTRA_DIST += bench/peers bench/graph500_roots.py
