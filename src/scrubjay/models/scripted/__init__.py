"""Players that follow rules instead of asking a model, one per environment; called scripted wherever they show."""
