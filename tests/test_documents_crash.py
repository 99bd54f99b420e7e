"""A kill, a full disk or a crowd: the documents stay whole, and the history fits them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults import each_kill
from scrubjay.errors import Conflict, StorageFull
from scrubjay.memory.document_changes import digest_of
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout

OLD = "Iron in the north.\n"
PRELUDE = """
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout
documents = Documents(Layout(arguments[0]))
"""


def fits(root: Path) -> Documents:
    """The documents as the next writer finds them, after a look that history and files say the same."""
    documents = Documents(Layout(root))
    documents.sync()
    changes = documents.history()
    assert [c for c in changes if c.operation == "external"] == []
    files = {path: digest_of((root / "mine" / path).read_bytes()) for path in documents.list()}
    assert files == {path: digest_of(documents.show(path, len(changes)).encode()) for path in files}
    for path in {c.path for c in changes} - set(files):
        assert documents.history(path)[-1].after is None or documents.history(path)[-1].to is not None
    leftovers = [p for p in (root / "mine").rglob("*") if p.name.startswith(".")]
    assert leftovers == []
    return documents


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[[], list[str]]:
    documents = Documents(Layout(tmp_path / "template"))
    documents.create("notes.md", OLD)
    documents.create("f/one.md", "1")
    documents.create("f/two.md", "2")
    number = itertools.count()

    def memory() -> list[str]:
        return [shutil.copytree(tmp_path / "template", str(tmp_path / str(next(number))))]

    return memory


BEFORE = {"notes.md": OLD, "f/one.md": "1", "f/two.md": "2"}
FOLDER = {"f/one.md": "1", "f/two.md": "2"}
# What may be there after a kill, in the order of how far it came.
OPERATIONS: dict[str, list[dict[str, str]]] = {
    "create('new/a.md', 'x')": [BEFORE, {**BEFORE, "new/a.md": "x"}],
    "append('notes.md', 'é')": [BEFORE, {**FOLDER, "notes.md": OLD + "é\n"}],
    "str_replace('notes.md', 'Iron', 'Coal')": [BEFORE, {**FOLDER, "notes.md": "Coal in the north.\n"}],
    "delete('notes.md')": [BEFORE, FOLDER],
    "rename('notes.md', 'g/n.md')": [BEFORE, {**FOLDER, "g/n.md": OLD}],
    "rename('f', 'g')": [BEFORE, {"notes.md": OLD, "g/one.md": "1", "g/two.md": "2"}],
    "delete('f')": [BEFORE, {"notes.md": OLD}],
    "undo(2)": [BEFORE, {"notes.md": OLD, "f/one.md": "1"}, {"notes.md": OLD}],
}
# Half of a block of two rows in place is the first row: then the first document moved, and the second did not.
HALF_ROWS = [*OPERATIONS["rename('f', 'g')"], {"notes.md": OLD, "g/one.md": "1", "f/two.md": "2"}]


@pytest.mark.parametrize("call", OPERATIONS)
def test_a_kill_anywhere_leaves_whole_files_and_a_history_that_fits(
    call: str, prepare: Callable[[], list[str]]
) -> None:
    allowed = OPERATIONS[call]
    seen = set()
    for n, (root,) in each_kill(f"{PRELUDE}\ndocuments.{call}", prepare):
        seen.add(allowed.index(state_after_kill(root)))
        assert n < 100
    assert seen == set(range(len(allowed))), "kills must fall before and after the change was made"


@pytest.mark.parametrize(
    ("call", "allowed"),
    [("append('notes.md', 'é')", OPERATIONS["append('notes.md', 'é')"]), ("rename('f', 'g')", HALF_ROWS)],
)
def test_a_kill_within_a_write_too(call: str, allowed: list[dict[str, str]], prepare: Callable[[], list[str]]) -> None:
    for _, (root,) in each_kill(f"{PRELUDE}\ndocuments.{call}", prepare, half=True):
        assert state_after_kill(root) in allowed


def state_after_kill(root: str) -> dict[str, str]:
    documents = fits(Path(root))
    state = {path: documents.read(path) for path in documents.list()}
    documents.append("later.md", "life goes on")
    return state


def test_a_kill_while_an_edit_of_a_shell_is_taken_over_loses_neither(prepare: Callable[[], list[str]]) -> None:
    def edited() -> list[str]:
        (root,) = prepare()
        Path(root, "mine/notes.md").write_text("by hand\n")
        return [root]

    for n, (root,) in each_kill(f"{PRELUDE}\ndocuments.append('notes.md', 'x')", edited):
        documents = Documents(Layout(root))
        documents.sync()
        assert documents.read("notes.md") in ("by hand\n", "by hand\nx\n"), n
        operations = [c.operation for c in documents.history("notes.md")]
        assert operations in (["create", "external"], ["create", "external", "append"]), n
        assert documents.show("notes.md", documents.history()[-1].number) == documents.read("notes.md")


def _append_many(root: str, worker: int, count: int) -> None:
    documents = Documents(Layout(root))
    for entry in range(count):
        documents.append("notes.md", f"worker {worker} entry {entry}")


def test_fifty_appends_of_eight_processes_are_fifty_entries(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    counts = [7, 7, 6, 6, 6, 6, 6, 6]
    workers = [fork.Process(target=_append_many, args=(str(tmp_path), w, c)) for w, c in enumerate(counts)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    documents = fits(tmp_path)
    entries = documents.read("notes.md").splitlines()
    assert sorted(entries) == sorted(f"worker {w} entry {e}" for w, c in enumerate(counts) for e in range(c))
    assert len(documents.history("notes.md")) == 50


def _write_on_and_on(documents: Documents) -> None:
    for _ in range(100):
        documents.write("notes.md", "x" * 10)
        documents.write("notes.md", "y" * 10)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, small_files: None) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("notes.md", OLD)
    with pytest.raises(StorageFull, match=r"notes\.md"):
        documents.write("notes.md", "x" * 10_000)
    with pytest.raises(StorageFull, match=r"documents\.jsonl"):
        _write_on_and_on(documents)
    text = fits(tmp_path).read("notes.md")
    assert text in ("x" * 10, "y" * 10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    documents.append("notes.md", "space again")
    assert fits(tmp_path).read("notes.md") == text + "\nspace again\n"
    assert not list((tmp_path / ".locks").glob("*.staged"))


class Meddler:
    """The context of documents, asked for between the look at a file and its change: just then it meddles."""

    def __init__(self) -> None:
        self.meddle: Callable[[], object] = lambda: None

    def __call__(self) -> tuple[int | None, int | None]:
        self.meddle()
        return (1, 7)


def test_an_editor_that_saves_at_the_same_moment_is_not_overwritten(tmp_path: Path) -> None:
    meddler = Meddler()
    documents = Documents(Layout(tmp_path), context=meddler)
    documents.create("notes.md", OLD)
    meddler.meddle = lambda: (tmp_path / "mine/notes.md").write_text("by hand\n")
    for attempt in (lambda: documents.append("notes.md", "x"), lambda: documents.delete("notes.md")):
        with pytest.raises(Conflict, match="another program"):
            attempt()
    meddler.meddle = lambda: None
    documents.append("notes.md", "x")
    assert documents.read("notes.md") == "by hand\nx\n"
    assert [c.operation for c in documents.history("notes.md")] == ["create", "external", "append"]


def test_an_edit_within_an_edit_is_refused(tmp_path: Path) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("notes.md", OLD)
    with pytest.raises(Conflict, match="finish that"):
        documents.edit("notes.md", lambda text: documents.append("other.md", text).path, operation="edit")
    documents.append("notes.md", "goes on")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_refuses_stops_nobody_else(tmp_path: Path) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("shut/a.md", "a")
    (tmp_path / "mine/shut").chmod(0o555)
    with pytest.raises(PermissionError):
        documents.append("shut/a.md", "b")
    documents.append("notes.md", "goes on")
    assert documents.read("shut/a.md") == "a"
    assert documents.show("shut/a.md", len(documents.history())) == "a"


def test_a_change_that_can_never_be_carried_out_stops_nobody_else(prepare: Callable[[], list[str]]) -> None:
    met = 0
    for _, (root,) in each_kill(f"{PRELUDE}\ndocuments.append('notes.md', 'x')", prepare):
        Path(root, "mine/notes.md").unlink()
        Path(root, "mine/notes.md").mkdir()
        met += b'"append"' in Path(root, "documents.jsonl").read_bytes()
        documents = Documents(Layout(root))
        documents.append("other.md", "goes on")
        documents.sync()
        assert documents.history("notes.md")[-1].after is None
        assert documents.list() == ["f/one.md", "f/two.md", "other.md"]
    assert met > 0


def test_a_lost_lock_file_is_made_again(tmp_path: Path) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("notes.md", OLD)
    for lock in (tmp_path / ".locks").iterdir():
        lock.unlink()
    documents.append("notes.md", "more")
    assert fits(tmp_path).read("notes.md") == OLD + "more\n"


def test_an_older_copy_of_a_memory_is_taken_as_it_is(tmp_path: Path) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("notes.md", OLD)
    old = (tmp_path / "documents.jsonl").read_bytes()
    documents.append("notes.md", "newer")
    (tmp_path / "documents.jsonl").write_bytes(old)
    (tmp_path / "mine/notes.md").write_text(OLD)
    documents.append("notes.md", "other")
    assert fits(tmp_path).read("notes.md") == OLD + "other\n"
    assert [c.inserted for c in documents.history()] == [OLD, "other\n"]
