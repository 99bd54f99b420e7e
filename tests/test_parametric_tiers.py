"""Two tiers in the agent's loop: which turns the fast policy takes, what it leaves, and what becomes of both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from corridor import Always, Corridor
from scrubjay import Memory, Query
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.environments.contract import Environment
from scrubjay.errors import Damaged, ModelUnavailable
from scrubjay.memory import journal
from scrubjay.methods.named import make_method, make_player
from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.parametric.backbone import Generation
from scrubjay.parametric.categories import Categories, Category
from scrubjay.parametric.examples import Prompt
from scrubjay.parametric.metrics import jaccard, tier_use
from scrubjay.parametric.policy import policy_of
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.staging import stage
from scrubjay.parametric.tiers import FAST, FastTier, TwoTiers, goal_by_memory
from scrubjay.surfaces.cli import main
from test_conversation import Says, act

RIGHT = "def go_right():\n    act('right', 2)"
WALK = Categories((Category("walk", frozenset({"walk"})),))


class Prepared:
    """A fast policy of prepared texts, which notes what it was asked."""

    sees = False

    def __init__(self, *texts: str, categories: tuple[str, ...] = ("walk",)) -> None:
        self.categories, self._texts = categories, list(texts)
        self.asked: list[tuple[str, Prompt]] = []

    def generate(self, category: str, prompt: Prompt) -> Generation:
        self.asked.append((category, prompt))
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        return Generation(text, 11, 7, text == "cut", 0.25)


def tier_of(memory: Memory, environment: Environment, policy: Prepared, goal: str | None = "walk on") -> FastTier:
    return FastTier(policy, memory, Skills(environment, memory), WALK, lambda turn: goal)


def live(
    memory: Memory, tier: FastTier, environment: Environment, steps: int = 8, slow: Always | None = None
) -> Always:
    slow = slow or Always(("wait", 1))
    Run(environment, TwoTiers(tier, slow), memory, steps=steps, lives=1).run()
    return slow


@pytest.fixture
def corridor() -> Corridor:
    return Corridor()


def test_the_fast_policy_acts_and_its_turns_are_told_apart(
    memory: Memory, corridor: Corridor, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = Prepared(RIGHT)
    tier = tier_of(memory, corridor, policy)
    slow = live(memory, tier, corridor)
    assert slow.turns == []
    assert (tier.tally.taken, tier.tally.verified) == (4, 3)  # the last is judged at a turn that did not come
    assert policy.asked[0][0] == "walk"
    rows = list(journal.rows(memory.layout.turns(1)))
    assert rows[0]["events"] == [f"{FAST}: walk"]
    assert (rows[0]["input_tokens"], rows[0]["output_tokens"], rows[0]["seconds"]) == (11, 7, 0.25)
    (written,) = memory.procedures.list()
    assert (written.name, written.category, (written.source or "").strip()) == ("go-right", "walk", RIGHT)
    assert memory.procedures.statistics("go-right").called == 4
    assert [one.action_kind for one in memory.iterate(Query(action="go-right"))] == ["go-right"] * 4
    assert {one.context.category for one in stage(memory, WALK).successes} == {"walk"}
    journal.append(memory.layout.turns(1), memory.layout.lock_of(memory.layout.turns(1)), [{"kind": "consolidation"}])
    use = tier_use(memory)
    assert (use.turns, use.fast, use.share, use.tokens, use.latency) == (4, 4, 1.0, 72, 0.25)
    assert tier_use(memory, [2]).share == 0.0
    assert main(["adapters", "use", memory.root]) == 0
    assert capsys.readouterr().out == (
        "life 1: 4 of 4 turns on the fast path, 0.25 s from observation to action (median), 72 tokens\n"
    )
    assert main(["adapters", "use", memory.root, "--json"]) == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cut", "max_new_tokens"),
        ("Here is the code:\n```python\nact('right')\n```", "no procedure"),
        ("def f():\n    fly()", "refused by the sandbox"),
        ("def F_():\n    act('right', 1)", "no procedure can be made of it"),
    ],
)
def test_what_can_not_run_costs_no_step_and_the_slow_model_acts(
    text: str, why: str, memory: Memory, corridor: Corridor
) -> None:
    tier = tier_of(memory, corridor, Prepared(text))
    slow = live(memory, tier, corridor, steps=3)
    assert len(slow.turns) == 3
    assert tier.tally.left == {why: 3}


@pytest.mark.parametrize(
    ("goal", "categories", "why"),
    [(None, ("walk",), "no category"), ("sing", ("walk",), "no category"), ("walk", (), "no adapter")],
)
def test_a_task_that_no_adapter_is_for_goes_to_the_slow_model(
    goal: str | None, categories: tuple[str, ...], why: str, memory: Memory, corridor: Corridor
) -> None:
    policy = Prepared(RIGHT, categories=categories)
    tier = tier_of(memory, corridor, policy, goal)
    live(memory, tier, corridor, steps=2)
    assert tier.tally.left == {why: 2}
    assert policy.asked == []


class Away(Prepared):
    """A fast policy whose server gives no answer."""

    def generate(self, category: str, prompt: Prompt) -> Generation:
        raise ModelUnavailable("no answer")


def test_where_the_server_is_away_the_slow_model_acts(memory: Memory, corridor: Corridor) -> None:
    tier = tier_of(memory, corridor, Away(""))
    assert len(live(memory, tier, corridor, steps=2).turns) == 2
    assert tier.tally.left == {"no answer from its server": 2}


class Unusable(Prepared):
    """A fast policy whose adapter can't be read."""

    def generate(self, category: str, prompt: Prompt) -> Generation:
        raise Damaged("12 bytes were expected and 3 are there", file="adapters/walk/0001/adapter_model.safetensors")


