"""Ways to remember, one file each: what a model gets of the memory, and what goes on to its next life."""
