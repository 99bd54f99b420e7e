"""What a method keeps for a language model to read and write; nothing else is reached through its tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corridor import Corridor
from scrubjay import Memory
from scrubjay.agent.brief import brief
from scrubjay.agent.offer import Offer
from scrubjay.agent.scope import OF_THIS_LIFE, Scope
from scrubjay.agent.skills import Skills
from scrubjay.agent.toolbox import Toolbox
from scrubjay.methods.named import make_method
from scrubjay.methods.table import methods_table
from scrubjay.models.chat import ToolCall
from test_conversation import Says, act, turn_of

VISTA = ("GUIDE.md", OF_THIS_LIFE)
NO_PROCEDURES = ("*", "!procedures/*", "!reflexes/*")


@pytest.mark.parametrize(
    ("patterns", "path", "allowed"),
    [
        (("*",), "anything/at/all.md", True),
        (VISTA, "GUIDE.md", True),
        (VISTA, "guide.md", False),
        (VISTA, "working/0002.md", True),
        (VISTA, "working/0002-map.md", True),
        (VISTA, "working/0001.md", False),
        (VISTA, "working", False),
        (VISTA, "notes.md", False),
        (VISTA, "", False),
        (NO_PROCEDURES, "notes.md", True),
        (NO_PROCEDURES, "procedures", False),
        (NO_PROCEDURES, "procedures/", False),
        (NO_PROCEDURES, "procedures/hop/SKILL.md", False),
        (NO_PROCEDURES, "procedures.md", True),
    ],
)
def test_paths(patterns: tuple[str, ...], path: str, allowed: bool) -> None:
    assert Scope(patterns, 2).allows(path) is allowed


def called(memory: Memory, files: tuple[str, ...], **arguments: Any) -> tuple[bool, str]:
    box = Toolbox(memory, Offer(files=files), None, life=2)
    result = box.call(ToolCall("c", "documents", arguments))
    return not result.is_error, str(result.parts[0])


@pytest.fixture
def written(memory: Memory) -> Memory:
    for path in ("notes.md", "GUIDE.md", "working/0001.md", "working/0002.md", "procedures/hop/SKILL.md"):
        memory.documents.create(path, f"{path}, secret\n")
    return memory


HIDDEN = [
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "view", "path": "mine/notes.md"},
    {"command": "view", "path": "notes.md"},
    {"command": "append", "path": "/memories/notes.md", "text": "x"},
    {"command": "append", "path": "/memories/mine/notes.md/", "text": "x"},
    {"command": "create", "path": "/memories/new.md", "file_text": "x"},
    {"command": "str_replace", "path": "/memories/working/0001.md", "old_str": "secret", "new_str": "x"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "x"},
    {"command": "delete", "path": "/memories/working"},
    {"command": "delete", "path": "/memories/procedures"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/GUIDE.md"},
    {"command": "rename", "old_path": "/memories/GUIDE.md", "new_path": "/memories/notes2.md"},
    {"command": "history", "path": "/memories/notes.md"},
    {"command": "undo", "path": "/memories/notes.md"},
    {"command": "undo"},
    {"command": "view", "path": "/memories/working/../notes.md"},
]


@pytest.mark.parametrize("arguments", HIDDEN, ids=str)
def test_no_command_reaches_what_is_left_out(written: Memory, arguments: dict[str, Any]) -> None:
    before = {path: written.documents.read(path) for path in written.documents.list()}
    worked, told = called(written, VISTA, **arguments)
    assert not worked
    assert "secret" not in told
    assert {path: written.documents.read(path) for path in written.documents.list()} == before


def test_what_is_kept_is_read_written_and_listed(written: Memory) -> None:
    assert called(written, VISTA, command="append", path="/memories/working/0002-map.md", text="- a wall\n")[0]
    worked, told = called(written, VISTA, command="view", path="/memories")
    assert worked
    assert [line.split("\t")[1] for line in told.splitlines()[2:]] == [
        "/memories/GUIDE.md", "/memories/working/", "/memories/working/0002-map.md", "/memories/working/0002.md",
    ]  # fmt: skip
    worked, told = called(written, VISTA, command="history")
    assert {line.split()[2] for line in told.splitlines()} == {"GUIDE.md", "working/0002.md", "working/0002-map.md"}
    assert called(written, VISTA, command="undo", path="/memories/working/0002-map.md")[0]
    worked, told = called(written, NO_PROCEDURES, command="view", path="/memories")
    assert "notes.md" in told
    assert "procedures" not in told


@given(st.text("mine/emorsGUIDE.d*!-2 ", max_size=24))
def test_what_is_judged_is_what_is_done(path: str) -> None:
    """However a path is spelled: where a command is let through, the document it writes is one that is kept."""
    from scrubjay.errors import InvalidInput
    from scrubjay.memory.paths import given_path

    try:
        inside = given_path(path)
    except InvalidInput:
        return
    if Scope(VISTA, 2).allows(inside):
        assert inside == "GUIDE.md" or inside.startswith("working/0002")


@pytest.mark.parametrize(
    ("name", "kept"), [("vista", "GUIDE.md, working/0001*"), ("reflexion", "lessons.md"), ("voyager", "procedures/*")]
)
def test_a_language_model_is_told_what_its_method_keeps(memory: Memory, name: str, kept: str) -> None:
    method, environment = make_method(name), Corridor()
    model = Says(act("right"))
    agent = method.conversation(model, memory, Skills(environment, memory))
    world = Corridor().world
    turn = turn_of(memory, recent=(), world=world, actions=environment.actions, known_milestones=())
    agent.decide(turn)
    system, _, tools = model.shown[0]
    tool = next(tool for tool in tools if tool.name == "documents")
    assert tool.description == f"Your own documents under /memories: {kept}. Cite as [ep_000043]."
    assert "notes.md" not in system
    assert kept.split(",")[0] in brief(turn, method.traits.offer, tools)


def test_the_table_says_it() -> None:
    head, _, *rows = methods_table().splitlines()
    place = head.split(" | ").index("file writes")
    shown = {row.split(" | ")[0].strip("| `"): row.split(" | ")[place] for row in rows}
    assert shown["vista"] == "GUIDE.md, working/LIFE\\*"
    assert shown["reflexion"] == "lessons.md"
    assert shown["voyager"] == "procedures/\\*"
    assert shown["direct"] == "none"
    assert shown["mfm"] == "all"
    assert shown["mfm-no-procedures"] == "all, but none of procedures/\\*, reflexes/\\*"
