"""`scrubjay experiment`: runs of method x model x task x seed, and their report."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.experiments.running import Done

SUMMARY = "Carries out an experiment (method x model x task x seed), and reports what it showed."

EXAMPLES = """\
examples:
  scrubjay experiment run crafter.toml                  every trial of the file, into runs/<its name>
  scrubjay experiment run crafter.toml --jobs 4         four at once
  scrubjay experiment report runs/crafter               report.md, runs.csv, milestones.csv, figures
  scrubjay experiment score runs/crafter                score again what the memories hold, with the scores of today

Ctrl-C stops after the present step. The same command goes on: finished trials are not done again, one that was cut
off is put aside and done from its beginning.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    run_parser = actions.add_parser("run", help="carry out the trials of a TOML file")
    run_parser.add_argument("file", metavar="FILE.toml")
    run_parser.add_argument(
        "--folder", metavar="DIR", help="where the runs go (default: runs/<name of the experiment>)"
    )
    run_parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="so many trials at once (default 1)")
    report_parser = actions.add_parser("report", help="write Markdown, CSV and figures of what is finished")
    report_parser.add_argument("folder", metavar="DIR")
    report_parser.add_argument("--experiment", metavar="FILE.toml", help="show its published figures as well")

    score_parser = actions.add_parser("score", help="score finished trials again, from their memories")
    score_parser.add_argument("folder", metavar="DIR")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"a count above 0 was expected, found {text}")
    return value


def run(arguments: argparse.Namespace) -> int:
    """0 when all is done, 1 when a trial failed, 130 when Ctrl-C stopped it."""
    return {"run": _run, "report": _report, "score": _score}[arguments.action](arguments)


def _score(arguments: argparse.Namespace) -> int:
    from scrubjay.experiments.rescoring import score_again

    def tell(name: str, changed: list[str]) -> None:
        print(f"{name}: {', '.join(changed) if changed else 'the same'}")

    count = score_again(arguments.folder, tell)
    print(f"{count} result{'' if count == 1 else 's'} changed")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    import os

    from scrubjay.experiments.plan import read_experiment
    from scrubjay.experiments.running import Running

    experiment = read_experiment(arguments.file)
    folder = arguments.folder or os.path.join("runs", experiment.name)
    tell = _Told(len(list(experiment.trials())))
    try:
        is_all = Running(experiment, folder, arguments.jobs, tell).run()
    except KeyboardInterrupt:
        is_all = False
        tell.is_stopped = True
    if tell.is_stopped:
        print("Stopped: what is finished is kept, and the same command goes on.")
        return 130
    following = f"Next:\n  scrubjay experiment report {shlex.quote(folder)}" if tell.count else "Nothing to report yet."
    print(f"{tell.count} of {tell.total} trials are finished. {following}")
    return 0 if is_all else 1


class _Told:
    """A line for each trial."""

    def __init__(self, total: int) -> None:
        self.total, self.count, self.is_stopped = total, 0, False

    def __call__(self, done: Done) -> None:
        name = done.trial.name
        if done.error is not None:
            print(f"failed: {name}: {done.error}", file=sys.stderr, flush=True)
        elif done.result is None:
            self.is_stopped = True
        else:
            self.count += 1
            reached, known = len(done.result["reached"]), len(done.result["known_milestones"])
            deaths = len(done.result["deaths"])
            when = "done before" if done.is_old else f"{done.result['seconds']:.0f} s"
            told = f"{reached}/{known} milestones, {deaths} death{'' if deaths == 1 else 's'}, {when}"
            print(f"[{self.count}/{self.total}] {name}: {told}", flush=True)


def _report(arguments: argparse.Namespace) -> int:
    import os

    from scrubjay.experiments.figures import draw_figures
    from scrubjay.experiments.plan import read_experiment
    from scrubjay.experiments.report import report
    from scrubjay.experiments.results import read_results
    from scrubjay.experiments.tables import milestones_csv, runs_csv

    published = read_experiment(arguments.experiment).published if arguments.experiment else ()
    results = read_results(arguments.folder)
    name = os.path.basename(os.path.abspath(arguments.folder))
    figures = draw_figures(results, arguments.folder)
    text = report(results, name, published) + "".join(f"\n![{figure}]({figure})\n" for figure in figures)
    for file, content in (
        ("report.md", text),
        ("runs.csv", runs_csv(results)),
        ("milestones.csv", milestones_csv(results)),
    ):
        with open(os.path.join(arguments.folder, file), "w", encoding="utf-8") as out:
            out.write(content)
    print(text)
    return 0
