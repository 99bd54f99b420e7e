"""Rows of a published run, from a folder that holds the index alone, give the published tool's lines to the letter."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scrubjay.surfaces.cli import main

PUBLISHED = Path(__file__).parent / "data" / "mfm_published"
QUERIES: list[dict[str, Any]] = json.loads((PUBLISHED / "queries.json").read_text())


@pytest.fixture
def folder(tmp_path: Path) -> str:
    shutil.copy(PUBLISHED / "index.jsonl", tmp_path)
    return str(tmp_path)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: " ".join(query["flags"]))
def test_lines_are_those_of_the_published_tool(
    query: dict[str, Any], folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["episodes", folder, *query["flags"]]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == query["lines"]
    assert printed.err == ("" if query["lines"] else "(no matching episodes)\n")


def test_a_reader_leaves_the_folder_as_it_was(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["episodes", folder, "--grep", "milk"]) == 0
    assert [path.name for path in Path(folder).rglob("*")] == ["index.jsonl"]


def test_json_gives_the_rows_as_the_index_holds_them(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["episodes", folder, "--json", "--limit", "1000"]) == 0
    assert capsys.readouterr().out == (PUBLISHED / "index.jsonl").read_text()


def test_the_last_none_are_none(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["episodes", folder, "--last", "0"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "(no matching episodes)\n")


@pytest.mark.parametrize(
    "flags",
    [
        ["--last", "few"],
        ["--steps", "3"],
        ["--grep", ""],
        ["--regex", "("],
        ["--since", "noon"],
        ["--then-now", "ep_000003"],
    ],
)
def test_wrong_usage_exits_with_two(flags: list[str], folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["episodes", folder, *flags]) == 2
    assert capsys.readouterr().out == ""


def test_steps_come_in_either_order(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["episodes", folder, "--steps", "700", "600"])
    turned = capsys.readouterr().out
    main(["episodes", folder, "--steps", "600", "700"])
    assert turned == capsys.readouterr().out != ""


def test_more_rows_than_a_page_are_announced(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["episodes", folder, "--limit", "2"])
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert printed.err == "(more rows follow: --after ep_000001)\n"
    main(["episodes", folder, "--limit", "2", "--after", "ep_000001"])
    assert capsys.readouterr().out.startswith("ep_000002 ")
