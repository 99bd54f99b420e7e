"""Lets the KiCad solver decide one turn in a process of its own, which may be another user's: what it can't read, it
can't read. `python decide_alone.py MEMORY PROJECT`, the turn pickled at standard input, the plan at standard output.
"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace

from scrubjay import Memory
from scrubjay.models.scripted.kicad.solver import KiCadSolver

memory, project = sys.argv[1:3]
try:
    os.listdir(project)
except PermissionError:
    pass
else:
    sys.exit(f"{project} can be read")
turn = pickle.load(sys.stdin.buffer)
with Memory.open(memory, read_only=False) as opened:
    plan = KiCadSolver().decide(replace(turn, recall=opened))
sys.stdout.buffer.write(pickle.dumps(plan))
