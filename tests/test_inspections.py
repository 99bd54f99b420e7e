"""Looks at a recorded life: what is seen, which questions are kept, and that each view can be made again."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from PIL import Image

from scrubjay.errors import Damaged, InvalidInput, NotFound, ReadOnly
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, Reference
from scrubjay.public import Memory
from scrubjay.retrieval.fetching import Fetcher
from scrubjay.retrieval.inspections import Inspector
from scrubjay.retrieval.questions import Questions
from scrubjay.retrieval.views import Bounds
from scrubjay.surfaces.cli import main


def screen(number: int) -> numpy.typing.NDArray[numpy.uint8]:
    rng = numpy.random.default_rng(number)
    tiles = rng.integers(0, 255, (9, 16, 3), dtype=numpy.uint8)
    return tiles.repeat(10, axis=0).repeat(10, axis=1)


def record(memory: Memory, episodes: int, start: int = 0) -> None:
    """A life that walks east, one step an episode; every third episode's last frame is missing."""
    with memory.live(task="walk", world="plain") as life:
        for number in range(start, start + episodes):
            state = {"pos": [float(number), 64.0, -10.5]}
            with life.episode("go_to", {"x": number + 1}, frame=screen(number), state=state) as episode:
                after = {"pos": [number + 1.0, 64.0, -10.5]}
                if number % 3 == 2:
                    episode.step({"forward": 1}, frame_missing="the camera was off", state=after)
                else:
                    episode.step({"forward": 1}, frame=screen(number + 1), state=after)
                episode.finish(outcome="success")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.create(tmp_path / "memory") as made:
        record(made, 6)
        yield made


def stored(memory: Memory) -> list[Json]:
    return list(journal.rows(memory.layout.inspections))


def test_a_look_without_a_question_stores_nothing(memory: Memory) -> None:
    view = memory.look("ep_000002")
    assert view.data == memory.episode("ep_000002").start_frame().data
    assert view.inspection is None
    assert stored(memory) == []


def test_a_question_is_stored_with_what_was_looked_at(memory: Memory) -> None:
    view = memory.look("ep_000002#2", zoom=(150, 80, 20, 20), question="is the door open?")
    assert view.inspection == "q_000001"
    assert view.question == "is the door open?"
    (row,) = stored(memory)
    assert row["kind"] == "question"
    assert row["view"] == "look"
    assert row["sources"] == [{"reference": "ep_000002#2", "camera": None, "region": [150, 80, 10, 10]}]


def test_an_answer_is_recalled_with_its_question(memory: Memory) -> None:
    memory.look("ep_000002#2", question="is the door open?")
    memory.compare(["ep_000001", "ep_000003"], question="the same tree?")
    memory.answer("q_000001", "no, half")
    memory.answer("q_000001", "no, closed")
    recall = Inspector(memory).recall
    assert [(q.id, q.question, q.answer) for q in recall()] == [
        ("q_000001", "is the door open?", "no, closed"),
        ("q_000002", "the same tree?", None),
    ]
    assert [q.id for q in recall("ep_000002")] == ["q_000001"]
    assert [q.id for q in recall(Reference("ep_000002", 2))] == ["q_000001"]
    assert recall("ep_000002#3") == []
    assert [row["kind"] for row in stored(memory)] == ["question", "question", "answer", "answer"]
    with pytest.raises(NotFound, match="q_000099"):
        memory.answer("q_000099", "yes")
    with pytest.raises(InvalidInput, match="some text"):
        memory.answer("q_000001", " ")


def test_each_stored_question_makes_its_view_again(memory: Memory) -> None:
    inspector = Inspector(memory)
    views = [
        memory.look("ep_000001", question="what is it?"),
        memory.look("ep_000001#1", zoom=(-5, 3, 40, 40), question="and there?"),
        memory.sheet(memory.find(), question="which one?"),
        memory.sheet(["ep_000001"] * 66, question="how many?"),
        memory.then_now("ep_000001", now=screen(99), question="the same entrance?"),
        memory.compare(["ep_000001", "ep_000003#3"], question="which is newer?"),
        inspector.compare(["ep_000001", "ep_000002"], zoom=(0, 0, 30, 30), question="which is larger?"),
        Inspector(memory, Bounds(100, 9000)).look("ep_000001", question="small?"),
    ]
    for view, row in zip(views, stored(memory), strict=True):
        assert view.inspection == row["id"]
        again = inspector.remake(row)
        assert again.data == view.data
        assert again.left_out == view.left_out
        assert inspector.remake(row["id"]).data == view.data
    with pytest.raises(InvalidInput, match="none that can be made"):
        inspector.remake({"view": "dream", "sources": []})


