"""What whoever uses a desktop is told, and the actions that need no arguments."""

from __future__ import annotations

__all__ = ["ACTIONS", "RULES"]

ACTIONS = ("screenshot", "done")
RULES = """\
You use a desktop by mouse and keyboard and see it only by screenshots. Coordinates run from 0 to 1000 over the width
and the height of the screen. Rules that save you trouble:
- Before you type, see that the field you mean has the focus.
- Never put input into the same plan as the action that opens the dialog it is meant for: look first.
- Look before you press Return: it may mean another button than you think.
- After you save, see it in the title bar.
- An action that says success may have changed nothing: believe the screen.
- Where the screen did not change, don't do the same again: change the approach.
- Once the task is durably done, stop: take the action done."""
