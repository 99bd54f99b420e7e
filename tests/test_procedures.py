"""Procedural memory: procedures as Agent Skills, their names, what is wrong with them, and how their calls went."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scrubjay.errors import Conflict, InvalidInput, NotFound, ReadOnly
from scrubjay.memory.citations import back_links, unsupported
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout
from scrubjay.memory.procedure_runs import Run
from scrubjay.memory.procedures import Procedures
from skills import CODE, write

# --- a procedure on disk


def test_a_procedure_is_an_agent_skill_with_a_history(
    layout: Layout, documents: Documents, procedures: Procedures
) -> None:
    made = procedures.create(
        "cut_step", "Cut a descending step.", code=CODE, text="# Cut step\n", cites=["ep_000043#44"]
    )
    assert documents.list() == ["procedures/cut-step/SKILL.md", "procedures/cut-step/scripts/cut-step.py"]
    assert documents.read("procedures/cut-step/SKILL.md") == (
        '---\nname: cut-step\ndescription: Cut a descending step.\nmetadata:\n  status: "candidate"\n  version: "1"\n'
        '  cites: "[ep_000043#44]"\n  script: "scripts/cut-step.py"\n---\n\n# Cut step\n'
    )
    assert (made.name, made.status, made.function, made.source) == ("cut-step", "candidate", "cut_step", CODE)
    assert made.signature == "cut_step(heading: float, n: int = 2)"
    assert made.digest == documents.digest("procedures/cut-step/scripts/cut-step.py")
    assert back_links(documents)["ep_000043"] == [("procedures/cut-step/SKILL.md", 7)]
    assert [change.operation for change in documents.history()] == ["create", "write"]


def test_a_text_can_be_a_procedure_and_a_reflex_is_code(procedures: Procedures) -> None:
    made = procedures.create("cross-water", "How to cross water.", text="Place dirt ahead, step on it.\n")
    assert (made.source, made.function, made.signature) == (None, None, "cross-water")
    with pytest.raises(InvalidInput, match="needs code"):
        procedures.create("flee", "Flee when hurt.", kind="reflex")
    reflex = procedures.create("flee", "Flee when hurt.", code="def main(seen):\n    return None\n", kind="reflex")
    assert (reflex.folder, reflex.function) == ("reflexes/flee", "main")
    assert [one.name for one in procedures.list()] == ["cross-water"]
    assert [one.name for one in procedures.list("reflex")] == ["flee"]


def test_an_update_counts_the_version_and_loses_to_another(procedures: Procedures, documents: Documents) -> None:
    made = procedures.create("cut-step", "Cut.", code=CODE, category="dig")
    changed = procedures.update("Cut Step", code=CODE.replace("2", "3"), cites=["ep_000051"], expected=made.digest)
    assert (changed.version, changed.cites, changed.category) == ("2", "[ep_000051]", "dig")
    assert changed.digest != made.digest
    with pytest.raises(Conflict):
        procedures.update("cut-step", code=CODE, expected=made.digest)
    with pytest.raises(InvalidInput, match="function cut_step or main"):
        procedures.update("cut-step", code="def other():\n    pass\n")
    documents.undo(2)
    assert procedures.get("cut-step").digest == made.digest


def test_disabling_needs_a_citation_that_is_there(procedures: Procedures) -> None:
    procedures.create("cut-step", "Cut.", code=CODE)
    for reason in ("it fails", "it fails ep_000043", "it fails [ep_000099]", "it fails [ep_000043#999]"):
        with pytest.raises(InvalidInput):
            procedures.disable("cut-step", reason)
    disabled = procedures.disable("cut-step", "digs into\nlava [ep_000043, ep_000051#51]")
    assert (disabled.status, disabled.reason) == ("disabled", "digs into lava [ep_000043, ep_000051#51]")
    assert procedures.offer() == ()
    enabled = procedures.enable("cut_step")
    assert (enabled.status, enabled.reason) == ("active", "")
    assert procedures.offer() == ("cut_step(heading: float, n: int = 2): Cut. (never called)",)


def test_what_is_cited_must_be_there(procedures: Procedures) -> None:
    with pytest.raises(InvalidInput, match="ep_000099"):
        procedures.create("a", "A.", cites=["ep_000099"])
    assert procedures.list() == []


def test_instructions_are_no_claims_but_their_citations_count(procedures: Procedures, documents: Documents) -> None:
    procedures.create("cut-step", "Cut.", code=CODE, text="- Face the wall.\n- Hold for twenty steps. [ep_000099]\n")
    documents.create("notes.md", "- Iron is in the north.\n")
    found = unsupported(documents, lambda reference: reference.episode == "ep_000043")
    assert [(problem.path, str(problem.reference)) for problem in found] == [
        ("notes.md", "None"),
        ("procedures/cut-step/SKILL.md", "ep_000099"),
    ]


# --- names


@pytest.mark.parametrize("name", ["cut step", "cut_step", "Cut-Step", "CUT  STEP", " cut__step ", "ｃｕｔ step"])
def test_a_name_is_the_same_however_spelled(procedures: Procedures, documents: Documents, name: str) -> None:
    procedures.create("cut-step", "Cut.", code=CODE)
    assert procedures.get(name).name == "cut-step"
    with pytest.raises(Conflict, match="cut-step exists already, as mine/procedures/cut-step"):
        procedures.create(name, "Cut.", code=CODE)
    assert len(documents.list()) == 2


@pytest.mark.parametrize(
    "name", ["", "../x", "a/b", ".hidden", "1st", "öffnen", "a" * 65, "a\0b", "-", "con%2e", "a.b"]
)
def test_what_is_no_name_is_refused(procedures: Procedures, name: str) -> None:
    with pytest.raises(InvalidInput):
        procedures.create(name, "Cut.")
    with pytest.raises(InvalidInput):
        procedures.get(name)


def test_two_folders_of_one_name_are_reported(layout: Layout, procedures: Procedures) -> None:
    head = "---\nname: {}\ndescription: Cut.\n---\n"
    write(layout, "procedures/cut-step/SKILL.md", head.format("cut-step"))
    write(layout, "procedures/cut_step/SKILL.md", head.format("cut_step"))
    assert [one.folder for one in procedures.list()] == ["procedures/cut-step"]
    (flaw,) = procedures.flaws()
    assert str(flaw) == (
        "mine/procedures/cut_step: is called cut-step, as mine/procedures/cut-step is: merge them, or rename one"
    )
    with pytest.raises(Conflict):
        procedures.create("Cut-Step", "Cut.")


def test_of_two_that_create_one_name_at_once_one_is_told(layout: Layout) -> None:
    def create(name: str) -> str:
        try:
            return Procedures(layout, Documents(layout)).create(name, f"By {name}.", code=CODE).description
        except Conflict:
            return "told"

    with ThreadPoolExecutor(4) as pool:
        said = sorted(pool.map(create, ["cut-step", "cut_step", "Cut Step", "CUT-STEP"]))
    assert said.count("told") == 3
    assert Procedures(layout, Documents(layout)).list()[0].description in said


# --- what is wrong with one


@pytest.mark.parametrize(
    ("skill", "scripts", "says"),
    [
        (None, {}, "there is no document procedures/dig/SKILL.md"),
        ("# Dig\n", {}, "SKILL.md, line 1: a file like this begins with a line ---"),
        ("---\nname: dig\n", {}, "line 3: the head has no closing line"),
        ("---\nname: dig\n---\n", {}, "description: one line on what it does"),
        ("---\nname: delve\ndescription: D.\n---\n", {}, "name: dig was expected, found 'delve'"),
        ("---\nname: dig\ndescription: D.\nmetadata:\n  status: broken\n---\n", {}, "status: one of candidate, active"),
        ("---\nname: dig\ndescription: D.\nmetadata:\n  script: s\n---\n", {}, "its script is missing: write mine/"),
        ("---\nname: dig\ndescription: D.\n---\n", {"dig.py": "x = 1\n"}, "a function dig or main was expected"),
        ("---\nname: dig\ndescription: D.\n---\n", {"a.py": CODE, "b.py": CODE}, "it has 2 scripts"),
    ],
)
def test_a_flaw_names_the_file_and_costs_that_one_alone(
    layout: Layout, procedures: Procedures, skill: str | None, scripts: dict[str, str], says: str
) -> None:
    procedures.create("cut-step", "Cut.", code=CODE)
    Path(layout.mine, "procedures/dig").mkdir()
    if skill is not None:
        write(layout, "procedures/dig/SKILL.md", skill)
    for name, source in scripts.items():
        write(layout, f"procedures/dig/scripts/{name}", source)
    assert [one.name for one in procedures.list()] == ["cut-step"]
    (flaw,) = procedures.flaws()
    assert says in str(flaw)
    assert str(flaw).startswith("mine/procedures/dig")
    with pytest.raises(InvalidInput) as error:
        procedures.get("dig")
    assert says in str(error.value)
    with pytest.raises(NotFound, match="there are: cut-step"):
        procedures.get("swim")


def test_a_kill_between_head_and_script_can_be_mended(layout: Layout, procedures: Procedures) -> None:
    procedures.create("cut-step", "Cut.", code=CODE)
    Path(layout.mine, "procedures/cut-step/scripts/cut-step.py").unlink()
    assert "its script is missing" in str(procedures.flaws()[0])
    write(layout, "procedures/cut-step/scripts/cut-step.py", CODE)
    assert procedures.flaws() == ()


def test_links_and_huge_files_are_flaws(layout: Layout, procedures: Procedures, tmp_path: Path) -> None:
    procedures.create("cut-step", "Cut.", code=CODE)
    (tmp_path / "SKILL.md").write_text("---\nname: secret\ndescription: S.\n---\n")
    Path(layout.mine, "procedures/secret").symlink_to(tmp_path)
    Path(layout.mine, "procedures/link").mkdir()
    Path(layout.mine, "procedures/link/SKILL.md").symlink_to(tmp_path / "SKILL.md")
    write(layout, "procedures/huge/SKILL.md", "---\nname: huge\ndescription: H.\n---\n" + "x" * 300_000)
    assert [one.name for one in procedures.list()] == ["cut-step"]
    flaws = {flaw.path: flaw.message for flaw in procedures.flaws()}
    assert set(flaws) == {"procedures/secret", "procedures/link", "procedures/huge"}
    assert "symbolic link" in flaws["procedures/secret"]
    assert "300035 bytes" in flaws["procedures/huge"]


def test_a_memory_open_read_only_keeps_no_calls(layout: Layout) -> None:
    with pytest.raises(ReadOnly):
        Procedures(layout, Documents(layout, read_only=True), read_only=True).record(Run("a", "success"))


def test_what_a_person_wrote_in_a_head_stays(layout: Layout, procedures: Procedures, documents: Documents) -> None:
    write(
        layout,
        "procedures/dig/SKILL.md",
        "---\nname: dig\n# by hand\nlicense: 'MIT'\ndescription: D.\nmetadata:\n    mine: 'x' # so\n---\n\n\nText.\n",
    )
    procedures.disable("dig", "no [ep_000043]")
    procedures.enable("dig")
    procedures.update("dig", description="Digs: down.")
    assert documents.read("procedures/dig/SKILL.md") == (
        "---\nname: dig\n# by hand\nlicense: 'MIT'\ndescription: \"Digs: down.\"\nmetadata:\n    mine: 'x' # so\n"
        '    status: "active"\n    version: "2"\n---\n\n\nText.\n'
    )
    procedures.update("dig", text="Other.\n")
    assert procedures.get("dig").text == "Other.\n"
    assert documents.read("procedures/dig/SKILL.md").endswith('version: "3"\n---\n\nOther.\n')
