"""Procedures and reflexes as the folders of `mine/` hold them: Agent Skills with a SKILL.md and a script.

It reads what is there and says what is wrong with it; it changes nothing and runs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.document_changes import digest_of
from scrubjay.memory.documents import Documents
from scrubjay.memory.front_matter import FrontMatter, parse
from scrubjay.memory.layout import Layout

__all__ = ["KINDS", "STATUSES", "Flaw", "Found", "Kind", "Procedure", "find", "folder_of", "function_of", "normal_name"]

Kind = Literal["procedure", "reflex"]
KINDS: tuple[Kind, ...] = ("procedure", "reflex")
STATUSES = ("candidate", "active", "disabled")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MAX_NAME = 64
_MAX_SIGNATURE = 400
_MAX_BYTES = 256 << 10


def normal_name(name: str) -> str:
    """`cut-step` for `cut step`, `cut_step`, `Cut-Step`. Raises InvalidInput for what gives no name.

    Agent Skills are named with letters a to z, digits and hyphens.
    """
    normal = re.sub(r"[\s_-]+", "-", unicodedata.normalize("NFKC", name).casefold().strip())
    if not _NAME.fullmatch(normal) or len(normal) > _MAX_NAME:
        raise InvalidInput(f"{name!r:.80}: a name like cut-step was expected: a letter, then letters, digits, hyphens")
    return normal


def folder_of(kind: Kind, name: str) -> str:
    """Path inside `mine/` of a procedure's folder: `procedures/cut-step`."""
    return f"{Layout.PROCEDURES if kind == 'procedure' else Layout.REFLEXES}/{name}"


@dataclass(frozen=True, slots=True)
class Procedure:
    """A method that the agent wrote. `source` is None where it is text alone, to be followed and not run.

    `function` is the name that a run calls, `digest` the sha256 of the script, or of the text where there is none.
    `cites` and `reason` are texts that hold citations.
    """

    name: str
    kind: Kind
    folder: str
    description: str
    status: str
    digest: str
    reason: str = ""
    cites: str = ""
    version: str = "1"
    category: str | None = None
    text: str = ""
    script: str | None = None
    source: str | None = None
    function: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """`cut_step(heading: float, n: int = 2)`, as the script has it; the name alone where there is none."""
        if self.source is None or self.function is None:
            return self.name
        match = _definition(self.function).search(self.source)
        if match is None or len(match[1]) > _MAX_SIGNATURE:
            return f"{self.function}(…)"
        return f"{self.function}({' '.join(match[1].split())})"


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a folder of procedures; `path` is inside `mine/`."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"mine/{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Found:
    """The procedures that can be used, and what is wrong with the others."""

    procedures: tuple[Procedure, ...]
    flaws: tuple[Flaw, ...]


def find(documents: Documents, kind: Kind) -> Found:
    """Everything in the folder of this kind, in the order of names.

    Of two folders with one name the one that is spelled as names are is used.
    """
    procedures: dict[str, Procedure] = {}
    listing = documents.listing(folder_of(kind, "")[:-1], depth=1)
    flaws = [Flaw(path, reason) for path, reason in listing.left_out.items()]
    for folder in sorted(listing.folders, key=lambda one: (not _is_normal(one), one)):
        try:
            found = _read(documents, kind, folder)
        except (InvalidInput, NotFound, Damaged) as error:
            flaws.append(Flaw(folder, str(error)))
            continue
        other = procedures.get(found.name)
        if other is not None:
            flaws.append(Flaw(folder, f"is called {found.name}, as mine/{other.folder} is: merge them, or rename one"))
        else:
            procedures[found.name] = found
    return Found(tuple(procedures[name] for name in sorted(procedures)), tuple(flaws))


def _is_normal(folder: str) -> bool:
    return _NAME.fullmatch(folder.rpartition("/")[2]) is not None


def _read(documents: Documents, kind: Kind, folder: str) -> Procedure:
    base = folder.rpartition("/")[2]
    name = normal_name(base)
    skill = f"{folder}/{Layout.SKILL}"
    head = parse(_text(documents, skill), f"mine/{skill}")
    metadata = dict(head.metadata)
    script = _script(documents, folder, name)
    source = None if script is None else _text(documents, script)
    function = None if source is None else function_of(source, name, f"mine/{script}")
    if source is None and (kind == "reflex" or "script" in metadata):
        raise InvalidInput(f"its script is missing: write mine/{folder}/{Layout.SCRIPTS}/{base}.py")
    return Procedure(
        name=name,
        kind=kind,
        folder=folder,
        description=_described(head, base, f"mine/{skill}"),
        status=_status(metadata, f"mine/{skill}"),
        digest=digest_of((head.body if source is None else source).encode()),
        reason=metadata.pop("reason", ""),
        cites=metadata.pop("cites", ""),
        version=metadata.pop("version", "1"),
        category=metadata.pop("category", None),
        text=head.body,
        script=script,
        source=source,
        function=function,
        metadata=metadata,
    )


def _text(documents: Documents, path: str) -> str:
    status = documents.status(path)
    if status is not None and status.st_size > _MAX_BYTES:
        raise InvalidInput(f"mine/{path}: {status.st_size} bytes; at most {_MAX_BYTES} are read")
    return documents.read(path)


def _described(head: FrontMatter, base: str, shown: str) -> str:
    given = head.fields.get("name", "")
    if not given or normal_name(given) != normal_name(base):
        raise InvalidInput(f"{shown}: name: {base} was expected, found {given!r:.80}")
    description = head.fields.get("description", "").strip()
    if not description:
        raise InvalidInput(f"{shown}: description: one line on what it does, and when, is missing")
    return description


def _status(metadata: dict[str, str], shown: str) -> str:
    status = metadata.pop("status", STATUSES[0])
    if status not in STATUSES:
        raise InvalidInput(f"{shown}: status: one of {', '.join(STATUSES)} was expected, found {status!r:.80}")
    return status


def _script(documents: Documents, folder: str, name: str) -> str | None:
    """The script by the procedure's name, however it is spelled; the only one there is, else."""
    scripts = [
        path for path in documents.listing(f"{folder}/{Layout.SCRIPTS}", depth=1).documents if path.endswith(".py")
    ]
    named = [path for path in scripts if _is_named(path, name)]
    if len(scripts) > 1 and len(named) != 1:
        raise InvalidInput(f"it has {len(scripts)} scripts: one, called {Layout.SCRIPTS}/{name}.py, was expected")
    return next(iter(named or scripts), None)


def _is_named(path: str, name: str) -> bool:
    try:
        return normal_name(path.rpartition("/")[2].removesuffix(".py")) == name
    except InvalidInput:
        return False


def function_of(source: str, name: str, shown: str) -> str:
    """The function of a script that a run calls. Raises InvalidInput where it has none."""
    for function in _functions(name):
        if _definition(function).search(source):
            return function
    raise InvalidInput(f"{shown}: a function {' or '.join(_functions(name))} was expected, and there is none")


def _functions(name: str) -> Iterator[str]:
    yield name.replace("-", "_")
    yield "main"


def _definition(function: str) -> re.Pattern[str]:
    return re.compile(rf"^def {function}\(((?:[^()]|\([^()]*\))*)\)", re.MULTILINE)
