"""Experiments: method x model x task x seed, resumable, and what they showed."""