def test_an_adapter_that_is_broken_costs_no_life_and_a_person_is_told(memory: Memory, corridor: Corridor) -> None:
    tier = tier_of(memory, corridor, Unusable(""))
    with pytest.warns(RuntimeWarning, match="leaves walk to the slow model: adapters/walk/0001"):
        assert len(live(memory, tier, corridor, steps=2).turns) == 2
    assert tier.tally.left == {"its adapter can't be used": 2}


def test_a_broken_file_of_what_is_in_place_costs_no_life(memory: Memory, corridor: Corridor) -> None:
    shelf = Shelf(memory.layout)
    shelf.choose_base("http://127.0.0.1:1")
    path = Path(shelf.root) / "walk" / "current.json"
    path.parent.mkdir()
    path.write_text("[")
    policy = policy_of(memory)
    assert policy is not None
    tier = FastTier(policy, memory, Skills(corridor, memory), WALK, lambda turn: "walk")
    with pytest.warns(RuntimeWarning, match=r"current\.json"):
        assert len(live(memory, tier, corridor, steps=1).turns) == 1


def test_what_was_done_is_read_once_also_where_nothing_was(memory: Memory) -> None:
    memory.procedures.create("stride", "Walks.", code="def stride():\n    act('right', 3)\n", category="reach")
    categories = Categories((Category("reach", frozenset({"three"})),))
    goal, said = goal_by_memory(memory, categories), []
    plans = [Plan((Entry("stride", arguments={}),), "three")] * 2

    class Asks(InTurn):
        def decide(self, turn: Turn) -> Plan:
            said.append(goal(turn))
            return super().decide(turn)

    Run(Corridor(), Asks(plans), memory, steps=6, lives=1).run()
    Run(Corridor(), Asks(plans), memory, steps=3, lives=1).run()
    assert said == [None, None, None]  # a life later it is still what was known at the first turn


def test_after_a_failure_the_slow_model_acts_and_the_same_is_asked_again_later(
    memory: Memory, corridor: Corridor
) -> None:
    """Ten turns later: the same words give the same procedure."""
    policy = Prepared("def stand():\n    act('wait', 1)", RIGHT)
    tier = tier_of(memory, corridor, policy)
    slow = live(memory, tier, corridor, steps=14, slow=Always(("right", 1)))
    assert [turn.turn for turn in slow.turns] == list(range(2, 12))
    assert tier.tally.left == {"the fast attempt before failed": 1, "it failed from such a state lately": 9}
    assert len(policy.asked) == 3
    staged = stage(memory, WALK)
    assert len(staged.pairs) == 1  # the fast policy's own failure, corrected later, is there for the next cycle
    assert staged.pairs[0].failed.procedure == "stand"


def test_a_procedure_that_was_internalised_keeps_its_file_and_its_citations(lived: Memory, corridor: Corridor) -> None:
    code = RIGHT.replace("go_right", "stride")
    lived.procedures.create("stride", "Walks.", code=code + "\n", cites=["ep_000001"])
    before = lived.documents.read("procedures/stride/SKILL.md")
    live(lived, tier_of(lived, corridor, Prepared(code)), corridor, steps=2)
    assert [one.name for one in lived.procedures.list()] == ["stride"]
    assert lived.procedures.statistics("stride").called == 1
    assert lived.documents.read("procedures/stride/SKILL.md") == before


def test_a_disabled_procedure_is_not_written_anew(lived: Memory, corridor: Corridor) -> None:
    lived.procedures.create("go-right", "Walks.", code=RIGHT + "\n")
    lived.procedures.disable("go-right", "it hurts [ep_000001]")
    tier = tier_of(lived, corridor, Prepared(RIGHT))
    live(lived, tier, corridor, steps=1)
    assert tier.tally.left == {"no procedure can be made of it": 1}


