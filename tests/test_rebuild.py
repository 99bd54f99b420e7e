"""Building the derived index anew needs nothing but the files: no picture is opened."""

from __future__ import annotations

import os
import subprocess
import sys

from scrubjay import Memory


def test_a_rebuild_decodes_no_picture(lived: Memory) -> None:
    """Given Pillow out of reach: the derived index is built all the same, screens and descriptors in it."""
    code = (
        "import sys; sys.modules['PIL'] = None; "
        "from scrubjay.retrieval.build import bring_up_to_date; bring_up_to_date(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, lived.root], check=True)
    assert any(name.startswith("index-") for name in os.listdir(lived.layout.cache))
