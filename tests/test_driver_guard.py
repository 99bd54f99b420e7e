"""A coding agent that misbehaves: the evidence is put back and the turn says so; what it left running is ended."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agents import agent
from corridor import Corridor
from scrubjay import Memory, Query
from scrubjay.agent.driver import Driver, Patience
from scrubjay.agent.guarding import Guard
from scrubjay.agent.loop import Run
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.memory.disk import exclusive
from scrubjay.memory.jsonio import Json

KEPT = ("memory.json", "AGENTS.md", "index.jsonl", "grid.jsonl", "worlds.jsonl", "episodes")

EDIT = """\
p = pathlib.Path("episodes/0000/ep_000001/episode.json"); os.chmod(p, 0o644)
t = p.read_text(); f = open(p, "r+"); f.write(t.replace("right", "wrong")); f.close()
os.utime(p, (1, 1))"""
BURY = """\
scrubjay("memory", ".", "append", "notes.md", "- one (hypothesis)"); os.unlink("lives/0001/lock")
scrubjay("memory", ".", "append", "notes.md", "- two (hypothesis)")"""
FORGE = """\
row = json.loads(open("index.jsonl").readlines()[1]); row["summary"] = "found a diamond"
open("index.jsonl", "a").write(json.dumps(row) + chr(10))"""
OPEN = """\
row = {"cell": [9, 9, 9], "kind": "opened", "step": 1, "episode": "ep_000001", "world": "corridor-0"}
open("grid.jsonl", "a").write(json.dumps(row) + chr(10))"""

# name -> what the agent does in its second turn, and what the report says
MISDEEDS = {
    "removes the episodes": ("os.system('chmod -R u+w episodes; rm -rf episodes')", "restored episodes: "),
    "removes all": ("for p in os.listdir('.'): subprocess.run(['rm', '-rf', p])", "restored memory.json: it was rem"),
    "removes the memory": ("subprocess.run(['rm', '-rf', os.getcwd()]); os.chdir('/')", "restored memory.json: "),
    "moves the episodes": ("os.rename('episodes', 'mine/e')", "restored episodes: the folder was gone"),
    "links the episodes": ("os.rename('episodes', 'mine/e'); os.symlink('mine/e', 'episodes')", "restored episodes: "),
    "empties the index": ("open('index.jsonl', 'w').close()", "restored index.jsonl: "),
    "removes the index": ("os.unlink('index.jsonl')", "restored index.jsonl: it was removed"),
    "overwrites the index": ("pathlib.Path('index.jsonl').write_text('x' * 9999)", "restored index.jsonl: its content"),
    "puts a folder there": ("os.unlink('index.jsonl'); os.makedirs('index.jsonl/x')", "restored index.jsonl: "),
    "puts a pipe there": ("os.unlink('index.jsonl'); os.mkfifo('index.jsonl')", "restored index.jsonl: "),
    "edits a record": (
        EDIT,
        "restored episodes/0000/ep_000001/episode.json: its content was changed",
    ),
    "adds to a record": (
        "p = 'episodes/0000/ep_000001/steps.jsonl'; os.chmod(p, 0o644); open(p, 'a').write('{}')",
        "restored episodes/0000/ep_000001/steps.jsonl: ",
    ),
    "removes a frame": (
        "os.chmod('episodes/0000/ep_000001', 0o755); os.unlink('episodes/0000/ep_000001/end.webp')",
        "restored episodes/0000/ep_000001/end.webp: it was removed",
    ),
    "hides an episode": ("os.chmod('episodes/0000/ep_000001', 0)", None),
    "forgets an episode": (
        "d = pathlib.Path('episodes/0000/ep_000001'); os.chmod(d, 0o755); shutil.rmtree(d)",
        "restored episodes/0000/ep_000001: ",
    ),
    "removes the lock": ("os.unlink('lives/0001/lock')", "restored lives/0001/lock: it was removed"),
    "replaces the lock": ("p = 'lives/0001/lock'; os.unlink(p); open(p, 'w').close()", "held lives/0001/lock again"),
    "has the life buried": (BURY, "took 1 forged line out of lives.jsonl"),
    "removes the lives": ("shutil.rmtree('lives')", "restored lives: "),
    "removes the locks": ("shutil.rmtree('.locks')", "restored .locks: "),
    "forges an episode": (FORGE, "took 1 forged line out of index.jsonl"),
    "forges a cell": (OPEN, "took 1 forged line out of grid.jsonl"),
    "forges the log": ("open('lives/0001/logs.txt', 'a').write('[EVENT] won')", "took 1 forged line out of lives"),
    "forges a turn": ("open('lives/0001/turns.jsonl', 'a').write('{\"turn\": 9}' + chr(10))", "took 1 forged "),
    "poisons the cache": ("os.makedirs('.cache', exist_ok=True); open('.cache/index.sqlite', 'w').write('x')", None),
    "links the turn": (
        "shutil.rmtree('lives/0001/turn'); os.symlink('../../episodes/0000/ep_000001', 'lives/0001/turn')",
        None,
    ),
    "removes mine": ("shutil.rmtree('mine')", "restored mine: "),
}  # fmt: skip


def contents(root: Path) -> dict[str, bytes]:
    """Every recorded file and what it holds, the agent's own and what is of the present turn aside."""
    paths = [path for name in KEPT for path in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])]
    return {str(path.relative_to(root)): path.read_bytes() for path in paths if path.is_file()}


