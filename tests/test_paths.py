"""Every path that an agent gives is inside `mine/`, or refused."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.memory.paths import document_path, given_path, locate, locate_new

ATTACKS = [
    "", "/", "..", ".", "../x", "a/../x", "a/..", "/etc/passwd", "//etc", "a//b", "a/", ".hidden", "a/.git/config",
    "a\x00b", "a\nb", "a\x7f", "a\\b", "..\\x", "C:\\x", "C:x", "%2e%2e/x", "a%2fb", "%252e%252e", "a%00", "%5c",
    "．．/x", "a／b", "․․/x", "‥/x", "a\u202etxt.md", "\ufeffa", "a\u2028b", "con", "NUL.md", "a/COM1", "lpt9.txt",
    "CONIN$", "com¹", "nul .md", "a<b", "a>b", "a|b", "a?b", "a*b", 'a"b', "a:b", "a.", "a ", " a", "a /b", "a./b",
    "x" * 201, "é" * 101, "/".join(["x" * 150] * 6), "\udc80",
]  # fmt: skip


@pytest.mark.parametrize("path", ATTACKS)
def test_attacks_are_refused(path: str) -> None:
    with pytest.raises(InvalidInput):
        document_path(path)


@pytest.mark.parametrize("path", [p for p in ATTACKS if p not in ("", "a/")])
@pytest.mark.parametrize("prefix", ["/memories/", "mine/", ""])
def test_attacks_behind_a_prefix_are_refused(prefix: str, path: str) -> None:
    if prefix and path in ("/",):
        assert given_path(prefix + path) == ""
        return
    if prefix and path.startswith("/"):
        # Further slashes after the prefix are no way out: what follows is inside.
        assert given_path(prefix + path) == path.lstrip("/")
        return
    with pytest.raises(InvalidInput):
        given_path(prefix + path)


@pytest.mark.parametrize(
    "path",
    ["notes.md", "working/0001.md", "procedures/cut-step/SKILL.md", "设备清单.md", "a b.md", "x=-3037.md", "console.md",
     "100%.md", "a..b", "👩‍🚀.md", "نامه‌ها.md", "x" * 200],
)  # fmt: skip
def test_ordinary_names_stay_as_they_are(path: str) -> None:
    assert document_path(path) == path


def test_both_normal_forms_are_one_document() -> None:
    assert document_path("cafe\u0301.md") == document_path("caf\u00e9.md") == "caf\u00e9.md"


@pytest.mark.parametrize(
    ("written", "path"),
    [("/memories/a.md", "a.md"), ("mine/a.md", "a.md"), ("a.md", "a.md"), ("/memories", ""), ("/memories/", ""),
     ("mine", ""), ("mine/", ""), ("./mine/a.md", "a.md"), ("/memories/b/", "b"), ("/memoriesx", None),
     ("/mine/a", None), ("memories/a.md", "memories/a.md")],
)  # fmt: skip
def test_prefixes(written: str, path: str | None) -> None:
    if path is None:
        with pytest.raises(InvalidInput):
            given_path(written)
    else:
        assert given_path(written) == path


PIECES = [
    "..", ".", "/", "\\", "a", "\x00", "%2e", "．", "e\u0301", "mine", "/memories", " ", "~", "nul", "\u202e",
]  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@given(st.one_of(st.text(max_size=40), hostile))
@example("mine/../../x")
def test_whatever_is_accepted_lies_inside(path: str) -> None:
    for read in (document_path, given_path):
        try:
            accepted = read(path)
        except InvalidInput:
            continue
        assert unicodedata.normalize("NFC", accepted) == accepted
        if accepted:
            assert read(accepted) == accepted or accepted.startswith("mine/")
            for folded in (accepted, unicodedata.normalize("NFKC", accepted)):
                whole = os.path.normpath(os.path.join("/memory/mine", folded))
                assert whole == os.path.join("/memory/mine", folded)
                assert not any(part.startswith(".") for part in folded.split("/"))


def test_a_link_anywhere_on_the_way_is_refused(tmp_path: Path) -> None:
    mine, outside = tmp_path / "mine", tmp_path / "outside"
    (mine / "real").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (mine / "folder").symlink_to(outside)
    (mine / "file.md").symlink_to(outside / "secret.md")
    (mine / "dangling.md").symlink_to(tmp_path / "nowhere")
    (mine / "real" / "up").symlink_to("..")
    (tmp_path / "linked").symlink_to(mine)
    for path in ("folder/secret.md", "file.md", "dangling.md", "real/up/real", "folder/new.md"):
        with pytest.raises(InvalidInput, match="symbolic link"):
            locate(str(mine), path)
    with pytest.raises(InvalidInput, match="symbolic link"):
        locate(str(tmp_path / "linked"), "real/a.md")
    assert locate(str(mine), "real/a.md") == str(mine / "real" / "a.md")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    for path in ("a.md/b.md", "a.md/b/c.md"):
        with pytest.raises(InvalidInput, match=r"mine/a\.md is a file"):
            locate_new(str(tmp_path), path)
    assert locate_new(str(tmp_path), "a.md") == locate(str(tmp_path), "a.md") == str(tmp_path / "a.md")
    assert locate_new(str(tmp_path), "f/b.md") == str(tmp_path / "f" / "b.md")
