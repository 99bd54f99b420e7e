"""Runs what an agent wrote, against atoms and within budgets; nothing else of the machine can be reached from it."""
