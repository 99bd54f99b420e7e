"""Locating episodes by cues and inspecting their evidence."""
