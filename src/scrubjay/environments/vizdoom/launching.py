"""Where a game's process runs: in a temporary folder of its own, and never longer than the process that started it.

The program, as installed, makes `_vizdoom` in the current folder, and lives on where its owner was killed. So it is
started by a script that changes folder first and leaves a watcher behind, which waits on a pipe that only the owner
holds open. Ctrl-C in a terminal reaches all its processes: the game lets it pass, and the owner decides. It knows
processes and files, not the game.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress

__all__ = ["Launch"]

_SCRIPT = """#!/bin/sh
trap '' INT
cd "$(dirname "$0")" || exit 1
for word; do
    [ "$before" = +viz_instance_id ] && id="$word"
    before="$word"
done
(read -r word < owner || {{ kill -9 $$; rm -f /dev/shm/ViZDoom*"${{id:-none}}"; rm -rf "$PWD"; }}) &
exec "{program}" "$@"
"""


class Launch:
    """A temporary folder with the script `program` that starts the game, and its settings file `settings`."""

    def __init__(self, program: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="scrubjay-vizdoom-")
        self.program = os.path.join(self.folder, "game.sh")
        self.settings = os.path.join(self.folder, "settings.ini")
        with open(self.program, "w") as script:
            script.write(_SCRIPT.format(program=program))
        os.chmod(self.program, 0o700)
        owner = os.path.join(self.folder, "owner")
        os.mkfifo(owner, 0o600)
        self._owner: int | None = os.open(owner, os.O_RDWR)

    def release(self) -> None:
        """Sends the watcher home; to be called before the game is ended."""
        if self._owner is not None:
            os.write(self._owner, b"done\n")

    def remove(self) -> None:
        """Removes the folder, once the game has ended. A second call does nothing."""
        owner, self._owner = self._owner, None
        if owner is not None:
            with suppress(OSError):
                os.close(owner)
            shutil.rmtree(self.folder, ignore_errors=True)
