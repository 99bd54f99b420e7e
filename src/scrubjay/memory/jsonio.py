"""Strict JSON for records: what is written any parser reads, and what is read is an object.

NaN and infinity are not JSON. `clean` turns them into null and says in which fields they stood.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.errors import InvalidInput

__all__ = ["Json", "clean", "dumps", "loads_object"]

Json = dict[str, Any]

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=True)
_MAX_DEPTH = 200
_MAX_BITS = 4096  # more than anybody measures, fewer than Python writes as text (4,300 digits)


def dumps(value: Any) -> bytes:
    """One line of UTF-8 JSON without a newline.

    Raises InvalidInput where `value` holds what JSON can't: NaN, infinity, a set, an object. Call `clean` first
    on what comes from an environment.
    """
    try:
        text: str = _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate (a file name, a broken chat line) has no UTF-8 form; its escape is still valid JSON.
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode()


def loads_object(line: bytes) -> Json:
    """The object on this line. Raises ValueError where the line is not UTF-8, not JSON or not an object."""
    text = line.decode()
    try:
        # What `decode` does besides, looking for space around the value, costs a fifth of it.
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    if end < 0 or (end < len(text) and text[end:] != "\n"):
        value = _decoder.decode(text)
    if not isinstance(value, dict):
        raise ValueError(f"an object was expected, found {type(value).__name__}")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)
_scan = _decoder.scan_once  # type: ignore[attr-defined]


def clean(value: Any) -> tuple[Any, list[str]]:
    """A copy of `value` that JSON can hold, and the paths (`pos[1]`) of what was not finite in it.

    Mappings become objects with string keys, sequences and arrays lists, NumPy scalars numbers; NaN and the
    infinities become null. Raises InvalidInput, naming the field, for anything else.
    """
    bad: list[str] = []
    return _clean(value, "", bad, 0), bad


def _clean(value: Any, path: str, bad: list[str], depth: int) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return str(value) if type(value) not in (type(None), bool, str) else value
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise InvalidInput(f"{path or 'the value'}: a number of {value.bit_length()} bits can't be stored as JSON")
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        bad.append(path or "(value)")
        return None
    if depth > _MAX_DEPTH:
        raise InvalidInput(f"{path[:80]}…: nested more than {_MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        return {_key(k, path): _clean(v, f"{path}.{k}" if path else str(k), bad, depth + 1) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_clean(v, f"{path}[{i}]", bad, depth + 1) for i, v in enumerate(value)]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, without importing it
        return _clean(value.tolist(), path, bad, depth + 1)
    raise InvalidInput(f"{path or 'the value'}: {type(value).__name__} can't be stored as JSON")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, (bool, int, float)):
        return str(key)
    raise InvalidInput(f"{path or 'the value'}: a key of type {type(key).__name__} can't be stored as JSON")
