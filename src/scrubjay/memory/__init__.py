"""The files of a memory: layout, records, journals, frames, episodes, index, grid, documents, lives, check."""
