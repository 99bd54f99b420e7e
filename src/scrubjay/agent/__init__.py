"""The loop in which a model lives in an environment and a memory records it."""
