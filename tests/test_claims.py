"""Claims of a document: what is refused, what is added, revised and superseded, and that nothing is said twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.agent.claims import apply, as_hypothesis, checked, entries, normal, supported, unsupported
from scrubjay.errors import InvalidInput
from scrubjay.memory.citations import citations, claims
from scrubjay.memory.layout import Reference
from scrubjay.models.consolidating import Update

NOTES = "# Notes\n\n- Iron at the north wall [ep_000001].\n- Water hurts (hypothesis)\n"


def exists(reference: Reference) -> bool:
    return reference.episode < "ep_000010" and (reference.step is None or reference.step < 100)


def add(claim: str, *cites: str, document: str = "notes.md") -> Update:
    return Update(document, "add", claim, cites)


def revise(entry: str, claim: str, *cites: str) -> Update:
    return Update("notes.md", "revise", claim, cites, entry)


def supersede(entry: str, claim: str, *cites: str, why: str = "it was seen") -> Update:
    return Update("notes.md", "supersede", claim, cites, entry, why)


def test_a_claim_becomes_an_item_with_its_citations() -> None:
    assert apply(NOTES, add("Coal in the cave", "ep_000003", "ep_000002#7")) == (
        NOTES + "- Coal in the cave [ep_000002#7, ep_000003]\n"
    )


def test_the_same_claim_again_adds_only_its_new_evidence() -> None:
    text = apply(NOTES, add("iron  at the north wall", "ep_000001", "ep_000004"))
    assert text == NOTES.replace("[ep_000001]", "[ep_000001, ep_000004]")
    assert apply(text, add("Iron at the north wall.", "ep_000004")) == text


def test_numbers_make_another_claim() -> None:
    text = apply(NOTES, add("Door at (3, 4)", "ep_000003"))
    assert len(entries(apply(text, add("Door at (3, 5)", "ep_000003")))) == len(entries(text)) + 1


def test_evidence_makes_a_hypothesis_a_claim() -> None:
    assert "- Water hurts [ep_000005]\n" in apply(NOTES, add("Water hurts", "ep_000005"))
    text = "- Hypothesis: water\n  hurts\n"
    assert apply(text, add("Water hurts", "ep_000005")) == "- water\n  hurts [ep_000005]\n"


def test_a_revised_entry_keeps_its_evidence() -> None:
    text = apply(
        NOTES, revise("- Iron at the north wall [ep_000001].", "Iron at the north wall, 3 pieces", "ep_000006")
    )
    assert text == NOTES.replace(
        "Iron at the north wall [ep_000001].", "Iron at the north wall, 3 pieces [ep_000001, ep_000006]"
    )
    assert apply(text, revise("Iron at the north wall", "Iron at the north wall, 3 pieces", "ep_000006")) == text


def test_a_revision_that_says_something_else_must_supersede() -> None:
    with pytest.raises(InvalidInput, match="supersede it"):
        apply(NOTES, revise("Iron at the north wall", "Everything was mined long ago", "ep_000006"))


def test_a_correction_keeps_the_old_entry_and_its_citation() -> None:
    update = checked(
        supersede("Iron at the north wall", "The iron is mined", "ep_000007", why="it (was) mined"), exists
    )
    text = apply(NOTES, update)
    assert text.split("\n")[2:4] == [
        "- Iron at the north wall [ep_000001]. (superseded by [ep_000007]: it was mined)",
        "- The iron is mined [ep_000007]",
    ]
    assert apply(text, update) == text
    for refused in (
        revise("Iron at the north wall", "More iron", "ep_000008"),
        supersede("Iron at the north wall", "Less iron", "ep_000008"),
        add("Iron at the north wall", "ep_000008"),
    ):
        with pytest.raises(InvalidInput, match="superseded"):
            apply(text, refused)


def test_what_lies_below_an_entry_stays_below_it() -> None:
    text = "* Iron [ep_000001]\n  * two pieces [ep_000001]\n* Coal [ep_000002]\n"
    assert apply(text, supersede("iron", "Gold", "ep_000003")).split("\n")[1:3] == [
        "  * two pieces [ep_000001]",
        "* Gold [ep_000003]",
    ]


def test_superseded_by_what_stands_there_is_said_once() -> None:
    text = "- A [ep_000001]\n- B [ep_000002]\n"
    assert apply(text, supersede("A", "B", "ep_000003")) == (
        "- A [ep_000001] (superseded by [ep_000003]: it was seen)\n- B [ep_000002, ep_000003]\n"
    )
    with pytest.raises(InvalidInput, match="stands there already"):
        apply(text, revise("A", "B", "ep_000003"))


def test_windows_line_ends_stay() -> None:
    text = apply("- A [ep_000001]\r\n- B\r\n", add("B", "ep_000002"))
    assert text == "- A [ep_000001]\r\n- B [ep_000002]\r\n"
    assert apply(text, revise("A", "A2", "ep_000002")) == "- A2 [ep_000001, ep_000002]\r\n- B [ep_000002]\r\n"


def test_nothing_is_added_where_nobody_would_read_it() -> None:
    with pytest.raises(InvalidInput, match="code block"):
        apply("```\nopen", add("A", "ep_000001"))


def test_a_claim_of_much_evidence_takes_no_more() -> None:
    text = apply("", add("A", *(f"ep_{n:06d}" for n in range(30))))
    assert [str(one.reference) for one in citations(text)][:2] == ["ep_000000", "ep_000019"]
    assert apply(text, add("A", "ep_000031")) == text


@pytest.mark.parametrize(
    ("update", "told"),
    [
        (add("A"), "cites nothing"),
        (add("A", "ep_000099"), "ep_000099"),
        (add("A", "ep_000001#100"), "ep_000001#100"),
        (add("A", "../x"), "no such"),
        (add(" [ep_000001] "), "says nothing"),
        (add("x" * 601, "ep_000001"), "601 characters"),
        (add("As follows:", "ep_000001"), "plain sentence"),
        (add("# Title", "ep_000001"), "plain sentence"),
        (add("A <!-- B", "ep_000001"), "plain sentence"),
        (add("A (superseded by me)", "ep_000001"), "plain sentence"),
        (Update("notes.md", "revise", "A", ("ep_000001",)), "entry"),
        (supersede("A", "B", "ep_000001", why=" "), "why"),
    ],
)
def test_what_is_refused_says_why(update: Update, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        checked(update, exists)


def test_citations_in_the_claim_count() -> None:
    assert checked(add("- Iron\n  here [ep_000001, ep_000002]."), exists) == add("Iron here.", "ep_000001", "ep_000002")
    assert checked(add("Iron (hypothesis)"), exists).cites == ()


def test_without_evidence_it_is_a_hypothesis() -> None:
    assert as_hypothesis(add("A", "ep_000099"), exists) == add("A (hypothesis)")
    assert as_hypothesis(add("A", "ep_000099", "ep_000001"), exists) == add("A", "ep_000001")
    with pytest.raises(InvalidInput, match="it stands"):
        as_hypothesis(supersede("A", "B", "ep_000099"), exists)
    with pytest.raises(InvalidInput, match="rests on evidence"):
        apply(NOTES, as_hypothesis(revise("Iron at the north wall", "No iron"), exists))


def test_long_runs_of_one_character_are_read_once() -> None:
    spaces, marks = " " * 200_000, "(superseded by [ep_000001] " * 8_000
    text = f"- Coal{spaces}here [ep_000001]\n- Iron {marks}\n- Sand {marks})\n- Wood [ {'ep_000001 ' * 20_000}\n"
    assert [(normal(one.said)[:4], one.is_superseded) for one in entries(text)] == [
        ("coal", False), ("iron", False), ("sand", True), ("wood", False),
    ]  # fmt: skip
    assert supported(text, exists).startswith(f"- Coal{spaces}here [ep_000001]\n- Iron")


def test_a_whole_text_is_marked_where_nothing_supports_it() -> None:
    text = "# Plan\n\nGo east\nfar [ep_000099].\n\n- Iron [ep_000001, ep_000098]\n- [ ] dig\n"
    assert [claim.line for claim in unsupported(text, exists)] == [3, 6]
    marked = supported(text, exists)
    assert marked == "# Plan\n\nGo east\nfar. (hypothesis)\n\n- Iron [ep_000001]\n- [ ] dig\n"
    assert not unsupported(marked, exists)


WORDS = st.text(st.sampled_from("ab 1.-*#|\n([])`:é\r"), max_size=30)
CITES = st.lists(st.sampled_from(["ep_000001", "ep_000002#3", "ep_000099"]), max_size=3).map(tuple)
UPDATES = st.builds(
    Update, st.just("notes.md"), st.sampled_from(["add", "revise", "supersede"]), WORDS, CITES,
    st.sampled_from(["a", "b", "Iron at the north wall", "Water hurts"]), st.sampled_from(["", "why [x] (y)"]),
)  # fmt: skip


@given(st.lists(UPDATES, max_size=8))
def test_any_updates_leave_each_claim_supported_and_a_second_time_changes_nothing(updates: list[Update]) -> None:
    text = NOTES
    for proposed in updates:
        try:
            update = as_hypothesis(proposed, exists)
            once = apply(text, update)
        except InvalidInput:
            continue
        assert apply(once, update) == once
        old = {str(one.reference) for one in citations(text)}
        assert old <= {str(one.reference) for one in citations(once)}
        text = once
    assert not unsupported(text, exists)
    standing = [normal(one.said) for one in entries(text) if not one.is_superseded]
    assert len(standing) == len(set(standing))
    assert len(claims(text)) == len(entries(text))
