"""The head of a Markdown file: a strict part of YAML that every YAML reader understands the same way.

A key and a text a line, and one level of `metadata`. It knows no files; `shown` is what errors call the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from scrubjay.errors import InvalidInput

__all__ = ["FrontMatter", "edited", "parse", "render"]

METADATA = "metadata"
_MAX_LINES = 200
_MAX_LINE = 4000
_KEY = re.compile(r"( *)([A-Za-z][A-Za-z0-9_-]{0,63}):(?: (.*))?")
# What plain text may not begin with, because YAML gives it a meaning.
_INDICATORS = frozenset("[]{}&*!|>%@`,?:-#\"'")
_PLAIN = re.compile(r"[A-Za-z0-9]([ -~]*[!-9;-~])?")
_TYPED = re.compile(r"(?i:true|false|yes|no|on|off|null|~)|[-+.]?[0-9].*")
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head's fields, its metadata, and the text below it. All values are text."""

    fields: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    body: str = ""


def parse(text: str, shown: str) -> FrontMatter:
    """Reads a text that begins with a head. Raises InvalidInput, naming the line, for all that is not as expected."""
    lines = text.split("\n")
    if lines[0].rstrip("\r") != "---":
        raise InvalidInput(f"{shown}, line 1: a file like this begins with a line ---, then name: and description:")
    found = FrontMatter()
    block: dict[str, str] | None = None
    for number, line in enumerate(lines[1 : _MAX_LINES + 1], 2):
        line = line.rstrip("\r").rstrip(" ")
        if line == "---":
            return FrontMatter(found.fields, found.metadata, "\n".join(lines[number:]).lstrip("\n"))
        if line.strip() and not line.lstrip().startswith("#"):
            block = _take(found, block, line, f"{shown}, line {number}")
    where = f"within {_MAX_LINES} lines" if len(lines) > _MAX_LINES else "at its end"
    raise InvalidInput(f"{shown}, line {min(len(lines), _MAX_LINES + 1)}: the head has no closing line --- {where}")


def _take(found: FrontMatter, block: dict[str, str] | None, line: str, where: str) -> dict[str, str] | None:
    """Takes one line; the metadata that following indented lines belong to, or None."""
    if len(line) > _MAX_LINE:
        raise InvalidInput(f"{where}: {len(line)} characters; at most {_MAX_LINE} are read")
    invisible = _INVISIBLE.search(line)
    if invisible is not None:
        raise InvalidInput(f"{where}: it holds the invisible character {invisible[0]!r}")
    match = _KEY.fullmatch(line)
    if match is None:
        raise InvalidInput(f"{where}: `key: text` was expected, found {line[:60]!r}")
    indent, key, value = len(match[1]), match[2], (match[3] or "").strip(" ")
    if indent and (block is None or indent not in (2, 4)):
        raise InvalidInput(f"{where}: only what stands under metadata: is indented, by two spaces")
    owner = block if indent and block is not None else found.fields
    if key in owner or (not indent and key == METADATA and block is not None):
        raise InvalidInput(f"{where}: {key} is there twice")
    if not indent and key == METADATA:
        if value and not value.startswith("#"):
            raise InvalidInput(f"{where}: metadata has its own keys on lines below it, indented by two spaces")
        return found.metadata
    owner[key] = _value(value, where)
    return block if indent else None


def _value(written: str, where: str) -> str:
    if written.startswith('"'):
        try:
            value, end = json.JSONDecoder().raw_decode(written)
        except ValueError as error:
            raise InvalidInput(
                f"{where}: the double quotes are not closed, or hold a broken escape ({error})"
            ) from None
        return _alone(str(value), written[end:], where)
    if written.startswith("'"):
        match = re.match(r"'((?:[^']|'')*)'", written)
        if match is None:
            raise InvalidInput(f"{where}: the single quotes are not closed")
        return _alone(match[1].replace("''", "'"), written[match.end() :], where)
    plain, _, _ = written.partition(" #")
    if plain.startswith("#"):
        return ""
    if (plain[:1] in _INDICATORS and plain) or ": " in plain or plain.endswith(":"):
        raise InvalidInput(f"{where}: YAML gives {plain[:40]!r} a meaning of its own: put the text in double quotes")
    return plain.rstrip(" ")


def _alone(value: str, rest: str, where: str) -> str:
    if rest.strip() and not re.match(r" +#", rest):
        raise InvalidInput(f"{where}: there is more behind the closing quote: {rest.strip()[:40]!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{where}: the text is no valid Unicode") from None
    return value


def edited(text: str, shown: str, fields: dict[str, str], metadata: dict[str, str]) -> str:
    """`text` with these values of its head set, or gone where they are empty; every other line stays as it is.

    Raises InvalidInput as `parse` does.
    """
    parse(text, shown)
    lines = text.split("\n")
    end = next(at for at, line in enumerate(lines[1:], 1) if line.rstrip("\r").rstrip(" ") == "---")
    head = lines[1:end]
    for key, value in fields.items():
        _set(head, key, value, is_nested=False)
    for key, value in metadata.items():
        _set(head, key, value, is_nested=True)
    return "\n".join([lines[0], *head, *lines[end:]])


def _set(head: list[str], key: str, value: str, is_nested: bool) -> None:
    keys = {at: match for at, line in enumerate(head) if (match := _KEY.fullmatch(line.rstrip("\r").rstrip(" ")))}
    nested = [at for at, match in keys.items() if match[1]]
    indent = (keys[nested[0]][1] if nested else "  ") if is_nested else ""
    line = f"{indent}{key}: {_written(value, quoted=is_nested)}"
    at = next((at for at, match in keys.items() if match[2] == key and bool(match[1]) == is_nested), None)
    if at is not None:
        head[at : at + 1] = [line] if value else []
    elif value and not is_nested:
        head.append(line)
    elif value:
        above = next((at for at, match in keys.items() if match[2] == METADATA and not match[1]), None)
        if above is None:
            head += [f"{METADATA}:", line]
        else:
            head.insert(max([above, *nested]) + 1, line)


def render(head: FrontMatter) -> str:
    """The text that `parse` reads back as `head`."""
    lines = ["---", *(f"{key}: {_written(value)}" for key, value in head.fields.items())]
    if head.metadata:
        lines += [f"{METADATA}:", *(f"  {key}: {_written(value, quoted=True)}" for key, value in head.metadata.items())]
    return "\n".join([*lines, "---", "", ""]) + head.body.lstrip("\n")


def _written(value: str, quoted: bool = False) -> str:
    """Plain where every reader takes it for the same text, else in double quotes."""
    if not quoted and _PLAIN.fullmatch(value) and not (": " in value or " #" in value or _TYPED.fullmatch(value)):
        return value
    # Invisible characters as escapes: lines stay lines, and a person sees what is there.
    return _INVISIBLE.sub(lambda one: f"\\u{ord(one[0]):04x}", json.dumps(value, ensure_ascii=False))
