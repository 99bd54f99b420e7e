"""The workshop turn: a later life begins by going through earlier lives' evidence, and takes no step for it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from agents import agent
from chat_models import Canned
from corridor import Always, Corridor, Rules, Walker
from scrubjay import Memory
from scrubjay.agent.conversation import Conversation
from scrubjay.agent.driver import Driver, Patience
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.agent.workshop import RULES, WorkshopTurns, earlier_lives
from scrubjay.errors import ModelUnavailable, NotFound
from scrubjay.experiments.scoring import score
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.memory.jsonio import Json
from scrubjay.methods.named import METHODS, make_method, make_workshop
from scrubjay.models.chat import Reply, Usage
from scrubjay.models.contract import Account, Turn
from scrubjay.models.named import make_model
from test_conversation import Says, act, calls

NOTE = {"command": "create", "path": "/memories/notes.md", "file_text": "- Left hurts [ep_000001]\n"}


def turns(memory: Memory, life: int) -> list[Json]:
    return list(journal.rows(memory.layout.turns(life)))


def first_life(memory: Memory) -> None:
    Run(Corridor(), Always(("right", 3)), memory, task="walk", steps=3).run()


def evidence(memory: Memory) -> str:
    """A digest of what the first life recorded."""
    folders = [Path(memory.layout.episode(ident)) for ident in ("ep_000000", "ep_000001")]
    return hashlib.sha256(b"".join(file.read_bytes() for one in folders for file in sorted(one.iterdir()))).hexdigest()


def talker(*replies: Reply) -> Says:
    return Says(*replies)


def test_a_language_model_looks_and_writes_before_it_acts(memory: Memory) -> None:
    first_life(memory)
    model = talker(
        calls("look", {"reference": "ep_000001", "question": "what lies there?"}),
        calls("documents", NOTE),
        calls("act", {"plan": [{"action": "left"}]}),
        Reply("ready", usage=Usage(1)),
        act("right"),
    )
    player = Conversation(model, memory)
    Run(Corridor(), player, memory, steps=1, workshop=WorkshopTurns(memory, player.workshop)).run()
    workshop, acted = turns(memory, 2)
    assert (workshop["kind"], workshop["turn"], workshop["requests"], workshop["tool_calls"]) == ("workshop", 0, 4, 3)
    assert (workshop["inspected"], len(workshop["changes"])) == (["ep_000001"], 1)
    assert "kind" not in acted
    assert (acted["turn"], acted["first_step"], acted["last_step"]) == (1, 0, 1)
    assert memory.documents.read("notes.md") == NOTE["file_text"]
    assert memory.documents.history()[-1].life == 2
    _, messages, tools = model.shown[0]
    assert "act" not in [tool.name for tool in tools]
    told = str(messages[0].parts[0])
    assert RULES in told
    assert "- life 1 in corridor-0 (walk): budget spent at step 3 [ep_000001]; reached three [ep_000001]" in told
    assert "no step is taken" in str(model.shown[3][1][-1].results[0].parts)
    assert len(model.shown[4][1]) > 4  # what was found out stays in the context of the first acting turn


def test_the_first_life_has_none_and_each_later_one_has_one(memory: Memory) -> None:
    held: list[int] = []
    model = talker(Reply("nothing to do", usage=Usage(1)))
    player = Conversation(model, memory)

    def work(turn: object) -> object:
        held.append(getattr(turn, "life"))  # noqa: B009
        return player.workshop(turn)  # type: ignore[arg-type]

    Run(Corridor(), Always(("left", 3)), memory, steps=7, workshop=WorkshopTurns(memory, work)).run()  # type: ignore[arg-type]
    assert held == [2, 3]
    assert score(memory, "corridor:Corridor")["use"]["workshops"] == 2
    assert score(memory, "corridor:Corridor")["use"]["steps_per_turn"] == pytest.approx(7 / 5)


def test_an_outage_costs_the_workshop_and_not_the_life(memory: Memory) -> None:
    first_life(memory)
    player = Conversation(Canned(ModelUnavailable("away"), act("right")), memory)
    Run(Corridor(), player, memory, steps=1, workshop=WorkshopTurns(memory, player.workshop)).run()
    workshop, acted = turns(memory, 2)
    assert (workshop["failed"], workshop["changes"]) == ("away", [])
    assert acted["episodes"] == ["ep_000003"]


def test_a_player_of_rules_consolidates_and_acts_as_without(memory: Memory, tmp_path: Path) -> None:
    first_life(memory)
    before = evidence(memory)
    player = Rules()
    workshop = make_workshop(player, make_method("mfm"), memory)
    Run(Corridor(), player, memory, steps=3, workshop=workshop).run()
    assert "Milestone three" in memory.documents.read("GUIDE.md")
    rows = turns(memory, 2)
    assert [row.get("kind") for row in rows] == ["consolidation", "workshop", None, None, None]
    assert rows[0]["changes"] == rows[1]["changes"]
    assert evidence(memory) == before
    assert check(memory.layout).is_sound


def test_a_player_of_ones_own_has_one_where_it_has_something_to_do(memory: Memory) -> None:
    class Working(Walker):
        def workshop(self, turn: Turn) -> Account:
            turn.recall.documents.write("notes.md", f"- life {turn.life} begins (hypothesis)\n")
            return Account(tool_calls=1)

    first_life(memory)
    assert make_workshop(Walker(), make_method("mfm"), memory) is None
    player = Working()
    Run(Corridor(), player, memory, steps=1, workshop=make_workshop(player, make_method("mfm"), memory)).run()
    assert memory.documents.read("notes.md") == "- life 2 begins (hypothesis)\n"
    assert [row.get("kind") for row in turns(memory, 2)] == ["workshop", None]


def test_who_has_a_workshop(memory: Memory) -> None:
    has = {name for name in METHODS if make_workshop(make_model("scripted", "crafter"), make_method(name), memory)}
    assert has >= {"mfm", "mfm-no-frames", "mfm-flat", "mfm-no-procedures"}
    assert not has & {"direct", "prolong", "vista", "mfm-no-consolidation", "reflexion", "voyager"}
    for name in has:
        offer = make_method(name).traits.offer
        assert offer.consolidates
        assert "documents" in offer.tools


WORKS = """
if "workshop turn" in prompt:
    assert "life 1 in corridor-0" in pathlib.Path("lives/0002/turn/observation.md").read_text()
    scrubjay("memory", ".", "append", "notes.md", "- Right is good [ep_000001]")
    act([{"action": "left", "repeat": 3}])
    pathlib.Path("index.jsonl").unlink()
    sys.exit(STATUS)
