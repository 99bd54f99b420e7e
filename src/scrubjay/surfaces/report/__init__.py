"""One page about a memory that opens from disk: what was reached, how it looked back, where it was, what it weighs."""