def test_a_picture_that_was_given_is_kept_whole_or_refused(memory: Memory) -> None:
    memory.then_now("ep_000001", now=screen(99), question="the same?")
    (row,) = stored(memory)
    assert row["sources"][1]["reference"] is None
    row["sources"][1]["data"] = "AAAA"
    with pytest.raises(Damaged, match=r"inspections\.jsonl"):
        Inspector(memory).remake(row)


def test_a_missing_frame_is_told_by_a_look_and_shown_as_a_cell(memory: Memory) -> None:
    with pytest.raises(NotFound, match="the camera was off"):
        memory.look("ep_000002#3")
    view = memory.compare(["ep_000002", "ep_000002#3"])
    assert view.sources[0].missing is None
    assert "the camera was off" in (view.sources[1].missing or "")


def test_unknown_references_and_steps_are_told(memory: Memory) -> None:
    for reference in ("ep_000777", "ep_000001#5000"):
        with pytest.raises(NotFound, match="ep_000"):
            memory.look(reference)
    with pytest.raises(InvalidInput, match="one looks like"):
        memory.look("episode 3")
    with pytest.raises(NotFound, match="ep_000777"):
        memory.compare(["ep_000001", "ep_000777"])
    with pytest.raises(NotFound, match="not an episode id in the index and not a file"):
        memory.then_now("ep_000777", now=screen(1))


