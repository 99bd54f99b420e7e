"""What an episode's record says beyond what the caller gave: summary, tags, cell events, log lines.

One small module per family of environments; `default` serves all that give the usual keys of a state.
"""

from scrubjay.memory.deriving.continuous import ContinuousDeriver
from scrubjay.memory.deriving.contract import Derived, Deriver, Happened
from scrubjay.memory.deriving.default import DefaultDeriver
from scrubjay.memory.deriving.desktop import DesktopDeriver

__all__ = ["FAMILIES", "ContinuousDeriver", "DefaultDeriver", "Derived", "Deriver", "DesktopDeriver", "Happened"]

# By the name that a life's row keeps, so that recovery derives as the life did.
FAMILIES: dict[str, type[DefaultDeriver]] = {
    "default": DefaultDeriver,
    "continuous": ContinuousDeriver,
    "desktop": DesktopDeriver,
}
