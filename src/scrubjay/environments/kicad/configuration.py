"""What KiCad finds in a fresh home, so that it opens without a question: settings, and tables of libraries.

It knows KiCad's files of settings; it starts nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from scrubjay.errors import InvalidInput

__all__ = ["LIBRARIES", "configure", "kicad_version"]

# Those that the public tasks use. With all 223 the first symbol takes 29 s to place, with these 6.
LIBRARIES = (
    "Amplifier_Operational", "Connector", "Connector_Audio", "Connector_Generic", "Converter_DCDC", "Device", "Diode",
    "Isolator", "LED", "Mechanical", "Motor", "Reference_Voltage", "Regulator_Linear", "Regulator_Switching",
    "Simulation_SPICE", "Switch", "Timer", "Transistor_BJT", "power",
)  # fmt: skip
_SYMBOLS = ("/usr/share/kicad/symbols", "/usr/local/share/kicad/symbols")
_OLDEST = 9
_COMMON = {
    "meta": {"filename": "kicad_common.json", "version": 3},
    "appearance": {"icon_theme": 0, "show_scrollbars": False, "use_icons_in_menus": False},
    "auto_backup": {"enabled": False},
    "do_not_show_again": {
        "data_collection_prompt": True,
        "env_var_overwrite_warning": True,
        "scaled_3d_models_warning": True,
        "update_check_prompt": True,
        "zone_fill_warning": True,
    },
    "environment": {"vars": None},
    # Nothing may move by itself: no panning at the edge, no centring, no pointer that jumps.
    "input": {"auto_pan": False, "center_on_zoom": False, "immediate_actions": True, "warp_mouse_on_move": False},
    "session": {"remember_open_files": False},
    "system": {"autosave_interval": 0},
}


def kicad_version() -> str:
    """Such as `9.0`. Raises InvalidInput where there is no KiCad or an older one than 9."""
    program = shutil.which("kicad-cli")
    where = "on Debian 12: apt-get install -t bookworm-backports --no-install-recommends kicad kicad-symbols"
    if program is None or shutil.which("eeschema") is None:
        raise InvalidInput(f"KiCad {_OLDEST} was not found (kicad-cli and eeschema); {where}")
    try:
        said = subprocess.run([program, "version"], capture_output=True, text=True, timeout=60).stdout.strip()
    except subprocess.TimeoutExpired:
        raise InvalidInput("kicad-cli did not say its version within 60 s") from None
    found = re.match(r"(\d+)\.(\d+)", said)
    if found is None or int(found[1]) < _OLDEST:
        raise InvalidInput(f"KiCad {_OLDEST} is needed, {said[:40] or 'another program'} was found; {where}")
    return f"{found[1]}.{found[2]}"


def configure(folder: Path, version: str) -> None:
    """Writes settings into `<folder>/kicad/<version>`. Raises InvalidInput where the symbols are not installed."""
    symbols = _symbols()
    target = folder / "kicad" / version
    target.mkdir(parents=True)
    (target / "kicad_common.json").write_text(json.dumps(_COMMON, indent=1))
    (target / "eeschema.json").write_text(json.dumps(_EDITOR, indent=1))
    rows = "".join(
        f'  (lib (name "{name}")(type "KiCad")(uri "{symbols / name}.kicad_sym")(options "")(descr ""))\n'
        for name in LIBRARIES
        if (symbols / f"{name}.kicad_sym").is_file()
    )
    (target / "sym-lib-table").write_text(f"(sym_lib_table\n  (version 7)\n{rows})\n")
    (target / "fp-lib-table").write_text("(fp_lib_table\n  (version 7)\n)\n")
    (target / "design-block-lib-table").write_text("(design_block_lib_table\n  (version 7)\n)\n")


_EDITOR = {
    "meta": {"filename": "eeschema.json", "version": 3},
    "window": {"maximized": True, "pos_x": 0, "pos_y": 0, "size_x": 1280, "size_y": 780},
}


def _symbols() -> Path:
    named = [value for name, value in os.environ.items() if re.fullmatch(r"KICAD\d+_SYMBOL_DIR", name)]
    for folder in (*named, *_SYMBOLS):
        if (Path(folder) / "Device.kicad_sym").is_file():
            return Path(folder)
    raise InvalidInput(f"KiCad's symbols were not found in {' or '.join(_SYMBOLS)}; on Debian: kicad-symbols")
