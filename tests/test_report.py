"""The report of a memory: one page that needs nothing, of bounded size, that says what it counted."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.memory import journal
from scrubjay.memory.records import World as Axes
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.report.charts import Bar, Line, bars, land_map, rising, spans
from scrubjay.surfaces.report.facts import gather
from scrubjay.surfaces.report.html import report
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.terrain import Land, Shown
from small_memories import commit, episode, make_memory
from web_memories import hostile_memory


def made(root: str) -> str:
    reader = Reader(root)
    try:
        return report(gather(reader), "made for a test")
    finally:
        reader.close()


class Parsed(HTMLParser):
    """The elements and the words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_report_needs_nothing_beside_it(tmp_path: Path) -> None:
    text = made(hostile_memory(tmp_path / "memory"))
    parsed = Parsed(text)
    for tag, attributes in parsed.elements:
        assert tag not in ("script", "link", "iframe", "object", "base", "form")
        assert not any(name.startswith("on") or name == "href" for name in attributes)
        assert (attributes.get("src") or "data:image/").startswith("data:image/")
    assert "url(" not in text
    assert "window.pwned=1" in parsed.words  # shown as text


def test_a_report_says_what_it_counted(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    hostile_memory(folder)
    with Memory.open(folder, read_only=True) as memory:
        layout = memory.layout
    rows = [
        {"turn": 1, "first_step": 0, "episodes": ["ep_000000"], "entries": [["go", 1]], "inspected": []},
        {"turn": 2, "first_step": 9, "episodes": ["ep_000001", "ep_000002"], "entries": [["go", 1]],
         "inspected": ["ep_000000#2", "ep_000001", "ep_000099"]},
        {"kind": "workshop", "turn": 0},
    ]  # fmt: skip
    journal.append(layout.turns(1), layout.lock_of(layout.turns(1)), rows)
    reader = Reader(str(folder))
    facts = gather(reader)
    reader.close()
    assert facts.lives[0].turns == [1, 2]
    assert facts.looks.lags == [6, 3]  # from the end of ep_000000 (3) and ep_000001 (6) to step 9
    assert facts.lives[0].reached == [(6, "iron")]
    assert facts.cited[0].row.id == "ep_000001"
    assert facts.cited[0].count == 4
    assert facts.cited[0].picture is not None
    words = Parsed(report(facts, "")).words
    assert "All lives were played by a scripted player" in words
    assert "2 turns, 3 episodes in them: 1.5 a turn on average" in words
    assert "median 4.5 steps, most 6" in words
    assert "cell events (spatial grid)" in words


def test_a_report_of_nothing_says_so(tmp_path: Path) -> None:
    Memory.create(tmp_path / "memory").close()
    words = Parsed(made(str(tmp_path / "memory"))).words
    for told in (
        "Nothing is recorded in this memory yet", "No milestone is recorded", "No turn is recorded",
        "No turn looked at an earlier episode", "The grid is empty", "No document cites an episode",
    ):  # fmt: skip
        assert told in words


def test_a_report_is_bounded(tmp_path: Path) -> None:
    layout = make_memory(tmp_path)
    for number in range(3000):
        commit(layout, episode(number, life=1 + number // 20, tags=["milestone"], summary="x" * 500))
    rows = [
        {
            "cell": [number, 0, number * 7 % 3000],
            "kind": "walked",
            "step": 1,
            "episode": f"ep_{number:06d}",
            "world": "w",
        }
        for number in range(3000)
    ]
    lives = [{"life": life, "event": "start", "task": "", "world": "w", "started": ""} for life in range(1, 151)]
    journal.append(layout.grid, layout.lock_of(layout.grid), rows)
    journal.append(layout.lives, layout.lock_of(layout.lives), lives)
    text = made(str(tmp_path))
    assert len(text) < 1_000_000
    assert "The newest 60 lives are shown; 90 lie before" in text
    assert re.search(r"one square is \d+ × \d+ cells", text)


def test_a_published_run_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "index.jsonl").write_text('{"id": "ep_000000", "path": "episodes/ep_000000", "last_step": 2}\n')
    assert "1</b>episodes" in made(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["index.jsonl"]


def test_the_command_writes_a_file_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Memory.create(tmp_path / "memory").close()
    out = tmp_path / "out.html"
    assert main(["report", str(tmp_path / "memory"), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.read_text().startswith("<!doctype html>")
    assert main(["report", str(tmp_path / "memory"), "--out", str(tmp_path / "no" / "out.html")]) == 1
    assert "out.html" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nothing")]) == 1


@given(st.lists(st.integers(0, 10**6), max_size=40))
def test_spans_count_every_value_once(values: list[int]) -> None:
    found = spans(values)
    assert sum(bar.count for bar in found) == len(values)
    for one, bar in zip(range(len(found)), found, strict=True):
        low, _, high = bar.label.replace("\u202f", "").partition("–")
        inside = [value for value in values if int(low) <= value <= int(high or low)]
        assert len(inside) == bar.count, (one, bar)


@given(st.lists(st.lists(st.integers(0, 10**7), max_size=6).map(sorted), max_size=9))
def test_lines_of_any_length_are_drawn(steps: list[list[int]]) -> None:
    lines = [
        Line(f"<{at}>", [(step, "<m>") for step in one], max(one, default=0), True) for at, one in enumerate(steps)
    ]
    drawing = Parsed(rising(lines, 'a "label"'))
    assert len([tag for tag, _ in drawing.elements if tag == "g"]) == len(steps)
    for _, attributes in drawing.elements:
        assert "nan" not in str(attributes)


def test_a_map_grows_upwards_where_z_is_up() -> None:
    def drawn(up: str) -> str:
        land = Land(Axes("w", up=up))
        land.layers[None] = {(0, 0): Shown("walked", "", (0, 0)), (0, 1): Shown("hazard", "", (0, 0))}
        return land_map(land, "m")[0]

    assert '<path class="hazard" d="M0 1h1v1h-1z"/>' in drawn("y")
    assert '<path class="hazard" d="M0 0h1v1h-1z"/>' in drawn("z")


def test_a_bar_says_its_count() -> None:
    assert "<title>a&lt;b: 3</title>" in bars([Bar("a<b", 3), Bar("c", 0)], "l", "b")