def test_then_may_be_a_picture_from_elsewhere(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "before.png"
    Image.fromarray(screen(5)).save(path)
    view = memory.then_now(str(path), now=path, question="any change?")
    assert view.inspection == "q_000001"
    assert Inspector(memory).remake("q_000001").data == view.data


def test_a_read_only_memory_shows_and_says_that_it_keeps_nothing(memory: Memory) -> None:
    with Memory.open(memory.root, read_only=True) as reader:
        view = reader.look("ep_000001", question="what is it?")
        assert view.data == memory.look("ep_000001").data
        assert view.inspection is None
        assert "not stored" in (view.warning or "")
        with pytest.raises(ReadOnly):
            reader.answer("q_000001", "a tree")
    assert stored(memory) == []


def test_a_folder_that_cannot_be_written_shows_and_warns(memory: Memory) -> None:
    os.mkdir(memory.layout.inspections)
    view = memory.look("ep_000001", question="what is it?")
    assert view.size == (160, 90)
    assert "not stored" in (view.warning or "")


def test_a_sheet_of_rows_shows_their_starts(memory: Memory) -> None:
    view = memory.sheet(memory.find())
    assert [str(source.reference) for source in view.sources] == [f"ep_{n:06d}" for n in range(6)]
    assert all(source.size == (160, 90) for source in view.sources)


def test_a_frame_whose_file_is_cut_costs_its_cell_alone(memory: Memory) -> None:
    path = os.path.join(memory.layout.episode("ep_000002"), "start.webp")
    data = Path(path).read_bytes()
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    os.unlink(path)
    Path(path).write_bytes(data[: len(data) // 2])
    with pytest.raises(Damaged, match=r"ep_000002/start\.webp"):
        memory.look("ep_000002")
    view = memory.sheet(memory.find())
    assert [source.missing is None for source in view.sources] == [n != 2 for n in range(6)]


def test_each_camera_of_a_step_is_seen(memory: Memory) -> None:
    both = {"front": screen(1), "map": screen(2)}
    with memory.live(world="plain") as life, life.episode("look", {}, frame=both, state={}) as episode:
        episode.step({}, frame=both, state={})
        episode.finish()
        reference = episode.id
    view = memory.look(reference, camera="map", question="where?")
    assert numpy.array_equal(numpy.asarray(view.image()), screen(2))
    assert Inspector(memory).remake(view.inspection or "").data == view.data
    assert numpy.array_equal(numpy.asarray(memory.look(f"{reference}#0").image()), screen(1))
    with pytest.raises(NotFound, match="it has 'front', 'map'"):
        memory.look(reference, camera="rear")


def test_the_frames_of_a_published_run_are_seen(tmp_path: Path) -> None:
    Image.fromarray(screen(3)).save(tmp_path / "seen.png")
    rows: list[Json] = [
        {"id": f"ep_{n:06d}", "kind": "episode", "path": f"episodes/ep_{n:06d}", "image": image, "action_kind": "go_to",
         "first_step": n, "last_step": n + 1, "x": 3168.66, "y": 64.0, "z": 1419.47, "summary": "", "tags": []}
        for n, image in ((1, "seen.png"), (2, "gone.png"), (3, None))
    ]  # fmt: skip
    (tmp_path / "index.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Memory.open(tmp_path, read_only=True) as published:
        assert published.look("ep_000001").data == (tmp_path / "seen.png").read_bytes()
        view = published.sheet(published.find(), question="any iron?")
        assert [source.missing for source in view.sources] == [
            None,
            "ep_000002 has no frame: gone.png is not there",
            "ep_000003 has no frame",
        ]
        assert "not stored" in (view.warning or "")
        assert published.then_now("ep_000001", now=screen(4)).sources[0].size == (160, 90)


def test_the_commands_write_pictures_and_keep_questions(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["look", memory.root, "ep_000001"]) == 0
    assert capsys.readouterr().out == "ep_000001.webp\n"
    assert Path("ep_000001.webp").read_bytes() == memory.episode("ep_000001").start_frame().data
    assert main(["look", memory.root, "ep_000001#1", "--zoom", "150", "80", "20", "20", "--q", "what?"]) == 0
    said = capsys.readouterr()
    assert said.out == "ep_000001-1-zoom-150-80-20-20.png\n"
    assert "region 150 80 10 10 (what lies inside)" in said.err
    assert "q_000001" in said.err
    assert main(["compare", memory.root, "ep_000001", "ep_000003#3", "--out", "pair.jpg", "--q", "same?"]) == 0
    assert capsys.readouterr().out == "pair.jpg\n"
    assert main(["answer", memory.root, "q_000002", "no"]) == 0
    assert [q.answer for q in Inspector(memory).recall()] == [None, "no"]
    assert main(["answer", memory.root, "q_000009", "no"]) == 1
    assert main(["look", memory.root, "ep_000001", "--zoom", "500", "0", "5", "5"]) == 1
    assert "160 pixels wide and 90 high" in capsys.readouterr().err
    assert main(["compare", memory.root, "ep_000001"]) == 1


def _ask(root: str, count: int) -> list[str]:
    questions = Questions(Layout(root))
    return [questions.ask("look", f"{os.getpid()} {n}", [], None, None, {}) for n in range(count)]


def test_eight_processes_never_get_the_same_id(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    os.mkdir(layout.locks)
    with multiprocessing.get_context("fork").Pool(8) as pool:
        given = [ident for part in pool.starmap(_ask, [(layout.root, 10)] * 8) for ident in part]
    assert sorted(given) == [f"q_{n:06d}" for n in range(1, 81)]
    assert [row["id"] for row in journal.rows(layout.inspections)] == sorted(given)


def test_ids_go_on_behind_torn_and_broken_lines(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    os.mkdir(layout.locks)
    questions = Questions(layout)
    assert questions.ask("look", "one", [], None, None, {}) == "q_000001"
    whole = json.dumps({"id": "q_000002", "kind": "question", "view": "look", "question": "two", "sources": []})
    with open(layout.inspections, "a") as file:
        file.write(whole)  # its newline was lost
    assert questions.ask("look", "three", [], None, None, {}) == "q_000003"
    with open(layout.inspections, "a") as file:
        file.write('{"id": "q_000004", "kin')
    questions.answer("q_000003", "yes", None, None)
    assert questions.ask("look", "four", [{"reference": "nonsense"}, {}], None, None, {}) == "q_000004"
    assert [(q.id, q.answer) for q in questions.recall()] == [
        ("q_000001", None),
        ("q_000002", None),
        ("q_000003", "yes"),
        ("q_000004", None),
    ]


def test_a_stored_question_shows_its_view_again(lived: Memory) -> None:
    view = lived.look("ep_000001#2", question="is it free?")
    assert [asked.question for asked in lived.questions("ep_000001")] == ["is it free?"]
    assert view.inspection is not None
    assert lived.look_again(view.inspection).data == view.data


def test_a_sheet_shows_and_names_the_milestone(memory: Memory) -> None:
    with memory.live(task="dig", world="plain") as life:
        first = {"pos": [0.0, 64.0, 0.0], "milestones": ["log"]}
        with life.episode("dig", {}, frame=screen(50), state=first) as episode:
            for step in (1, 2, 3):
                reached = ["log", "stone"] if step >= 2 else ["log"]
                state = {"pos": [float(step), 64.0, 0.0], "milestones": reached}
                episode.step({}, frame=screen(50 + step), state=state)
            row = episode.finish()
    view = memory.sheet([row], question="stone?")
    (source,) = view.sources
    assert str(source.reference) == f"{row.id}#2"
    x, y, w, h = source.at or (0, 0, 0, 0)
    shown = view.image().crop((x, y, x + w, y + h)).resize((160, 90), Image.Resampling.BOX)
    wanted = memory.episode(row.id).frame(2).array()
    assert numpy.abs(numpy.asarray(shown).astype(int) - wanted).max() <= 1
    assert Fetcher(memory, Bounds()).of_item(row).milestones == ("stone",)
    assert Inspector(memory).remake(view.inspection or "").data == view.data