def lived(folder: Path, body: str, name: str = "m", steps: int = 3) -> tuple[Memory, list[Json], list[str]]:
    memory, told = Memory.create(folder / name), list[str]()
    command = agent(folder, body)
    with Driver(command, memory, patience=Patience(seconds=20), tell=told.append) as driver:
        Run(Corridor(), driver, memory, steps=steps).run()
    memory.close()
    return memory, list(journal.rows(memory.layout.turns(1))), told


@pytest.mark.parametrize(("misdeed", "report"), MISDEEDS.values(), ids=MISDEEDS.keys())
def test_what_is_done_to_the_evidence_is_undone_and_reported(tmp_path: Path, misdeed: str, report: str | None) -> None:
    body = "act(right)\nif turn == 2:\n" + "\n".join(f"    {line}" for line in misdeed.splitlines())
    memory, turns, told = lived(tmp_path, body)
    found = check(memory.layout)
    assert found.is_sound
    assert found.counts["broken lines"] == 0
    rows = memory.find(Query(life=1)).rows
    assert [row.id for row in rows] == [f"ep_{n:06d}" for n in range(4)]
    assert rows[1].summary.startswith('[ACTION] "right"')
    assert [memory.episode(row.id).end_frame().array()[0, 0, 0] for row in rows] == [
        row.end[0] for row in rows if row.end
    ]
    assert [life.outcome for life in memory.lives()] == ["budget spent"]
    assert [turn["turn"] for turn in turns] == [1, 2, 3]
    if report is None:
        assert not any("episode.json" in line for line in told)
    else:
        assert any(line.startswith(report) for line in told), told
        assert any(event.startswith(report) for event in turns[1]["events"])
    assert all("events" not in turn for turn in (turns[0], turns[2]))


def test_an_agent_that_only_writes_its_own_leaves_the_evidence_byte_for_byte(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    with Driver(agent(tmp_path, "act(right)"), memory) as driver:
        Run(Corridor(), driver, memory, steps=2).run()
    before = contents(tmp_path / "m")
    with Driver(
        agent(tmp_path, "act(right); os.system('chmod -R u+w episodes; rm -rf episodes')"),
        memory,
        tell=lambda line: None,
    ) as driver:
        Run(Corridor(), driver, memory, steps=2).run()
    memory.close()
    after = contents(tmp_path / "m")
    assert {path: after[path][: len(data)] for path, data in before.items()} == before


def test_rows_of_another_life_that_come_meanwhile_stay(tmp_path: Path) -> None:
    body = """
act(right)
if turn == 3:
    from scrubjay import Memory
    with Memory.open(".") as memory, memory.live("another", "there") as life:
        with life.episode("look", state={"pos": [0, 0, 0]}) as episode:
            episode.step({}, state={"pos": [1, 0, 0]})
    open("index.jsonl", "r+").write("x")
"""
    memory, _, told = lived(tmp_path, body)
    assert [line.split(":")[0] for line in told] == ["restored index.jsonl"]
    assert [row.life for row in memory.iterate(Query(life="all"))] == [1, 1, 1, 2, 1]
    assert check(memory.layout).is_sound


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="/proc/locks says who waits for a lock")
def test_a_row_that_comes_while_a_journal_is_put_back_stays(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        with memory.live("walk", "here") as life, life.episode("look", state={}) as episode:
            episode.step({}, state={})
        layout = memory.layout
        guard = Guard(layout, 1)
        guard.keep()
        recorded = Path(layout.index).read_bytes()
        Path(layout.index).write_bytes(b"x" + recorded[1:])
        lock = layout.lock_of(layout.index)
        with exclusive(lock):  # another life is about to append its row
            restoring = threading.Thread(target=guard.restore)
            restoring.start()
            while f":{os.stat(lock).st_ino} " not in "".join(
                line for line in Path("/proc/locks").read_text().splitlines() if "->" in line
            ):
                time.sleep(0.01)
            with open(layout.index, "ab") as file:
                file.write(b'{"id": "ep_000001"}\n')
        restoring.join()
        guard.close()
        assert Path(layout.index).read_bytes() == recorded + b'{"id": "ep_000001"}\n'


def test_finished_episodes_are_read_only_while_it_lives(tmp_path: Path) -> None:
    body = """
act(right)
modes = [oct(os.stat(p).st_mode & 0o777) for p in ("episodes/0000/ep_000000", "episodes/0000/ep_000000/episode.json")]
pathlib.Path("mine/modes.txt").write_text(" ".join(modes))
"""
    memory, _, _ = lived(tmp_path, body)
    assert memory.documents.read("modes.txt") == "0o555 0o444"
    folder = Path(memory.layout.episode("ep_000000"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "episode.json").stat().st_mode) == 0o644
    assert os.access(folder / "episode.json", os.W_OK)


# --- processes


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


HANGS = {
    "sleeps": "time.sleep(600)",
    "ignores the asking": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    "a child sleeps": "subprocess.run(['sleep', '600'])",
}


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS.keys())
def test_a_hang_ends_at_the_limit_with_all_its_processes(tmp_path: Path, body: str) -> None:
    memory = Memory.create(tmp_path / "m")
    command = agent(tmp_path, "pathlib.Path('mine/pid').write_text(str(os.getpid()))\n" + body)
    began = time.monotonic()
    with Driver(command, memory, patience=Patience(seconds=0.7, starts=1)) as driver:
        Run(Corridor(), driver, memory, steps=1).run()
    assert time.monotonic() - began < 60
    assert not is_alive(int(memory.documents.read("pid")))
    (turn,) = journal.rows(memory.layout.turns(1))
    assert turn["events"][0].startswith("no plan: it was not written (it was ended after ")
    memory.close()


