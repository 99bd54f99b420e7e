"""A memory as tools of other people's agent frameworks: one small file for each."""
