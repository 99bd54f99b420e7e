"""What a coding agent with a shell is told about a memory: a block of AGENTS.md, and an Agent Skill.

`text` makes both from the commands that there are, `project` puts them into a project's folder and takes them out.
"""

from scrubjay.surfaces.guide.project import Project

__all__ = ["Project"]
