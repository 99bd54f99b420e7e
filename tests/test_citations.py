"""Which evidence a document cites, and which of its claims cite none."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.memory.citations import back_links, citations, claims, unsupported
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout, Reference


def cited(text: str) -> list[tuple[str, int, int]]:
    return [(str(c.reference), c.line, c.column) for c in citations(text)]


def test_references_in_brackets_are_citations() -> None:
    assert cited("Iron [ep_000043].\nCoal [ep_000043#2350] and [ep_000051, ep_1234567#7; ep_000001]") == [
        ("ep_000043", 1, 7),
        ("ep_000043#2350", 2, 7),
        ("ep_000051", 2, 28),
        ("ep_1234567#7", 2, 39),
        ("ep_000001", 2, 53),
    ]


def test_what_only_looks_like_one_is_none() -> None:
    for text in ("ep_000043", "[ep_43]", "[ep_000043", "[see ep_000043]", "[ep_000043#]", "[ep_000043#x]",
                 "[ep_0000043]", "[xep_000043]", "[ep_000043\n]", "[]"):  # fmt: skip
        assert cited(text) == [], text


@given(st.lists(st.tuples(st.integers(1, 10**9), st.none() | st.integers(0, 10**6)), min_size=1, max_size=5))
def test_every_reference_written_is_read(numbers: list[tuple[int, int | None]]) -> None:
    references = [Reference(f"ep_{number:06d}", step) for number, step in numbers]
    text = f"设备 é [{', '.join(map(str, references))}] ende"
    found = citations(text)
    assert [c.reference for c in found] == references
    for c in found:
        assert text[c.column - 1 :].startswith(str(c.reference))


@given(st.text(alphabet="[]ep_0123#,-*` \n>:|", max_size=60))
def test_any_text_is_read(text: str) -> None:
    for c in citations(text):
        assert text.split("\n")[c.line - 1][c.column - 1 :].startswith(str(c.reference))
    lines = text.split("\n")
    assert all(1 <= claim.line <= len(lines) for claim in claims(text))


LONG = 1_000_000


@pytest.mark.parametrize(
    "text",
    ["<!--" * (LONG // 4), f"| a |\n{' ' * LONG}x", f"| a |\n|-{' ' * LONG}x", "[" * LONG, f"[{'ep_ ' * (LONG // 4)}"],
    ids=["comments", "a table's rule", "its end", "brackets", "references"],
)
def test_no_text_is_read_for_longer_than_it_is_long(text: str) -> None:
    def give_up(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("what takes a second takes a minute")  # in truth hours

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 60)
    try:
        assert citations(text) == []
        claims(text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before or signal.SIG_DFL)


DOCUMENT = """---
name: notes
---
# Heading says nothing

Iron lies at the north wall
and goes on below [ep_000043].

- water is safe
  to drink [ep_000051#7]
- lava burns
  * nested item
1. first
2) second (hypothesis)

> quoted words
> of the game
which go on lazily

```
code = "claims nothing"
```

What I know of it:

- [ ] find out more
- Hypothesis: the night is dangerous

Title underlined
================

| thing | where |
| --- | --- |
| furnace | here [ep_000001] |

***
<!-- a remark
over lines -->
Last paragraph.
"""


def test_claims_are_items_rows_and_paragraphs() -> None:
    assert [(claim.line, claim.text) for claim in claims(DOCUMENT)] == [
        (6, "Iron lies at the north wall and goes on below [ep_000043]."),
        (9, "water is safe to drink [ep_000051#7]"),
        (11, "lava burns"),
        (12, "nested item"),
        (13, "first"),
        (14, "second (hypothesis)"),
        (27, "Hypothesis: the night is dangerous"),
        (34, "| furnace | here [ep_000001] |"),
        (39, "Last paragraph."),
    ]


def test_a_fence_closes_by_its_own_kind() -> None:
    assert [c.text for c in claims("````\n```\nno\n````\nyes")] == ["yes"]
    assert claims("~~~\n```\nnever closed\n") == []


def test_documents_are_linked_back_to_the_episodes_they_cite(tmp_path: Path) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("notes.md", "Iron [ep_000043].\nMore iron [ep_000043#2, ep_000043#9].\n")
    documents.create("working/0001.md", "Go back [ep_000043], then [ep_000002].\n")
    (tmp_path / "mine/data.bin").write_bytes(b"\xff[ep_000043]")
    assert back_links(documents) == {
        "ep_000043": [("notes.md", 1), ("notes.md", 2), ("working/0001.md", 1)],
        "ep_000002": [("working/0001.md", 1)],
    }


def test_unsupported_claims_and_dead_citations_are_named(tmp_path: Path) -> None:
    documents = Documents(Layout(tmp_path))
    documents.create("notes.md", DOCUMENT)
    documents.create("procedures/cut/scripts/cut.py", "# as seen in [ep_000099]\nprint('no claim')\n")
    found = unsupported(documents, lambda reference: reference.episode != "ep_000099" and reference.step != 7)
    assert [(p.path, p.line, p.text) for p in found] == [
        ("notes.md", 10, "ep_000051#7"),
        ("notes.md", 11, "lava burns"),
        ("notes.md", 12, "nested item"),
        ("notes.md", 13, "first"),
        ("notes.md", 39, "Last paragraph."),
        ("procedures/cut/scripts/cut.py", 1, "ep_000099"),
    ]
    assert [str(p.reference) for p in found if p.reference] == ["ep_000051#7", "ep_000099"]
