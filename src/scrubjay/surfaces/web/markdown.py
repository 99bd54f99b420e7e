"""The agent's documents as HTML: Markdown without raw HTML, citations as links, claims without evidence marked.

Nothing in it leads off these pages: pictures and outside addresses are shown as text. Documents are data; nothing in
them becomes markup but what Markdown says.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from scrubjay.errors import InvalidInput
from scrubjay.memory.citations import citations
from scrubjay.memory.layout import Reference, parse_reference
from scrubjay.memory.paths import document_path
from scrubjay.surfaces.cli.plain import plain

__all__ = ["cite", "plain_text", "rendered"]

_BRACKET = re.compile(r"\[([^\[\]\n]*+)\]")
_WORD = re.compile(r"[^,;\s]+")
_FRONT = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_BLOCKS = frozenset({"paragraph_open", "list_item_open", "tr_open"})


def episode_address(reference: Reference) -> str:
    """`/episodes/ep_000043?step=2350`."""
    return f"/episodes/{reference.episode}" + ("" if reference.step is None else f"?step={reference.step}")


def _cited_html(text: str) -> str:
    """The inside of a bracket, each reference in it a link with its frame on hover."""

    def link(word: re.Match[str]) -> str:
        reference = parse_reference(word[0])
        frame = f"/thumbnails/{reference.episode}/{'start' if reference.step is None else reference.step}"
        return f'<a class="cite" href="{escape(episode_address(reference))}" data-frame="{frame}">{escape(word[0])}</a>'

    return f'<span class="cites">[{_WORD.sub(link, text)}]</span>'


def cite(text: str) -> Markup:
    """A line of recorded text, its citations as links."""
    parts, at = list[str](), 0
    for bracket in _BRACKET.finditer(text):
        if citations(bracket[0]):
            parts += [str(escape(plain(text[at : bracket.start()]))), _cited_html(bracket[1])]
            at = bracket.end()
    return Markup("".join([*parts, str(escape(plain(text[at:])))]))


def plain_text(text: str) -> Markup:
    """A document that is no Markdown, with line numbers."""
    lines = "".join(
        f'<span class="line" id="line-{number}">{cite(line)}\n</span>'
        for number, line in enumerate(text.split("\n"), 1)
    )
    return Markup(f'<pre class="numbered">{lines}</pre>')


def rendered(text: str, path: str, unsupported: Collection[int] = ()) -> Markup:
    """The document at `path` in HTML. `unsupported` are the lines, from 1, in which a claim without evidence begins."""
    front = _FRONT.match(text)
    head = front[0] if front else ""
    # Blank lines instead of the head, so that every line keeps its number.
    body = "\n" * head.count("\n") + text[len(head) :]
    tokens = _parser().parse(plain(body))
    _place(tokens, {line - 1 for line in unsupported})
    html = _parser().renderer.render(tokens, _parser().options, {"path": path})
    shown = f'<pre class="front">{escape(plain(head.strip()))}</pre>' if head else ""
    return Markup(shown + html)


def _place(tokens: Sequence[Token], lines: Collection[int]) -> None:
    """Gives blocks the number of their line, and marks those in which a claim without evidence begins."""
    seen: set[int] = set()
    for token in tokens:
        aligned = token.attrs.pop("style", None)  # of a table's cell; styles stand in the style sheet alone
        if isinstance(aligned, str):
            token.attrJoin("class", aligned.replace("text-align:", "align-"))
        if token.map is None or token.type not in (*_BLOCKS, "heading_open", "fence", "code_block", "blockquote_open"):
            continue
        first = token.map[0]
        if first not in seen:
            token.attrSet("id", f"line-{first + 1}")
            seen.add(first)
            if first in lines and token.type in _BLOCKS:
                token.attrJoin("class", "unsupported")
                token.attrSet("title", "a claim without evidence")


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False}).enable("table")
    parser.inline.ruler.before("link", "citation", _citation)
    parser.add_render_rule("citation", _render_citation)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("link_open", _render_link_open)
    parser.add_render_rule("link_close", _render_link_close)
    return parser


def _citation(state: StateInline, silent: bool) -> bool:
    found = _BRACKET.match(state.src, state.pos) if state.src[state.pos] == "[" else None
    if found is None or not citations(found[0]):
        return False
    if not silent:
        state.push("citation", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _render_citation(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return _cited_html(tokens[index].content)


def _render_image(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    return f'<span class="elsewhere">[picture: {escape(token.content)} {escape(token.attrGet("src") or "")}]</span>'


def _render_link_open(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    address = str(tokens[index].attrGet("href") or "")
    inside = _inside(address, env.get("path", ""))
    if inside is not None:
        tokens[index].meta["inside"] = True
        return f'<a href="{escape(inside)}">'
    return '<span class="elsewhere">'


def _render_link_close(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    depth, at = 0, index
    while at >= 0:  # the opening that this closes
        depth += {"link_close": 1, "link_open": -1}.get(tokens[at].type, 0)
        if depth == 0:
            break
        at -= 1
    if tokens[at].meta.get("inside"):
        return "</a>"
    address = unquote(str(tokens[at].attrGet("href") or ""))
    return f' <span class="address">({escape(plain(address))})</span></span>'


def _inside(address: str, path: str) -> str | None:
    """Where a link leads inside the memory: another document, or an episode; None for anything else."""
    address = address.partition("#")[0]
    if not address or ":" in address or address.startswith(("/", "\\")):
        return None
    try:
        target = document_path(posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(address))))
    except InvalidInput:
        return None
    return f"/documents/{quote(target)}"