def test_another_procedure_of_the_same_name_stays(memory: Memory, corridor: Corridor) -> None:
    memory.procedures.create("go-right", "Waits.", code="def go_right():\n    act('wait', 1)\n")
    tier = tier_of(memory, corridor, Prepared(RIGHT))
    live(memory, tier, corridor, steps=6)
    names = [one.name for one in memory.procedures.list()]
    assert len(names) == 2
    assert names[1].startswith("walk-")
    assert memory.procedures.statistics(names[1]).called == 3  # and is found again, under the name that it got
    assert tier.tally.left == {}


def test_the_goal_is_the_task_or_the_next_milestone_that_was_done_before(memory: Memory) -> None:
    categories = Categories((Category("reach", frozenset({"three", "six"})),))
    environment = Corridor()
    memory.procedures.create("stride", "Walks.", code="def stride():\n    act('right', 3)\n", category="reach")
    plans = [Plan((Entry("stride", arguments={}),), name) for name in ("three", "six")]
    Run(environment, InTurn(plans), memory, steps=6, lives=1).run()
    goal = goal_by_memory(memory, categories)

    def turn(task: str, *milestones: str) -> Turn:
        return Turn(
            task=task, life=2, turn=1, step=0, steps_left=9, world=memory.world("corridor-0"),
            frame=Corridor().render(), state={}, milestones=milestones, recent=(), recall=memory,
            known_milestones=("three", "six"),
        )  # fmt: skip

    assert goal(turn("get to six")) == "get to six"
    assert goal(turn("live")) == "three"
    assert goal(turn("live", "three")) == "six"
    assert goal(turn("live", "three", "six")) is None


class InTurn(Always):
    """Hands in one plan after the other."""

    def __init__(self, plans: list[Plan]) -> None:
        super().__init__(("wait", 1))
        self._plans = plans

    def decide(self, turn: Turn) -> Plan:
        return self._plans[turn.turn - 1]


def test_how_much_two_choices_have_in_common() -> None:
    assert jaccard(["a", "b"], ["b", "c"]) == pytest.approx(1 / 3)
    assert jaccard([], []) == 1.0


# --- methods


@pytest.mark.parametrize("name", ["peam", "mfm-peam"])
def test_the_methods_put_the_fast_tier_before_a_language_model(name: str, memory: Memory, corridor: Corridor) -> None:
    method, model = make_method(name), Says(act("wait"))
    Shelf(memory.layout).choose_base("smollm2-135m")  # chosen, but no adapter is there: nothing is loaded
    agent = method.conversation(model, memory, Skills(corridor, memory))
    Run(corridor, agent, memory, steps=2, recall=method.recall).run()
    assert len(model.shown) == 2
    agent.first = tier_of(memory, corridor, Prepared(RIGHT)).plan
    Run(corridor, agent, memory, steps=2, recall=method.recall).run()
    assert len(model.shown) == 2
    assert memory.procedures.statistics("go-right").called == 1


def test_a_player_of_rules_lives_behind_the_fast_tier(memory: Memory, corridor: Corridor) -> None:
    skills = Skills(corridor, memory)
    for name in ("peam", "mfm-peam"):
        player = make_player("corridor:Walker", "corridor", make_method(name), memory, skills)
        assert player.name == "always"  # no base was chosen: the player itself
    Shelf(memory.layout).choose_base("smollm2-135m")
    assert isinstance(make_player("corridor:Walker", "corridor", make_method("peam"), memory, skills), TwoTiers)
    assert not isinstance(make_player("corridor:Walker", "corridor", make_method("mfm"), memory, skills), TwoTiers)


def test_torch_is_imported_only_when_an_adapter_is_used(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from scrubjay import Memory\n"
        "from scrubjay.parametric.shelf import Shelf\n"
        "from scrubjay.surfaces.cli import main\n"
        "import scrubjay.parametric.cycle, scrubjay.parametric.serving, scrubjay.parametric.weighing\n"
        "memory = Memory.create(sys.argv[1]); Shelf(memory.layout).choose_base('smollm2-135m'); memory.close()\n"
        "for action in ('stage', 'score', 'list', 'base'):\n"
        "    assert main(['adapters', action, sys.argv[1]]) == 0\n"
        "run = ['run', 'corridor:Corridor', '--model', 'corridor:Walker', '--memory', sys.argv[1], '--steps', '3']\n"
        "assert main([*run, '--method', 'mfm-peam']) == 0\n"
        "assert not {'torch', 'transformers', 'peft'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m"), str(Path(__file__).parent)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
