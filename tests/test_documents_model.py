"""Any order of edits, undos, other programs' edits and reopenings, beside a dictionary that remembers everything."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scrubjay.errors import Conflict, InvalidInput, NotFound
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout

PATHS = st.sampled_from(["a.md", "b.md", "f/a.md", "f/b.md", "g/h/c.md"])
TEXTS = st.text(alphabet="ab\né", max_size=6)


class DocumentsBesideADictionary(RuleBasedStateMachine):
    """`now` is what all documents hold; `earlier` what they held, with the number of the last change then."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.documents = Documents(Layout(self.root))
        self.now: dict[str, str] = {}
        self.earlier: list[tuple[int, dict[str, str]]] = [(0, {})]

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def made(self, after: dict[str, str], rows: int | None = None) -> None:
        self.now = after
        count = len(self.documents.history())
        assert rows is None or count == self.earlier[-1][0] + rows
        self.earlier.append((count, after))

    @rule()
    def open(self) -> None:
        self.documents = Documents(Layout(self.root))

    @rule(path=PATHS, text=TEXTS)
    def create(self, path: str, text: str) -> None:
        if path in self.now:
            with pytest.raises(Conflict):
                self.documents.create(path, text)
            return
        self.documents.create(path, text)
        self.made({**self.now, path: text}, 1)

    @rule(path=PATHS, text=TEXTS)
    def write(self, path: str, text: str) -> None:
        same = self.now.get(path) == text
        self.documents.write(path, text)
        self.made({**self.now, path: text}, 0 if same else 1)

    @rule(path=PATHS, text=TEXTS.filter(bool))
    def append(self, path: str, text: str) -> None:
        before = self.now.get(path, "")
        self.documents.append(path, text)
        gap = "\n" if before and not before.endswith("\n") else ""
        end = "" if text.endswith("\n") else "\n"
        self.made({**self.now, path: before + gap + text + end}, 1)

    @rule(path=PATHS, old=TEXTS, new=TEXTS)
    def str_replace(self, path: str, old: str, new: str) -> None:
        if path not in self.now or not old or self.now[path].count(old) != 1:
            with pytest.raises((InvalidInput, NotFound)):
                self.documents.str_replace(path, old, new)
            return
        self.documents.str_replace(path, old, new)
        self.made({**self.now, path: self.now[path].replace(old, new)})

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        if path not in self.now:
            with pytest.raises(NotFound):
                self.documents.delete(path)
            return
        self.documents.delete(path)
        self.made({p: t for p, t in self.now.items() if p != path}, 1)

    @rule(old=PATHS, new=PATHS)
    def rename(self, old: str, new: str) -> None:
        if new in self.now or old not in self.now:
            with pytest.raises((Conflict, NotFound)):
                self.documents.rename(old, new)
            return
        self.documents.rename(old, new)
        self.made({(new if p == old else p): t for p, t in self.now.items()}, 1)

    @rule()
    def rename_folder(self) -> None:
        if any(p.startswith("f/") for p in self.now) and not (self.root / "mine/k").exists():
            self.documents.rename("f", "k")
            self.made({("k" + p[1:] if p.startswith("f/") else p): t for p, t in self.now.items()})

    @rule()
    def delete_folder(self) -> None:
        if (self.root / "mine/k").exists():
            self.documents.delete("k")
            self.made({p: t for p, t in self.now.items() if not p.startswith("k/")})

    @rule(edits=st.dictionaries(PATHS, TEXTS | st.none(), max_size=3))
    def other_program(self, edits: dict[str, str | None]) -> None:
        after = dict(self.now)
        for path, text in edits.items():
            file = self.root / "mine" / path
            if text is None:
                after.pop(path, None)
                file.unlink(missing_ok=True)
            else:
                after[path] = text
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.documents.sync()
        self.made(after)

    @rule(which=st.integers(0, 100))
    def look_back(self, which: int) -> None:
        number, state = self.earlier[which % len(self.earlier)]
        for path in self.now:
            moved = any(change.to is not None for change in self.documents.history(path))
            try:
                then = self.documents.show(path, number)
            except NotFound:
                assert moved or path not in state
                continue
            # A document that was moved shows what it held under its earlier name.
            assert then in state.values() if moved else then == state[path]

    @rule(path=PATHS, which=st.integers(0, 100))
    def restore(self, path: str, which: int) -> None:
        number, _ = self.earlier[which % len(self.earlier)]
        try:
            then: str | None = self.documents.show(path, number)
        except NotFound:
            then = None
        if path not in self.now and then is None:
            with pytest.raises(NotFound):
                self.documents.restore(path, number)
            return
        self.documents.restore(path, number)
        rest = {p: t for p, t in self.now.items() if p != path}
        self.made(rest if then is None else {**rest, path: then})

    @rule()
    def undo_everything_and_come_back(self) -> None:
        here = self.now
        try:
            self.documents.undo(1000)
        except NotFound:
            return
        assert self.documents.list() == []
        self.made({})
        for path, text in here.items():
            self.documents.write(path, text)
        self.made(here)

    @invariant()
    def files_and_history_say_the_same(self) -> None:
        assert {path: self.documents.read(path) for path in self.documents.list()} == self.now
        count = len(self.documents.history())
        for path, text in self.now.items():
            assert self.documents.show(path, count) == text
        assert self.documents.sync() == []


DocumentsBesideADictionary.TestCase.settings = settings(max_examples=25, stateful_step_count=15)
TestDocumentsBesideADictionary = DocumentsBesideADictionary.TestCase
