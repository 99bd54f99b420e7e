"""The head of a procedure: a strict part of YAML, and edits that change nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.memory.front_matter import FrontMatter, edited, parse, render
from scrubjay.memory.procedure_files import normal_name


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("name", "`key: text` was expected"),
        ("description: &a text", "a meaning of its own"),
        ("description: *a", "a meaning of its own"),
        ("description: !!python/object/apply:os.system ['id']", "a meaning of its own"),
        ("description: {a: b}", "a meaning of its own"),
        ("description: [a]", "a meaning of its own"),
        ("description: >-", "a meaning of its own"),
        ("description: |", "a meaning of its own"),
        ("description: a: b", "a meaning of its own"),
        ('description: "open', "not closed"),
        ('description: "a" b', "more behind the closing quote"),
        ('description: "\\ud800"', "no valid Unicode"),
        ("description: 'open", "not closed"),
        ("description: a\x00b", "invisible"),
        ("description: a\u2028b", "invisible"),
        ("\tdescription: a", "invisible"),
        ("  description: a", "only what stands under metadata"),
        ("name: b", "name is there twice"),
        ("metadata: {}", "on lines below it"),
        ("<<: *base", "was expected"),
        ("__proto__: x", "was expected"),
        ("description: " + "x" * 5000, "characters; at most"),
    ],
)
def test_a_hostile_head_is_an_error_that_names_the_line(line: str, says: str) -> None:
    with pytest.raises(InvalidInput) as error:
        parse(f"---\nname: a\n# a comment\n{line}\n---\n", "mine/x/SKILL.md")
    assert str(error.value).startswith("mine/x/SKILL.md, line 4: ")
    assert says in str(error.value)


def test_a_head_reads_as_yaml_does() -> None:
    text = (
        "---\r\nname: cut-step # the name\ndescription: 'it''s a step'\nlicense:\nempty: # nothing\nmetadata: # ours\n"
        '    version: 1\n    url: http://a.b/#c\n    said: "a\\u00e4: \\"b\\"" # ok\n\ncompatibility: "x"\n'
        "---\n\nText\n"
    )
    head = parse(text, "x")
    assert head.fields == {
        "name": "cut-step", "description": "it's a step", "license": "", "empty": "", "compatibility": "x",
    }  # fmt: skip
    assert head.metadata == {"version": "1", "url": "http://a.b/#c", "said": 'aä: "b"'}
    assert head.body == "Text\n"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
KEY = st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True).filter(lambda key: key != "metadata")


@given(st.dictionaries(KEY, TEXT, max_size=5), st.dictionaries(KEY, TEXT, max_size=5), TEXT)
def test_what_is_written_is_read_back(fields: dict[str, str], metadata: dict[str, str], body: str) -> None:
    head = FrontMatter(fields, metadata, body.lstrip("\n"))
    assert parse(render(head), "x") == head


@given(
    st.dictionaries(KEY, TEXT, max_size=4),
    st.dictionaries(KEY, TEXT, max_size=4),
    st.dictionaries(KEY, TEXT.filter(bool), max_size=2),
    st.dictionaries(KEY, TEXT, max_size=2),
    TEXT,
)
def test_an_edit_of_a_head_changes_those_values_alone(
    fields: dict[str, str], metadata: dict[str, str], new: dict[str, str], changed: dict[str, str], body: str
) -> None:
    text = render(FrontMatter(fields, metadata, body.lstrip("\n")))
    lines = text.split("\n")
    commented = "\n".join([lines[0], "# kept", *lines[1:]])
    found = edited(commented, "x", new, changed)
    gone = {key for key, value in changed.items() if not value}
    assert "# kept" in found
    assert parse(found, "x") == FrontMatter(
        fields | new,
        {key: value for key, value in (metadata | changed).items() if key not in gone},
        body.lstrip("\n"),
    )


@given(st.text(max_size=200) | st.lists(st.sampled_from(["---", "name: a", "metadata:", "  b: c", "x"])).map("\n".join))
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    for given_text in (text, f"---\n{text}\n---\n"):
        try:
            parse(given_text, "x")
        except InvalidInput as problem:
            refused = str(problem)
        else:
            continue
        assert refused.startswith("x, line ")


@given(st.text(max_size=30))
def test_a_name_is_normal_or_refused(name: str) -> None:
    try:
        normal = normal_name(name)
    except InvalidInput:
        return
    assert normal_name(normal) == normal
