"""The tool with which a language model searches the log as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrubjay.agent.toolbox import OwnTool
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.methods.log_search import Section, matching_sections
from scrubjay.models.chat import Tool
from scrubjay.retrieval.query import Query

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["log_tool"]

_MOST = 20
_TOOL = Tool(
    "log",
    "Search the text log of your actions: sections that hold this text, the newest last. Without text: the newest.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "literal text, whatever its case"},
            "regex": {"type": "string", "description": "a regular expression, whatever its case"},
            "steps": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
            "life": {"type": ["integer", "string"], "description": "a life's number, or all; else the present one"},
            "last": {"type": "integer", "description": f"the newest N sections, at most {_MOST}"},
        },
        "required": [],
        "additionalProperties": False,
    },
)


def log_tool(memory: Memory) -> OwnTool:
    """The tool over the logs of this memory."""

    def answer(arguments: Json) -> str:
        last = arguments.get("last", _MOST)
        if type(last) is not int or last < 1:
            raise InvalidInput(f"last: a count above 0 was expected, found {last!r}")
        values: dict[str, Any] = {"grep": arguments.get("text"), "regex": arguments.get("regex")}
        values["life"] = arguments.get("life")
        if arguments.get("steps") is not None:
            values["steps"] = tuple(arguments["steps"])
        query = Query(last=min(last, _MOST), **values)
        life = memory.context()[0] or max((row.life for row in memory.lives()), default=1)
        found = matching_sections(memory, life, query)
        return "\n\n".join(map(_shown, found)) or "(nothing in the log)"

    def _shown(section: Section) -> str:
        return f"life {section.life} {section.text}"

    return OwnTool(_TOOL, answer)