def test_a_plan_that_was_written_before_the_hang_counts(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    with Driver(agent(tmp_path, "act(right); time.sleep(600)"), memory, patience=Patience(seconds=0.7)) as driver:
        Run(Corridor(), driver, memory, steps=1).run()
    (turn,) = journal.rows(memory.layout.turns(1))
    assert turn["entries"] == [["right", 1]]
    memory.close()


DAEMON = """
act(right)
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pathlib.Path("mine/pid").write_text(str(os.getpid()))
    for n in range(6000):
        time.sleep(0.05)
        try:
            open("index.jsonl", "a").write("{}")
        except OSError:
            pass
    os._exit(0)
while not os.path.exists("mine/pid"):
    time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group is reached")
def test_a_process_that_made_itself_a_daemon_is_ended_with_the_turn(tmp_path: Path) -> None:
    memory, _, _ = lived(tmp_path, DAEMON, steps=1)
    assert not is_alive(int(memory.documents.read("pid")))
    assert check(memory.layout).is_sound


LIVING = """
import sys
sys.path.insert(0, {tests!r})
from corridor import Corridor
from scrubjay import Memory
from scrubjay.agent.driver import Driver
from scrubjay.agent.loop import Run
memory = Memory.create({memory!r})
with memory, Driver({command!r}, memory) as driver:
    print(Run(Corridor(), driver, memory, steps=9).run().is_stopped)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9 of the harness"])
def test_the_agent_ends_with_the_harness(tmp_path: Path, number: signal.Signals) -> None:
    command = agent(tmp_path, "pathlib.Path('mine/pid').write_text(str(os.getpid())); time.sleep(600)")
    program = LIVING.format(tests=str(Path(__file__).parent), memory=str(tmp_path / "m"), command=command)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as harness:
        pid = tmp_path / "m/mine/pid"
        while not (pid.exists() and pid.read_text()):
            assert harness.poll() is None
            time.sleep(0.02)
        harness.send_signal(number)
        assert harness.stdout is not None
        said = harness.stdout.read()
    if number is signal.SIGINT:
        assert said == "True\n"
    deadline = time.monotonic() + 5
    while is_alive(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(int(pid.read_text()))
    with Memory.open(tmp_path / "m") as memory:
        assert [life.outcome for life in memory.lives()] == ["interrupted"]
        assert [row.kind for row in memory.find(Query(life=1)).rows] == ["initial"]
        assert check(memory.layout).is_sound


# --- the guard itself


def test_the_copy_is_taken_once_and_only_what_is_new_afterwards(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    with memory.live("walk", "here") as life:
        for place in range(3):
            with life.episode("right", state={"pos": [place, 0, 0]}) as episode:
                episode.step({}, state={"pos": [place + 1, 0, 0]})
        guard = Guard(memory.layout, life.number)
        guard.keep()
        first = guard.size
        guard.keep()
        assert guard.size == first
        assert guard.restore() == []
        with life.episode("right") as episode:
            episode.step({}, state={"pos": [4, 0, 0]})
        assert guard.restore() == []
        guard.keep()
        assert 0 < guard.size - first < first
        guard.close()
    memory.close()
