"""Verifying every rule that the files of a memory can show, and repairing what can be without touching evidence."""

from scrubjay.memory.checking.check import check
from scrubjay.memory.checking.findings import Problem, Report
from scrubjay.memory.checking.repair import repair

__all__ = ["Problem", "Report", "check", "repair"]
