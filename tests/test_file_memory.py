"""The six commands of the file memory tool return, to the letter, what the ecosystem's own class returns."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.errors import Conflict, InvalidInput, NotFound, ScrubjayError
from scrubjay.memory.documents import Documents
from scrubjay.memory.file_memory import FileMemory
from scrubjay.memory.layout import Layout


@pytest.fixture
def memory(tmp_path: Path) -> FileMemory:
    return FileMemory(Documents(Layout(tmp_path)))


def do(memory: FileMemory, command: str, path: str = "/memories/a.md", **more: Any) -> str:
    return memory.execute({"command": command, "path": path, **more})


def test_create_and_view(memory: FileMemory) -> None:
    assert do(memory, "create", file_text="one\ntwo\n") == "File created successfully at: /memories/a.md"
    assert do(memory, "view") == (
        "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\t"
    )
    assert do(memory, "view", view_range=[2, 2]) == (
        "Here's the content of /memories/a.md with line numbers:\n     2\ttwo"
    )
    assert do(memory, "view", view_range=[2, -1]).endswith("\n     2\ttwo\n     3\t")
    with pytest.raises(Conflict, match=r"^File /memories/a\.md already exists$"):
        do(memory, "create", file_text="x")
    with pytest.raises(NotFound, match=r"^The path /memories/b does not exist\. Please provide a valid path\.$"):
        do(memory, "view", "/memories/b")


def test_view_of_a_folder(memory: FileMemory, tmp_path: Path) -> None:
    do(memory, "create", file_text="x" * 1536)
    do(memory, "create", "/memories/f/b.md", file_text="")
    do(memory, "create", "/memories/f/g/too-deep.md", file_text="x")
    (tmp_path / "mine/.hidden").write_text("x")
    lines = do(memory, "view", "/memories").split("\n")
    assert lines[0] == ("Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:")
    assert [line.split("\t")[1] for line in lines[1:]] == [
        "/memories", "/memories/a.md", "/memories/f/", "/memories/f/b.md", "/memories/f/g/",
    ]  # fmt: skip
    assert lines[2] == "1.5K\t/memories/a.md"
    assert lines[4] == "0B\t/memories/f/b.md"
    assert do(memory, "view", "/memories/f").split("\n")[2:] == [
        "0B\t/memories/f/b.md", lines[5].split("\t")[0] + "\t/memories/f/g/", "1B\t/memories/f/g/too-deep.md",
    ]  # fmt: skip


def test_str_replace(memory: FileMemory) -> None:
    do(memory, "create", file_text="1\n2\n3\n4 $&\n5\n6\n7\n4\n")
    assert do(memory, "str_replace", old_str="4 $&", new_str="four \\1") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     2\t2\n     3\t3\n     4\tfour \\1\n     5\t5\n     6\t6"
    )
    with pytest.raises(InvalidInput) as none:
        do(memory, "str_replace", old_str="nine", new_str="x")
    assert str(none.value) == (
        "No replacement was performed, old_str `nine` did not appear verbatim in /memories/a.md."
    )
    with pytest.raises(InvalidInput) as several:
        do(memory, "str_replace", old_str="\n", new_str="x")
    assert str(several.value) == (
        "No replacement was performed. Multiple occurrences of old_str `\n` in lines: 1, 2, 3, 4, 5, 6, 7, 8. "
        "Please ensure it is unique"
    )


def test_insert(memory: FileMemory) -> None:
    do(memory, "create", file_text="one\nthree")
    assert do(memory, "insert", insert_line=1, insert_text="two\n") == "The file /memories/a.md has been edited."
    assert do(memory, "view").endswith("     1\tone\n     2\ttwo\n     3\tthree\n     4\t")
    with pytest.raises(InvalidInput) as beyond:
        do(memory, "insert", insert_line=9, insert_text="x")
    assert str(beyond.value) == "Invalid `insert_line` parameter: 9. It should be within the range [0, 3]."
    with pytest.raises(InvalidInput, match="is not a file"):
        do(memory, "insert", "/memories", insert_line=0, insert_text="x")


def test_delete_and_rename(memory: FileMemory) -> None:
    do(memory, "create", file_text="x")
    do(memory, "create", "/memories/b.md", file_text="x")
    moved = {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/f/c.md"}
    assert memory.execute(moved) == "Successfully renamed /memories/a.md to /memories/f/c.md"
    with pytest.raises(Conflict, match=r"^The destination /memories/b\.md already exists$"):
        memory.execute({**moved, "new_path": "/memories/b.md"})
    with pytest.raises(NotFound, match=r"^The path /memories/a\.md does not exist$"):
        memory.execute({**moved, "new_path": "/memories/d.md"})
    assert do(memory, "delete", "/memories/f") == "Successfully deleted /memories/f"
    with pytest.raises(NotFound, match=r"^The path /memories/f does not exist$"):
        do(memory, "delete", "/memories/f")
    with pytest.raises(InvalidInput, match=r"^Cannot delete the /memories directory itself$"):
        do(memory, "delete", "/memories")
    with pytest.raises(InvalidInput, match=r"^Cannot rename the /memories directory itself$"):
        memory.execute({**moved, "old_path": "/memories/"})


def test_paths_of_other_places(memory: FileMemory) -> None:
    do(memory, "create", "mine/a.md", file_text="x")
    assert do(memory, "view", "/memories/a.md").replace("/memories/", "") == do(memory, "view", "a.md")
    with pytest.raises(InvalidInput, match=r"^Path must start with /memories, got: /etc/passwd$"):
        do(memory, "view", "/etc/passwd")
    with pytest.raises(InvalidInput, match=r"^Path /memories/\.\./x would escape /memories directory$"):
        do(memory, "create", "/memories/../x", file_text="x")


def test_a_command_that_is_not_whole_is_told(memory: FileMemory) -> None:
    for broken in ({"command": "move"}, {}, {"command": "view"}, {"command": "create", "path": "/memories/a"}):
        with pytest.raises(InvalidInput):
            memory.execute(broken)
    do(memory, "create", file_text="x")
    for more in ({"insert_line": "1"}, {"insert_line": True}, {"insert_line": -1}):
        with pytest.raises(InvalidInput):
            do(memory, "insert", insert_text="x", **more)
    with pytest.raises(InvalidInput, match="view_range"):
        do(memory, "view", view_range=[1, 2, 3])


# --- beside the ecosystem's own class, where that is installed

NAMES = st.sampled_from(["a.md", "b.md", "f", "f/a.md", "f/g/h.md", "a.md/x", ""]).map("/memories/{}".format)
TEXTS = st.lists(st.sampled_from(["one", "two", "\n", "é", "$&", "\\1", "\r\n", ""]), max_size=6).map("".join)
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": NAMES, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": NAMES},
        optional={"view_range": st.tuples(st.integers(-1, 5), st.sampled_from([-1, 0, 1, 3, 9])).map(list)},
    ),
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": NAMES, "old_str": TEXTS.filter(bool), "new_str": TEXTS}
    ),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": NAMES, "insert_line": st.integers(-1, 5), "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": NAMES}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": NAMES, "new_path": NAMES}),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(commands=st.lists(COMMANDS, min_size=3, max_size=15))
def test_results_are_those_of_the_ecosystems_class(
    commands: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    tools = pytest.importorskip("anthropic.tools", reason="the anthropic package is not installed")
    types = importlib.import_module("anthropic.types.beta")
    models = importlib.import_module("anthropic._models")
    theirs = tools.BetaLocalFilesystemMemoryTool(str(tmp_path_factory.mktemp("theirs")))
    ours_at = tmp_path_factory.mktemp("ours")
    (ours_at / "mine").mkdir()
    ours = FileMemory(Documents(Layout(ours_at)))
    for command in commands:
        typed = models.construct_type_unchecked(value=command, type_=types.BetaMemoryTool20250818Command)
        try:
            expected = theirs.execute(typed)
        except tools_error() as error:
            expected = str(error)
        except OSError:
            expected = None  # it has no words for that: a file where a folder must be, a folder moved into itself
        try:
            result = ours.execute(command)
        except ScrubjayError as error:
            result = str(error)
            assert expected is None or result == expected, json.dumps(commands)
            # A command of theirs that fails may leave new folders behind.
            shutil.rmtree(theirs.memory_root)
            shutil.copytree(ours_at / "mine", theirs.memory_root)
            continue
        assert result == expected, json.dumps(commands)


def tools_error() -> type[Exception]:
    error: type[Exception] = importlib.import_module("anthropic.lib.tools").ToolError
    return error
