"""The agent's documents: edits that are literal, a history that any state can be rebuilt from, edits of others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from scrubjay.errors import Conflict, Damaged, InvalidInput, NotFound, ReadOnly
from scrubjay.memory.document_changes import digest_of
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(Layout(tmp_path), context=lambda: (3, 120))


def rows(root: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (root / "documents.jsonl").read_text().splitlines()]


# --- edits


def test_a_change_is_one_splice_that_names_life_step_and_author(documents: Documents, tmp_path: Path) -> None:
    documents.create("notes.md", "Iron in the north.\nCoal in the east.\n")
    documents.str_replace("notes.md", "Coal", "Gold", author="person")
    row = rows(tmp_path)[1]
    assert (row["at"], row["removed"], row["inserted"]) == (19, "Coal", "Gold")
    assert (row["life"], row["step"], row["author"], row["operation"]) == (3, 120, "person", "str_replace")
    assert row["before"] == rows(tmp_path)[0]["after"]
    assert row["after"] == digest_of((tmp_path / "mine" / "notes.md").read_bytes()) == documents.digest("notes.md")


def test_edits_are_literal(documents: Documents) -> None:
    documents.create("a.md", r"cost $& and \1 {0} %s")
    documents.str_replace("a.md", r"$& and \1", r"\g<0> $1 $&")
    assert documents.read("a.md") == r"cost \g<0> $1 $& {0} %s"


def test_an_edit_that_fits_nowhere_or_twice_explains_itself(documents: Documents) -> None:
    documents.create("a.md", "one\ntwo\none\n")
    with pytest.raises(InvalidInput, match=r"did not appear verbatim in a\.md"):
        documents.str_replace("a.md", "three", "x")
    with pytest.raises(InvalidInput, match="in lines: 1, 3"):
        documents.str_replace("a.md", "one", "x")
    with pytest.raises(InvalidInput, match="old_str is empty"):
        documents.str_replace("a.md", "", "x")
    with pytest.raises(InvalidInput, match=r"\[0, 3\]"):
        documents.insert("a.md", 4, "x")
    assert documents.read("a.md") == "one\ntwo\none\n"
    assert len(documents.history()) == 1


def test_insert_and_append_put_whole_lines(documents: Documents) -> None:
    documents.append("a.md", "first")
    documents.append("a.md", "third\n")
    documents.insert("a.md", 1, "second")
    documents.insert("a.md", 0, "zeroth\n")
    assert documents.read("a.md") == "zeroth\nfirst\nsecond\nthird\n"


def test_nothing_is_overwritten(documents: Documents) -> None:
    documents.create("a.md", "a")
    documents.create("b/c.md", "c")
    for there in ("a.md", "b"):
        with pytest.raises(Conflict):
            documents.create(there, "x")
        with pytest.raises(Conflict):
            documents.rename("b/c.md", there)
    with pytest.raises(InvalidInput, match="into itself"):
        documents.rename("b", "b/d")
    assert documents.read("a.md") == "a"


def test_a_document_is_no_folder(documents: Documents) -> None:
    documents.create("a.md", "a")
    for attempt in (
        lambda: documents.create("a.md/b.md", "x"),
        lambda: documents.append("a.md/b.md", "x"),
        lambda: documents.rename("a.md", "a.md/b.md"),
    ):
        with pytest.raises(InvalidInput, match=r"mine/a\.md is a file"):
            attempt()
    with pytest.raises(NotFound):
        documents.read("a.md/b.md")
    assert len(documents.history()) == 1


def test_a_write_on_what_another_changed_is_told(documents: Documents) -> None:
    documents.create("a.md", "1")
    seen = documents.digest("a.md")
    documents.append("a.md", "2")
    with pytest.raises(Conflict, match="read it again"):
        documents.write("a.md", "mine", expected=seen)
    documents.write("a.md", "mine", expected=documents.digest("a.md"))
    assert documents.read("a.md") == "mine"
    with pytest.raises(Conflict):
        documents.write("new.md", "x", expected=seen)


def test_what_changes_nothing_is_no_row(documents: Documents) -> None:
    made = documents.create("a.md", "a")
    assert documents.write("a.md", "a") == made
    assert len(documents.history()) == 1


def test_an_empty_document_is_one(documents: Documents) -> None:
    documents.create("empty.md", "")
    assert documents.list() == ["empty.md"]
    assert documents.show("empty.md", 1) == ""
    documents.delete("empty.md")
    documents.undo()
    assert documents.read("empty.md") == ""


def test_names_are_one_in_both_normal_forms(documents: Documents, tmp_path: Path) -> None:
    documents.create("cafe\u0301.md", "x")
    assert documents.read("caf\u00e9.md") == "x"
    (tmp_path / "mine" / "re\u0301sume\u0301.md").write_text("from a shell")
    documents.sync()
    assert documents.list() == ["caf\u00e9.md", "r\u00e9sum\u00e9.md"]


def test_a_text_of_megabytes(documents: Documents) -> None:
    text = "north wall, iron ore\n" * 150_000 + "the last line, which is there once"
    documents.create("big.md", text)
    change = documents.str_replace("big.md", text[-30:], "END")
    assert len(change.removed) < 100
    assert documents.show("big.md", 1) == text


def test_a_mode_stays(documents: Documents, tmp_path: Path) -> None:
    documents.create("procedures/cut/scripts/run.py", "1\n")
    (tmp_path / "mine/procedures/cut/scripts/run.py").chmod(0o755)
    documents.append("procedures/cut/scripts/run.py", "2")
    assert os.stat(tmp_path / "mine/procedures/cut/scripts/run.py").st_mode & 0o777 == 0o755


def test_no_valid_text_no_change(documents: Documents) -> None:
    with pytest.raises(InvalidInput, match="character 3"):
        documents.create("a.md", "abc\udc80")
    with pytest.raises(NotFound):
        documents.read("a.md")
    assert documents.history() == []


# --- going back


def test_any_state_can_be_shown_compared_and_restored(documents: Documents) -> None:
    documents.create("a.md", "one\n")
    documents.append("a.md", "two")
    digest = documents.digest("a.md")
    documents.rename("a.md", "b.md")
    documents.write("b.md", "three\n")
    documents.delete("b.md")
    assert documents.show("b.md", 1) == "one\n"
    assert documents.show("b.md", digest[:8]) == documents.show("b.md", 3) == "one\ntwo\n"
    with pytest.raises(NotFound):
        documents.show("b.md", 5)
    with pytest.raises(NotFound):
        documents.show("b.md", "00000000")
    with pytest.raises(NotFound):
        documents.show("b.md", 17)
    assert documents.diff("b.md", 1, 3) == "--- b.md@1\n+++ b.md@3\n@@ -1 +1,2 @@\n one\n+two\n"
    documents.restore("b.md", digest)
    assert documents.read("b.md") == "one\ntwo\n"
    assert documents.diff("b.md", 3) == ""
    assert [c.operation for c in documents.history("b.md")] == [
        "create", "append", "rename", "write", "delete", "restore",
    ]  # fmt: skip


def test_undo_goes_back_operation_by_operation(documents: Documents) -> None:
    documents.create("a.md", "one\n")
    documents.append("a.md", "two")
    documents.rename("a.md", "b.md")
    documents.delete("b.md")
    documents.undo()
    assert documents.read("b.md") == "one\ntwo\n"
    documents.undo(2)
    assert documents.read("a.md") == "one\n"
    documents.undo()
    assert documents.list() == []
    with pytest.raises(NotFound, match="nothing to undo"):
        documents.undo()
    assert [c.undoes for c in documents.history() if c.undoes] == [4, 3, 2, 1]


def test_undo_of_one_document_leaves_the_others(documents: Documents) -> None:
    documents.create("a.md", "a")
    documents.append("a.md", "b")
    documents.create("c.md", "c")
    documents.undo(path="a.md")
    assert documents.read("a.md") == "a"
    assert documents.read("c.md") == "c"


def test_a_folder_is_moved_deleted_and_brought_back_as_one(documents: Documents) -> None:
    for name in ("a.md", "b.md", "deep/c.md"):
        documents.create(f"old/{name}", name)
    documents.rename("old", "new")
    assert documents.list() == ["new/a.md", "new/b.md", "new/deep/c.md"]
    documents.delete("new")
    assert documents.list() == []
    documents.undo()
    assert documents.list() == ["new/a.md", "new/b.md", "new/deep/c.md"]
    documents.undo()
    assert documents.read("old/deep/c.md") == "deep/c.md"
    assert [c.operation for c in documents.history("old/a.md")] == ["create", "rename", "delete", "undo", "undo"]


def test_a_folder_with_what_no_history_keeps_is_not_deleted(documents: Documents, tmp_path: Path) -> None:
    documents.create("f/a.md", "a")
    (tmp_path / "mine/f/.keep").write_text("hidden")
    with pytest.raises(Conflict, match=r"f/\.keep"):
        documents.delete("f")
    assert documents.read("f/a.md") == "a"


# --- other programs


def test_edits_of_a_shell_become_rows_of_their_own(documents: Documents, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    documents.create("a.md", "one\n")
    documents.create("gone.md", "gone")
    documents.create("moved.md", "a content that is known again")
    (mine / "a.md").write_text("one\ntwo\n")
    (mine / "sub").mkdir()
    (mine / "sub" / "new.md").write_text("new")
    (mine / "gone.md").unlink()
    (mine / "moved.md").rename(mine / "sub" / "here.md")
    taken = {c.path: c for c in documents.sync()}
    assert {(c.operation, c.author) for c in taken.values()} == {("external", "external")}
    assert taken["a.md"].inserted == "two\n"
    assert taken["sub/new.md"].before is None
    assert taken["gone.md"].after is None
    assert taken["moved.md"].to == "sub/here.md"
    assert documents.sync() == []
    assert [c.operation for c in documents.history("sub/here.md")] == ["create", "external"]


def test_an_edit_takes_over_first(documents: Documents, tmp_path: Path) -> None:
    documents.create("a.md", "one\n")
    (tmp_path / "mine/a.md").write_text("changed\n")
    documents.append("a.md", "two")
    assert [c.operation for c in documents.history("a.md")] == ["create", "external", "append"]
    assert documents.read("a.md") == "changed\ntwo\n"
    documents.undo(2)
    assert documents.read("a.md") == "one\n"


def test_a_person_who_takes_the_last_edit_back_by_hand_is_not_overruled(documents: Documents, tmp_path: Path) -> None:
    documents.create("a.md", "one\n")
    documents.append("a.md", "two")
    (tmp_path / "mine/a.md").write_text("one\n")
    again = Documents(Layout(tmp_path))
    again.sync()
    assert again.read("a.md") == "one\n"
    assert [c.operation for c in again.history("a.md")] == ["create", "append", "external"]


def test_a_change_of_equal_size_within_the_clocks_grain_is_seen(documents: Documents, tmp_path: Path) -> None:
    file = tmp_path / "mine/a.md"
    documents.create("a.md", "0000")
    for value in range(1, 20):
        with open(file, "r+") as handle:
            handle.write(f"{value:04d}")
        assert [c.inserted for c in documents.sync()] != [], value


def test_bytes_that_are_no_text_are_kept(documents: Documents, tmp_path: Path) -> None:
    binary = bytes(range(256)) * 3
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/data.bin").write_bytes(binary)
    documents.sync()
    with pytest.raises(Damaged, match=r"mine/data\.bin, byte 128"):
        documents.read("data.bin")
    with pytest.raises(Damaged):
        documents.append("data.bin", "x")
    documents.delete("data.bin")
    documents.undo()
    assert (tmp_path / "mine/data.bin").read_bytes() == binary
    assert "bytes" in rows(tmp_path)[0]


def test_links_and_devices_are_never_followed(documents: Documents, tmp_path: Path) -> None:
    documents.create("a.md", "a")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "mine/a.md").unlink()
    (tmp_path / "mine/a.md").symlink_to(secret)
    os.mkfifo(tmp_path / "mine/pipe")
    for attempt in (
        lambda: documents.read("a.md"),
        lambda: documents.write("a.md", "x"),
        lambda: documents.read("pipe"),
    ):
        with pytest.raises(InvalidInput):
            attempt()
    assert documents.sync() == []
    assert set(documents.listing().left_out) == {"a.md", "pipe"}
    assert secret.read_text() == "secret"


def test_a_reader_changes_nothing(documents: Documents, tmp_path: Path) -> None:
    documents.create("a.md", "one\n")
    (tmp_path / "mine/a.md").write_text("by hand\n")
    before = sorted((str(p), p.stat().st_mtime_ns) for p in tmp_path.rglob("*"))
    reader = Documents(Layout(tmp_path), read_only=True)
    assert reader.read("a.md") == "by hand\n"
    assert reader.show("a.md", 1) == "one\n"
    assert len(reader.history()) == 1
    assert "+by hand" in reader.diff("a.md", 1)
    for attempt in (lambda: reader.append("a.md", "x"), lambda: reader.undo(), lambda: reader.sync()):
        with pytest.raises(ReadOnly):
            attempt()
    assert sorted((str(p), p.stat().st_mtime_ns) for p in tmp_path.rglob("*")) == before


def test_a_reader_of_a_memory_without_documents(tmp_path: Path) -> None:
    reader = Documents(Layout(tmp_path), read_only=True)
    assert reader.list() == []
    assert reader.history() == []
    assert list(tmp_path.iterdir()) == []


# --- damage


def test_a_broken_row_costs_what_only_it_knew(documents: Documents, tmp_path: Path) -> None:
    for word in ("one", "two", "three", "four"):
        documents.append("a.md", word)
    journal = tmp_path / "documents.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[1] = b"#" * (len(lines[1]) - 1) + b"\n"
    journal.write_bytes(b"".join(lines))
    again = Documents(Layout(tmp_path))
    assert again.show("a.md", 1) == "one\n"
    assert again.show("a.md", 4) == "one\ntwo\nthree\nfour\n"
    assert again.show("a.md", 3) == "one\ntwo\nthree\n"  # told backwards from the file
    again.append("a.md", "five")
    assert again.read("a.md").endswith("four\nfive\n")
    assert [c.number for c in again.history()] == [1, 3, 4, 5]
    again.undo(2)
    assert again.read("a.md") == "one\ntwo\nthree\n"


def test_a_last_row_torn_at_any_byte_costs_no_text(documents: Documents, tmp_path: Path) -> None:
    documents.append("a.md", "one")
    documents.append("a.md", "zwei é")
    whole = (tmp_path / "documents.jsonl").read_bytes()
    second = whole.index(b"\n") + 1
    for cut in (*range(second, len(whole), 11), len(whole) - 2, len(whole) - 1):
        (tmp_path / "mine/a.md").write_text("one\nzwei é\n")
        (tmp_path / "documents.jsonl").write_bytes(whole[:cut])
        again = Documents(Layout(tmp_path))
        again.sync()
        assert again.read("a.md") == "one\nzwei é\n"
        assert [c.inserted for c in again.history()] == ["one\n", "zwei é\n"]
        again.append("a.md", "three")
        assert again.show("a.md", again.history()[-2].number) == "one\nzwei é\n"


def test_a_journal_that_is_gone_begins_anew(documents: Documents, tmp_path: Path) -> None:
    documents.create("a.md", "one\n")
    (tmp_path / "documents.jsonl").unlink()
    documents.append("a.md", "two")
    assert [c.operation for c in documents.history()] == ["external", "append"]
    assert documents.show("a.md", 1) == "one\n"
