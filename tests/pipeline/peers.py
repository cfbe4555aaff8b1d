"""Runs bench/peers-cpu or bench/peers-gpu with stand-ins in place of programs of others.

peers.py BENCH PROGRAM ARGUMENT...: PROGRAM is peers-cpu or peers-gpu; Hopwave's part of either runs
on CPUs.
"""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader

bench, program, *arguments = sys.argv[1:]
sys.path.insert(0, bench)
loader = SourceFileLoader("compared", f"{bench}/{program}")
spec = importlib.util.spec_from_loader("compared", loader)
assert spec
module = importlib.util.module_from_spec(spec)
loader.exec_module(module)
sys.argv = [program, *arguments]
sys.exit(module.compare(program, module.__doc__, module.PEERS, "cpu", "1x1"))
