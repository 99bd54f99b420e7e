"""Checking what the agent wrote: histories that fit their files, claims that cite evidence that exists."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.memory.checking.findings import Report
from scrubjay.memory.layout import Layout

__all__ = ["check_documents"]


def check_documents(layout: Layout, report: Report, exists: Callable[[str], bool]) -> None:
    """Checks everything under `mine/`."""