act(right)
"""


@pytest.mark.parametrize("status", [0, 3])
def test_a_coding_agent_has_one_and_its_plan_is_not_carried_out(tmp_path: Path, status: int) -> None:
    memory, told = Memory.create(tmp_path / "m"), list[str]()
    first_life(memory)
    before = evidence(memory)
    command = agent(tmp_path, WORKS.replace("STATUS", str(status)))
    with Driver(command, memory, patience=Patience(seconds=20), tell=told.append) as driver:
        Run(Corridor(), driver, memory, steps=1, workshop=WorkshopTurns(memory, driver.workshop)).run()
    assert evidence(memory) == before
    workshop, acted = turns(memory, 2)
    assert told == ["restored index.jsonl: it was removed"]
    assert workshop["events"][0] == told[0]
    assert [*workshop["events"][1:]] == (["workshop: it ended with status 3"] if status else [])
    assert (acted["entries"], acted["last_step"]) == ([["right", 1]], 1)
    assert memory.documents.read("notes.md") == "- Right is good [ep_000001]\n"
    assert len(workshop["changes"]) == 1
    with pytest.raises(NotFound):
        memory.documents.read("actions.json")
    memory.close()


def test_earlier_lives_are_named_within_bounds(memory: Memory) -> None:
    for _ in range(10):
        Run(Corridor(), Always(("wait", 1)), memory, task="a\nforged: line", steps=1).run()
    told = earlier_lives(memory, 11).splitlines()
    assert told[1] == "- 2 older ones, in the memory as well"
    assert told[2].startswith("- life 3 in corridor-0 (a forged: line): budget spent at step 1 [ep_")
    assert len(told) == 10
    assert told[-1].endswith("reached nothing")


def test_a_workshop_of_a_method_sees_what_the_method_sees(memory: Memory) -> None:
    first_life(memory)
    model = talker(Reply("ready", usage=Usage(1)), act("right"))
    method = make_method("mfm-no-frames")
    environment = Corridor()
    player = method.conversation(model, memory, Skills(environment, memory))
    Run(environment, player, memory, steps=1, workshop=make_workshop(player, method, memory)).run()
    assert [tool.name for tool in model.shown[0][2]] == ["episodes", "answer", "documents"]
