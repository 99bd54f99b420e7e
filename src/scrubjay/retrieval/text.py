"""The text of an episode that a search looks through, and the one form in which texts are compared.

Searched are the line of the index, without its hashes, and the part of `episode.json` before its evidence; where they
hold escapes, the strings behind these as well. It knows files of an episode by their layout and nothing of queries.
"""

from __future__ import annotations

import json
import os
import re

from scrubjay.memory.layout import Layout, episode_id
from scrubjay.retrieval.cues import Place

__all__ = ["EVIDENCE", "Texts", "as_text", "fold", "normal", "read_record", "record_path"]

EVIDENCE = b'\n"evidence": '
_CHUNK = 1 << 16
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# Whoever looks for "bed" or "face" means no checksum.
_HASHES = re.compile(rb', "(?:digest|observation_hash)": "[0-9a-f]*"')
_BARE_FILES = ("action.json", "outcome.json", "state/state.json")


def record_path(layout: Layout, number: int) -> str:
    """The file that holds the record of an episode."""
    return f"{layout.bucket(number)}/{episode_id(number)}/{Layout.EPISODE_RECORD}"


def normal(text: str) -> str:
    """The text in Unicode's composed normal form."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """The text as a literal search compares it: whatever its case and its normal form."""
    if text.isascii():
        return text.lower()
    # The i without a dot and the one with two count as an i, as they do for a regular expression that ignores case.
    return normal(text).casefold().replace("ı", "i").replace("i̇", "i")


class Texts:
    """Reads the searched text of episodes. `bare` is true for a folder of format 0."""

    def __init__(self, layout: Layout, *, bare: bool) -> None:
        self._layout = layout
        self._bare = bare

    def of(self, place: Place, descriptor: int) -> str:
        """The searched text of the episode whose line lies at this place of an open index file."""
        return self.parts(place, descriptor)[0]

    def parts(self, place: Place, descriptor: int) -> tuple[str, str]:
        """The searched text, and the part of it that ranking by words weighs.

        That is the text without the line of the index, which says what the record says, where there is a record.
        """
        return as_text(*self.stored(place.number, os.pread(descriptor, place.length, place.offset)))

    def stored(self, number: int, line: bytes, record: bytes | None = None) -> tuple[bytes, bytes]:
        """This line of the index without its hashes, and what the files of its episode hold of the searched text.

        `record` is the content of the record where it has been read already.
        """
        line = line.rstrip(b"\r\n")
        if self._bare:
            files = self._bare_parts(str(json.loads(line).get("path")))
        elif record is None:
            files = [_before_evidence(record_path(self._layout, number))]
        else:
            cut = record.find(EVIDENCE)
            files = [record if cut < 0 else record[:cut]]
        return _HASHES.sub(b"", line), b"\n".join(files) if any(files) else b""

    def _bare_parts(self, path: str) -> list[bytes]:
        names = path.split("/")
        if "\0" in path or any(name in ("", ".", "..") for name in names):
            return []
        return [_before_evidence(self._layout.at(*names, file)) for file in _BARE_FILES]


def as_text(line: bytes, files: bytes) -> tuple[str, str]:
    """The searched text and the weighed part of what is stored of an episode, with what stands behind escapes."""
    text = line.decode(errors="replace")
    weighed = len(text) if files else 0
    text = f"{text}\n{files.decode(errors='replace')}"
    if "\\" in text:
        text = f"{text}\n{_behind_escapes(text)}"
    return text, text[weighed:]


def read_record(layout: Layout, number: int) -> bytes:
    """The whole record of an episode; nothing where there is none."""
    return _read(record_path(layout, number), whole=True)


def _before_evidence(path: str) -> bytes:
    data = _read(path, whole=False)
    cut = data.find(EVIDENCE)
    return data if cut < 0 else data[:cut]


def _read(path: str, *, whole: bool) -> bytes:
    """A file's content; not `whole`: at least as far as its evidence."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        more = data = os.read(descriptor, _CHUNK)
        # A regular file gives less than was asked for only at its end.
        while len(more) == _CHUNK and (whole or EVIDENCE not in data[-_CHUNK - len(EVIDENCE) :]):
            more = os.read(descriptor, _CHUNK)
            data += more
        return data
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _behind_escapes(text: str) -> str:
    strings = []
    for literal in _STRING.findall(text):
        if "\\" in literal:
            try:
                strings.append(json.loads(literal, strict=False))
            except ValueError:
                continue
    return "\n".join(strings).encode(errors="replace").decode()
