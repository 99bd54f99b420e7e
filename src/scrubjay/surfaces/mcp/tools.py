"""The tools that are offered over MCP, in their order, with their parameters and hints.

What a language model is offered inside a harness as well keeps its one description, in `agent.schemas`. It knows what
may be asked for; carrying it out is the business of `reading`, `writing` and `recording`.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.agent.schemas import TOOLS
from scrubjay.memory.jsonio import Json

__all__ = ["OFFERED", "Offered", "offered"]

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_TEXTS: Json = {"type": "array", "items": _TEXT}


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool: `parameters` is a JSON Schema of an object.

    `reads` is true where a call changes no file of the memory (a derived index apart), `destroys` where it may take
    something out of a document (its history keeps it), `repeats` where a second call with the same arguments changes
    nothing more.
    """

    name: str
    title: str
    description: str
    parameters: Json
    reads: bool = True
    destroys: bool = False
    repeats: bool = True


def offered(read_only: bool) -> tuple[Offered, ...]:
    """All tools, or those that only read."""
    return tuple(tool for tool in OFFERED if tool.reads or not read_only)


def _said(schema: Json, description: str) -> Json:
    return {**schema, "description": description}


def _object(properties: Json, *required: str) -> Json:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _shared(name: str, title: str, more: str = "", properties: Json | None = None, **hints: bool) -> Offered:
    """A tool that models know from the harness, where need be with further parameters."""
    tool = TOOLS[name]
    parameters = {**tool.parameters, "properties": {**tool.parameters["properties"], **(properties or {})}}
    return Offered(name, title, " ".join(filter(None, (tool.description, more))), parameters, **hints)


_ASKED = "With a question it returns an id: question and answer are kept when you give that id to answer."
_DOCUMENT: Json = TOOLS["documents"].parameters["properties"]
_PATH = _said(_TEXT, "a document, as notes.md or /memories/notes.md")
_IMAGE: Json = {
    "type": ["string", "object"],
    "description": "base64 of a PNG, JPEG, WebP, GIF or BMP file; several cameras: {camera: base64}",
}

OFFERED = (
    _shared("episodes", "Locate episodes"),
    _shared("look", "Look at a frame", _ASKED),
    _shared("sheet", "See several episodes", _ASKED),
    _shared(
        "then_now",
        "Then beside now",
        _ASKED,
        {"now": _said(_TEXT, "base64 of the current picture, or a reference; else the newest recorded frame")},
    ),
    _shared("compare", "Compare frames", _ASKED),
    _shared("answer", "Answer a question", reads=False, repeats=False),
    Offered(
        "read_documents",
        "Read documents",
        "Read the memory's own documents: notes.md (what is true here), GUIDE.md (what is true in general), working/, "
        "procedures/. Without a path: the list of them.",
        _object({"path": _PATH, "view_range": _said(_DOCUMENT["view_range"], "lines [first, last]; -1 is the end")}),
    ),
    Offered(
        "write_documents",
        "Write documents",
        "Write the memory's own documents: create (path, file_text), str_replace (path, old_str, new_str), insert "
        "(path, insert_line, insert_text), append (path, text). A claim cites its episodes, as [ep_000043], or says "
        "(hypothesis). Every change has a history.",
        _object(
            {
                "command": {"type": "string", "enum": ["create", "str_replace", "insert", "append"]},
                "path": _PATH,
                **{
                    name: _DOCUMENT[name]
                    for name in ("file_text", "old_str", "new_str", "insert_line", "insert_text", "text")
                },
            },
            "command",
            "path",
        ),
        reads=False,
        destroys=True,
        repeats=False,
    ),
    Offered(
        "remove_documents",
        "Delete or rename documents",
        "delete (path) or rename (old_path, new_path) documents and folders of the memory; history keeps them.",
        _object(
            {
                "command": {"type": "string", "enum": ["delete", "rename"]},
                "path": _PATH,
                "old_path": _DOCUMENT["old_path"],
                "new_path": _DOCUMENT["new_path"],
            },
            "command",
        ),
        reads=False,
        destroys=True,
    ),
    Offered(
        "procedures",
        "Procedures",
        "The methods kept in this memory: list them with how their calls went, show one with its code, or see its "
        "runs. They are written as documents: procedures/<name>/SKILL.md and scripts/<name>.py.",
        _object(
            {
                "command": {"type": "string", "enum": ["list", "show", "runs"]},
                "name": _said(_TEXT, "for show, and for the runs of one"),
                "kind": _said({"type": "string", "enum": ["procedure", "reflex"]}, "default procedure"),
                "last": _said(_WHOLE, "the newest N runs (default 20)"),
            },
            "command",
        ),
    ),
    Offered(
        "record",
        "Record what you do",
        "Record an action as an episode. begin: say what you set out to do and what you see; step: after each thing "
        "done, what was done and what you see then; finish: how it ended. begin starts a life where none is given and "
        "returns its number and the episode's id.",
        _object(
            {
                "command": {"type": "string", "enum": ["begin", "step", "finish"]},
                "task": _said(_TEXT, "begin, of a new life: what it is for"),
                "world": _said(_TEXT, "begin, of a new life: the coordinate frame (a map, a seed, an application)"),
                "life": _said(_WHOLE, "begin: go on in this life, which an earlier begin returned"),
                "action": _said(
                    {"type": ["string", "object"]}, "begin: the kind of action, a text; step: what was done"
                ),
                "arguments": _said({"type": "object"}, "begin: of the action"),
                "place": _said(_TEXT, "begin: where you are when there are no coordinates: a window, a document"),
                "plan": _said(_TEXT, "begin: what this is part of"),
                "episode": _said(_TEXT, "step and finish: the id that begin returned"),
                "image": {**_IMAGE, "description": f"begin and step: what is seen now; {_IMAGE['description']}"},
                "state": _said(
                    {"type": "object"},
                    "begin and step: what is known now; pos [x, y, z], health and inventory become cues",
                ),
                "reward": {"type": "number"},
                "terminated": {"type": "boolean"},
                "truncated": {"type": "boolean"},
                "outcome": _said(_TEXT, "finish: success, failure, or another word"),
                "summary": _said(_TEXT, "finish: one line; else derived"),
                "tags": _said(_TEXTS, "finish: else derived"),
                "events": _said(_TEXTS, "finish: what the environment reported"),
                "note": _said(_TEXT, "finish: what to remember of it"),
                "end_life": _said({"type": "boolean"}, "finish: this was the last episode of the life"),
            },
            "command",
        ),
        reads=False,
        repeats=False,
    ),
    Offered(
        "check",
        "Check the memory",
        "Verify every rule that a file can show: digests, index against episodes, citations. Changes nothing; takes "
        "minutes on a large memory.",
        _object({}),
    ),
)
