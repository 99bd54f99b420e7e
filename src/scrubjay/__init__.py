"""scrubjay."""
