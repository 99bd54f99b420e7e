"""The tools of the model as JSON Schemas: names, descriptions and parameters, in one table.

It knows what a model may ask for; carrying it out is the toolbox's business. The parameters of `episodes` are the
conditions of `Query`: a test compares them.
"""

from __future__ import annotations

from typing import Any

from scrubjay.memory.jsonio import Json
from scrubjay.models.chat import Tool

__all__ = ["ACT", "QUERY_PARAMETERS", "TOOLS"]

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_NUMBER: Json = {"type": "number"}
_PAIR: Json = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
_REFERENCE: Json = {"type": "string", "description": "ep_000043, or ep_000043#2350 for a step of it"}
_QUESTION: Json = {"type": "string", "description": "the question this look is to answer; it is kept"}


def _described(schema: Json, description: str) -> Json:
    return {**schema, "description": description}


QUERY_PARAMETERS: Json = {
    "last": _described(_WHOLE, "the newest N of what matches"),
    "steps": _described({**_PAIR, "items": {"type": "integer"}}, "steps overlap [a, b]"),
    "near": _described(_PAIR, "started within radius of this point on the ground"),
    "through": _described(_PAIR, "walked the cell of this point, or any that radius reaches"),
    "radius": _described(_NUMBER, "for near (default 6) and through"),
    "below": _described(_NUMBER, "started at this height or lower"),
    "above": _described(_NUMBER, "started at this height or higher"),
    "place": _described(_TEXT, "exactly this place: a window, a document, a room, a level"),
    "since": _described(_TEXT, "ran at or after this ISO time"),
    "until": _described(_TEXT, "ran at or before this ISO time"),
    "tag": _described({"type": "array", "items": _TEXT}, "has all of these tags"),
    "action": _described(_TEXT, "exactly this kind of action"),
    "grep": _described(_TEXT, "literal text in row, action, outcome or state, whatever its case"),
    "regex": _described(_TEXT, "a regular expression in the same text"),
    "match": _described(_TEXT, "words, best first"),
    "life": _described({"type": ["integer", "string"]}, "a life's number, or all; else the present one"),
    "previous": _described({"type": "boolean"}, "the lives before the present one"),
    "world": _described(_TEXT, "rows of this world"),
    "limit": _described(_WHOLE, "at most so many rows"),
    "after": _described(_TEXT, "go on after this episode"),
}


def _object(properties: Json, *required: str) -> Json:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_COMMANDS = ("view", "create", "str_replace", "insert", "append", "delete", "rename", "history", "undo")

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "episodes",
            "Locate recorded episodes by cues: when, where, what. All conditions must hold; rows in order of time.",
            _object(QUERY_PARAMETERS),
        ),
        Tool(
            "look",
            "See the stored frame of an episode's start or of a step; zoom [x, y, width, height] enlarges a region.",
            _object(
                {
                    "reference": _REFERENCE,
                    "zoom": {"type": "array", "items": _WHOLE, "minItems": 4, "maxItems": 4},
                    "camera": _TEXT,
                    "question": _QUESTION,
                },
                "reference",
            ),
        ),
        Tool(
            "sheet",
            "See the start frames of several episodes in one labelled picture.",
            _object({"references": {"type": "array", "items": _REFERENCE}, "question": _QUESTION}, "references"),
        ),
        Tool(
            "then_now",
            "See a remembered frame beside the current one.",
            _object({"reference": _REFERENCE, "question": _QUESTION}, "reference"),
        ),
        Tool(
            "compare",
            "See two to sixteen stored frames side by side.",
            _object({"references": {"type": "array", "items": _REFERENCE}, "question": _QUESTION}, "references"),
        ),
        Tool(
            "answer",
            "Store your answer to a question that a look asked (its id, such as q_000012).",
            _object({"id": _TEXT, "text": _TEXT}, "id", "text"),
        ),
        Tool(
            "documents",
            "Your own documents under /memories: notes.md, GUIDE.md, working/, procedures/. Cite as [ep_000043].",
            _object(
                {
                    "command": {"type": "string", "enum": list(_COMMANDS)},
                    "path": _TEXT,
                    "file_text": _TEXT,
                    "old_str": _TEXT,
                    "new_str": _TEXT,
                    "insert_line": _WHOLE,
                    "insert_text": _TEXT,
                    "text": _described(_TEXT, "what append adds"),
                    "old_path": _TEXT,
                    "new_path": _TEXT,
                    "view_range": {"type": "array", "items": _WHOLE, "minItems": 2, "maxItems": 2},
                },
                "command",
            ),
        ),
    )
}

_ENTRY: dict[str, Any] = _object(
    {
        "action": _described(_TEXT, "a raw action, an atom or one of your procedures"),
        "arguments": {"type": "object", "description": "for an atom or a procedure"},
        "repeat": _described(_WHOLE, "how often a raw action is taken (default 1)"),
    },
    "action",
)
ACT = Tool(
    "act",
    "Hand in your plan: it is executed entry by entry, one episode each, and ends your turn. The rest is dropped when "
    "an entry fails, a milestone is reached, you are hurt or a reflex says stop. At most 400 steps.",
    _object(
        {
            "plan": {"type": "array", "items": _ENTRY, "minItems": 1},
            "intention": _described(
                _TEXT,
                "what the plan is for, in a few words; it may predict the state it ends in, as "
                'expect: {"health": ">= 5", "inventory.wood": 3}',
            ),
        },
        "plan",
    ),
)
