"""KiCad's schematic editor as an environment, its tasks, and the score of what was drawn.

Reading netlists and scoring need no screen and no Gymnasium; `environment` does.
"""
