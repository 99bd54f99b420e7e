"""Which paths an agent may give for its documents: names inside `mine/`, the same on every system.

A document's path is relative to `mine/`, with slashes, in Unicode's normal form C. It knows names and, in `locate`,
folders and links on the way; it opens no file.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata

from scrubjay.errors import InvalidInput

__all__ = ["document_path", "given_path", "locate", "locate_new", "why_refused"]

_MAX_PART = 200  # bytes; file systems end at 255
_MAX_PATH = 800
_FORBIDDEN = frozenset('<>:"|?*\\')
_ENCODED = re.compile(r"%[0-9a-fA-F]{2}")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
# Embeddings, overrides and isolates of writing direction make a name look like another one.
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def document_path(path: str) -> str:
    """`path` in the form that is stored. Raises InvalidInput, saying why, for what is not inside `mine/`."""
    if not isinstance(path, str):
        raise InvalidInput(f"a path is text, not {type(path).__name__}")
    normal = unicodedata.normalize("NFC", path)
    for part in normal.split("/"):
        reason = why_refused(part)
        if reason is not None:
            raise InvalidInput(f"{_shown(path)}: {reason}; a document's path looks like notes.md or working/0001.md")
    if len(normal.encode()) > _MAX_PATH:
        raise InvalidInput(f"{_shown(path)}: longer than {_MAX_PATH} bytes")
    return normal


def given_path(path: str) -> str:
    """The document's path in what an agent or a person writes: `/memories/a.md`, `mine/a.md` and `a.md` are `a.md`.

    The folder `mine/` itself is the empty text. Raises InvalidInput as `document_path` does.
    """
    if not isinstance(path, str):
        raise InvalidInput(f"a path is text, not {type(path).__name__}")
    for prefix in ("/memories", "mine", "./mine"):
        if path == prefix or path.startswith(prefix + "/"):
            path = path[len(prefix) :].lstrip("/")
            break
    path = path.rstrip("/") if path.strip("/") else path
    return document_path(path) if path else ""


def why_refused(part: str) -> str | None:
    """What is wrong with one part of a path, or None where nothing is."""
    if not part:
        return "it has an empty part (an absolute path, or two slashes)"
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        return "it is no valid Unicode"
    if size > _MAX_PART:
        return f"a part of it is longer than {_MAX_PART} bytes"
    if unicodedata.normalize("NFC", part) != part:
        return "it is not in Unicode's normal form C"
    # Some systems and tools fold compatibility forms: a full-width dot or slash must not become a real one there.
    return _why_refused_as_written(part) or _why_refused_as_written(unicodedata.normalize("NFKC", part))


def _why_refused_as_written(part: str) -> str | None:
    if "/" in part:
        return "it holds a slash in disguise"
    if part.startswith("."):
        return "a part of it begins with a dot"
    if part != part.strip() or part.endswith("."):
        return "a part of it begins or ends with a space, or ends with a dot"
    if _ENCODED.search(part):
        return "it holds a percent-encoded character"
    for character in part:
        if character in _FORBIDDEN:
            return f"it holds {character!r}, which not every system can store"
        if character in _DIRECTION or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            return f"it holds the invisible character {character!r}"
    if _DEVICE.fullmatch(part.split(".")[0].strip()):
        return "a part of it is the name of a device on Windows"
    return None


def locate(folder: str, path: str) -> str:
    """The absolute path of a document, after a look at what lies on the way.

    Raises InvalidInput where `folder` itself or a part of `path` is a symbolic link.
    """
    _last_on_the_way(folder, path)
    return os.path.join(folder, path) if path else folder


def locate_new(folder: str, path: str) -> str:
    """As `locate`, for what shall come to be there. Raises InvalidInput also where a part on the way is a file."""
    found, mode = _last_on_the_way(folder, path)
    if found != path and not stat.S_ISDIR(mode):
        raise InvalidInput(f"{_shown(path)}: mine/{found} is a file, not a folder")
    return os.path.join(folder, path)


def _last_on_the_way(folder: str, path: str) -> tuple[str, int]:
    """How much of `path` is there, and the mode of the last part of that."""
    at, mode = "", stat.S_IFDIR
    for part in ["", *(document_path(path).split("/") if path else [])]:
        inner = f"{at}/{part}" if at else part
        try:
            found = os.lstat(os.path.join(folder, inner) if inner else folder).st_mode
        except (FileNotFoundError, NotADirectoryError):
            break
        if stat.S_ISLNK(found):
            raise InvalidInput(f"{_shown(path)}: {f'mine/{inner}' if inner else 'mine'} is a symbolic link")
        at, mode = inner, found
    return at, mode


def _shown(path: str) -> str:
    return repr(path) if len(path) <= 100 else f"{path[:100]!r}…"
